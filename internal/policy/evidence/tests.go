package evidence

import (
	"path"
	"strings"
)

// ChangedTests returns the test files that existed before the turn and that it
// changed or removed: a check that passes with them proves less than one with
// unchanged tests.
func (r Report) ChangedTests() []string {
	var out []string
	for _, f := range r.Changed() {
		if f.Before != "" && isTest(f.Path) {
			out = append(out, f.Path)
		}
	}
	return out
}

// isTest reports whether a file contains tests, by its name and folders.
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
