package cli

import (
	"os"
	"path/filepath"
	"regexp"
)

// kind is a kind of project: the files that show it, as patterns, and the
// program that its checks need.
type kind struct {
	program string
	files   []string
	has     *regexp.Regexp // what the file must hold, nil for nothing
}

var kinds = []kind{
	{program: "go", files: []string{"go.mod", "go.work"}},
	{program: "cargo", files: []string{"Cargo.toml"}},
	{program: "node", files: []string{"package.json"}},
	{program: "python3", files: []string{
		"pyproject.toml", "pytest.ini", "tox.ini", "setup.py", "setup.cfg", "conftest.py",
		"test_*.py", "*_test.py", "tests/test_*.py", "tests/*_test.py", "test/test_*.py", "tests.py",
	}},
	{program: "make", files: []string{"GNUmakefile", "makefile", "Makefile"}, has: regexp.MustCompile(`(?m)^(test|check)\s*::?([^=]|$)`)},
}

// toolchains names the programs that check the project in the current folder:
// its tests are the evidence of a change.
func (a *App) toolchains() []finding {
	var out []finding
	for _, k := range kinds {
		if file := k.shownBy(a.Dir); file != "" {
			f := a.program(k.program, "this project ("+file+") can not be checked without it", false)
			if f.ok {
				f.is += ", for the checks of this project (" + file + ")"
			}
			out = append(out, f)
		}
	}
	if out == nil {
		return []finding{{ok: true, what: "project", is: "of no kind that pawl knows checks for"}}
	}
	return out
}

// shownBy is the file in a folder that shows the kind, "" where none does.
func (k kind) shownBy(dir string) string {
	for _, pattern := range k.files {
		matches, err := filepath.Glob(filepath.Join(escaped(dir), pattern))
		if err != nil || len(matches) == 0 {
			continue
		}
		if k.has != nil && !holds(matches[0], k.has) {
			continue
		}
		if rel, err := filepath.Rel(dir, matches[0]); err == nil {
			return rel
		}
	}
	return ""
}

// escaped is a path as a pattern that means nothing else.
func escaped(dir string) string {
	return regexp.MustCompile(`[\\*?\[]`).ReplaceAllString(dir, `\$0`)
}

// holds reports whether a regular file of a usual size holds something.
func holds(path string, what *regexp.Regexp) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && what.Match(text)
}
