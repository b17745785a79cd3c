package checks

import (
	"os"
	"path/filepath"
	"regexp"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Toolchain is a program that the checks of a project need, and the file that shows this.
type Toolchain struct {
	Program, File string
}

// shown describes a kind of project: the files that show it, as patterns, and the program
// that its checks need.
type shown struct {
	program string
	files   []string
	has     func() *regexp.Regexp // what the file must contain, nil: anything
}

var toolchains = []shown{
	{program: "go", files: []string{"go.mod", "go.work"}},
	{program: "cargo", files: []string{"Cargo.toml"}},
	{program: "node", files: []string{"package.json"}},
	{program: "python3", files: []string{
		"pyproject.toml", "pytest.ini", "tox.ini", "setup.py", "setup.cfg", "conftest.py",
		"test_*.py", "*_test.py", "tests/test_*.py", "tests/*_test.py", "test/test_*.py", "tests.py",
	}},
	{program: "make", files: trust.BuildFiles("make"), has: lazyregexp.New(`(?m)^(test|check)\s*::?([^=]|$)`)},
}

// Toolchains returns the programs that the checks of the project in a folder need.
func Toolchains(dir string) []Toolchain {
	var out []Toolchain
	for _, k := range toolchains {
		if file := k.by(dir); file != "" {
			out = append(out, Toolchain{k.program, file})
		}
	}
	return out
}

// by returns the file in a folder that shows the kind, "" if there is none.
func (k shown) by(dir string) string {
	for _, pattern := range k.files {
		matches, err := filepath.Glob(filepath.Join(escaped(dir), pattern))
		if err != nil || len(matches) == 0 {
			continue
		}
		if k.has != nil && !holds(matches[0], k.has()) {
			continue
		}
		if rel, err := filepath.Rel(dir, matches[0]); err == nil {
			return rel
		}
	}
	return ""
}

// escaped returns a pattern that matches only this path.
func escaped(dir string) string {
	return regexp.MustCompile(`[\\*?\[]`).ReplaceAllString(dir, `\$0`)
}

// holds reports whether a regular file of at most 1 MB matches a pattern.
func holds(path string, what *regexp.Regexp) bool {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 1<<20 {
		return false
	}
	text, err := plainfile.Read(path, 1<<20)
	return err == nil && what.Match(text)
}
