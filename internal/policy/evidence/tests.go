package evidence

import (
	"path"
	"slices"
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

// testData reports whether tests read or compare with a file, by its folders.
func testData(name string) bool {
	return in(name, "testdata", "fixtures", "__fixtures__", "__snapshots__")
}

func in(name string, folders ...string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(name), "/"), func(dir string) bool { return slices.Contains(folders, dir) })
}

// isTest reports whether a file contains tests, by its name and folders.
func isTest(name string) bool {
	if testData(name) || in(name, "test", "tests", "__tests__", "spec") {
		return true
	}
	base := strings.ToLower(path.Base(name))
	stem, ext, _ := strings.Cut(base, ".")
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(stem, "test_") || stem == "conftest" ||
		strings.HasPrefix(ext, "test.") || strings.HasPrefix(ext, "spec.") || strings.HasSuffix(stem, "_spec")
}
