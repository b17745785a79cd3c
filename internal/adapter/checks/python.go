package checks

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// maxTestFiles is how many files the search for tests and crates visits.
const maxTestFiles = 5000

// maxConftestFiles is how many files the search for conftest.py visits.
const maxConftestFiles = 50_000

// isPython reports whether a folder is the root of a Python project with tests.
func (t *tree) isPython(dir string) bool {
	return once(&t.python, dir, func() bool {
		if base := path.Base(dir); base == "tests" || base == "test" {
			return t.pythonRoot(dir) && t.pytestConfigured(dir)
		}
		return t.pytestConfigured(dir) || len(t.pythonTests(dir)) > 0
	})
}

// pythonRoot reports whether a folder contains the configuration of a Python project.
func (t *tree) pythonRoot(dir string) bool {
	return slices.ContainsFunc([]string{"pyproject.toml", "pytest.ini", "setup.cfg", "setup.py", "tox.ini"}, func(f string) bool {
		return t.isFile(path.Join(dir, f))
	})
}

// pythonAbove returns the project of a Python file: the nearest configured folder with
// tests, else the outermost folder with tests, since imports start there.
func (t *tree) pythonAbove(name string) (string, bool) {
	out, ok := "", false
	for _, dir := range up(name) {
		if !t.isPython(dir) {
			continue
		}
		if out, ok = dir, true; t.pythonRoot(dir) {
			return out, ok
		}
	}
	return out, ok
}

func (t *tree) pytestConfigured(dir string) bool {
	for file, mark := range map[string]string{
		"pytest.ini": "", "conftest.py": "", "pyproject.toml": "[tool.pytest", "setup.cfg": "[tool:pytest]", "tox.ini": "[pytest]",
	} {
		if name := path.Join(dir, file); t.isFile(name) && (mark == "" || strings.Contains(t.read(name), mark)) {
			return true
		}
	}
	return false
}

// pythonTests returns the test files of a folder and of its tests and test folders.
func (t *tree) pythonTests(dir string) []string {
	var out []string
	for _, d := range []string{dir, path.Join(dir, "tests"), path.Join(dir, "test")} {
		for _, e := range t.list(d) {
			if e.Type().IsRegular() && pythonTest(e.Name()) {
				out = append(out, path.Join(d, e.Name()))
			}
		}
	}
	return out
}

func pythonTest(name string) bool {
	base := path.Base(name)
	return path.Ext(base) == ".py" && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"))
}

// pythonChecks returns pytest, or unittest if the tests are written for it and
// nothing mentions pytest.
func (t *tree) pythonChecks(u unit) (narrow, wide []Check) {
	run, name := t.pytest(u.dir)
	defined := []string{}
	for _, f := range []string{"conftest.py", "pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"} {
		defined = append(defined, path.Join(u.dir, f))
	}
	t.walk(u.dir, maxConftestFiles, func(name string) { // pytest reads one in each folder
		if path.Base(name) == "conftest.py" {
			defined = appendNames(defined, []string{name})
		}
	})
	// Python identifies a compiled file by the source's second and size: one compiled a
	// moment ago could be mistaken for the edited module.
	env := []string{"PYTHONDONTWRITEBYTECODE=1"}
	c := Check{Name: name, Command: in(u.dir, run), Kind: kindPython, Defined: defined, Env: env}
	wide = []Check{c}
	if name != "pytest" {
		return nil, wide
	}
	some := t.testsFor(u)
	if len(some) == 0 {
		return nil, wide
	}
	c.Part = true
	for _, f := range some {
		run += " " + shellsyntax.Quote(rel(u.dir, f))
	}
	c.Command = in(u.dir, run)
	return []Check{c}, wide
}

// pytest returns the command that runs the tests of a folder, and its name.
func (t *tree) pytest(dir string) (command, name string) {
	python := "python3"
	if !t.has(python) && t.has("python") {
		python = "python"
	}
	if !t.pytestConfigured(dir) && !slices.ContainsFunc(t.pythonTests(dir), func(f string) bool { return !t.unittest(f) }) {
		return python + " -m unittest" + t.discover(dir), "unittest"
	}
	if t.has("pytest") && !t.has(python) {
		return "pytest", "pytest"
	}
	// As a module, so that Python searches the folder for imports.
	for _, p := range []string{python, "/usr/bin/python3"} {
		if t.has(p) && t.hasModule != nil {
			program, _ := t.look(p)
			if has, known := t.hasModule(program, "pytest"); has || !known {
				return p + " -m pytest", "pytest"
			}
		}
	}
	if t.has("pytest") && t.hasModule != nil {
		return "pytest", "pytest"
	}
	return python + " -m pytest", "pytest"
}

// discover returns the arguments that unittest needs to find the tests of a folder:
// without them it searches only packages, and names that begin with test.
func (t *tree) discover(dir string) string {
	from, named := "", ""
	for i, f := range t.pythonTests(dir) {
		at, ends := rel(dir, path.Dir(f)), ""
		if t.isFile(path.Join(path.Dir(f), "__init__.py")) {
			at = "."
		}
		if !strings.HasPrefix(path.Base(f), "test") {
			ends = "*_test.py"
		}
		if i > 0 && (at != from || ends != named) {
			return "" // several kinds: unittest's default search
		}
		from, named = at, ends
	}
	words := ""
	if from != "" && from != "." {
		words += " -s " + shellsyntax.Quote(from)
	}
	if named != "" {
		words += " -p " + shellsyntax.Quote(named)
	}
	if words != "" {
		words = " discover" + words
	}
	return words
}

func (t *tree) has(program string) bool {
	if t.look == nil {
		return false
	}
	_, err := t.look(program)
	return err == nil
}

// unittest reports whether a test file uses unittest and does not mention pytest.
func (t *tree) unittest(name string) bool {
	text := t.read(name)
	return strings.Contains(text, "unittest") && !strings.Contains(text, "pytest")
}

// testsFor returns the test files that are named after the changed modules, and the
// changed test files. It returns nil if a changed file has no test, or if these are all
// tests of the project.
func (t *tree) testsFor(u unit) []string {
	if len(u.files) == 0 {
		return nil
	}
	var tests []string
	if !t.walk(u.dir, maxTestFiles, func(name string) {
		if pythonTest(name) {
			tests = append(tests, name)
		}
	}) {
		return nil
	}
	var out []string
	for _, f := range u.files {
		n := len(out)
		for _, test := range tests {
			name := stem(test)
			if (test == f || name == "test_"+stem(f) || name == stem(f)+"_test") && !slices.Contains(out, test) {
				out = append(out, test)
			}
		}
		if len(out) == n {
			return nil
		}
	}
	if len(out) == len(tests) {
		return nil
	}
	return out
}
