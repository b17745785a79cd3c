package evidence

import (
	"path"
	"strings"
)

// ChangedTests are the files of tests that were there before the turn and that
// it changed or removed: a check that passes by them proves less than one whose
// tests are as they were.
func (r Report) ChangedTests() []string {
	var out []string
	for _, f := range r.Changed() {
		if f.Before != "" && isTest(f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

// isTest reports whether a file holds tests, by its name and its folders'.
func isTest(name string) bool {
	for _, dir := range strings.Split(path.Dir(name), "/") {
		switch dir {
		case "test", "tests", "__tests__", "spec", "testdata", "__snapshots__":
			return true
		}
	}
	base := strings.ToLower(path.Base(name))
	stem, ext, _ := strings.Cut(base, ".")
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") || stem == "conftest" ||
		strings.HasPrefix(ext, "test.") || strings.HasPrefix(ext, "spec.") || strings.HasSuffix(stem, "_spec")
}
