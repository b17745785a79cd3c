package checks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 13.3, 20.2: what a check needs and this machine does not have is known before the
// check runs, from files alone; what is not known for certain is not said.
func TestLacks(t *testing.T) {
	t.Parallel()
	const npm = "npm node make"
	for name, c := range map[string]struct {
		files, installed, command, want string
	}{
		"a script's program":    {`{"scripts": {"test": "tape 'test/**/*.js'"}}`, npm, "npm test", "tape is not installed (there is no node_modules)"},
		"one of two":            {`{"scripts": {"lint": "tape x && eslint ."}}` + "\n-- node_modules/.bin/tape --\n", npm, "npm run lint", "eslint is not installed"},
		"all there":             {`{"scripts": {"lint": "tape x && eslint ."}}` + "\n-- node_modules/.bin/tape --\n-- node_modules/.bin/eslint --\n", npm, "npm run lint", ""},
		"on the PATH":           {`{"scripts": {"test": "node --test"}}`, npm, "npm test", ""},
		"a variable before it":  {`{"scripts": {"test": "CI=1 jest"}}`, npm, "npm test", "jest is not installed (there is no node_modules)"},
		"another script":        {`{"scripts": {"test": "npm run unit", "unit": "jest"}}`, npm, "npm test", "jest is not installed (there is no node_modules)"},
		"what goes before":      {`{"scripts": {"pretest": "tsc", "test": "node x.js"}}`, npm, "npm test", "tsc is not installed (there is no node_modules)"},
		"it installs first":     {`{"scripts": {"pretest": "npm ci", "test": "jest"}}`, npm, "npm test", ""},
		"either will do":        {`{"scripts": {"test": "jest || true"}}`, npm, "npm test", ""},
		"it looks elsewhere":    {`{"scripts": {"test": "PATH=x jest"}}`, npm, "npm test", ""},
		"a path":                {`{"scripts": {"test": "./run.sh"}}`, npm, "npm test", ""},
		"modules in a zip file": {`{"scripts": {"test": "jest"}}` + "\n-- .pnp.cjs --\n", "yarn node", "yarn test", ""},
		"npx may download":      {`{"scripts": {"test": "npx jest"}}`, npm + " npx", "npm test", ""},
		"the package manager":   {`{"scripts": {"test": "jest"}}`, "npm node", "pnpm test", "pnpm is not installed"},
		"narrowed":              {`{"scripts": {"test": "jest"}}`, npm, "npm test -- --findRelatedTests a.js", "jest is not installed (there is no node_modules)"},
		"in a subfolder":        {"{}\n-- node_modules/.bin/jest --\n-- sub/package.json --\n" + `{"scripts": {"test": "jest", "lint": "eslint ."}}`, npm, "cd sub && npm test", ""},
		"and not there":         {"{}\n-- node_modules/.bin/jest --\n-- sub/package.json --\n" + `{"scripts": {"test": "jest", "lint": "eslint ."}}`, npm, "cd sub && npm run lint", "eslint is not installed"},
		"go":                    {"", "make", "go test ./...", "go is not installed"},
		"a module of python":    {"", "python3", "python3 -m pytest", "pytest is not installed for python3"},
		"that is there":         {"", "python3", "python3 -m unittest", ""},
		"no make":               {"{}\n-- Makefile --\ntest:\n\ttox\n", "", "make test", "make is not installed"},
		"a line of one's own":   {"", "", "ruff check .", "ruff is not installed"},
	} {
		dir := project(t, "-- package.json --\n"+c.files)
		f := &Finder{Root: dir, LookPath: installed(strings.Fields(c.installed)...), HasModule: func(_, module string) (bool, bool) { return module != "pytest", true }}
		if got := f.Lacks(Check{Command: c.command}); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := (&Finder{Root: t.TempDir()}).Lacks(Check{Command: "go test"}); got != "" {
		t.Errorf("nobody looked: %q", got)
	}
}

// SPEC 13.3: the tests of a Python project run with an interpreter that has pytest.
func TestPythonThatHasPytest(t *testing.T) {
	t.Parallel()
	dir := project(t, "-- pytest.ini --\n[pytest]\n-- a.py --\n-- tests/test_a.py --\nimport pytest\n")
	for has, want := range map[string]string{
		"/opt/python3":     "python3 -m pytest",
		"/usr/bin/python3": "/usr/bin/python3 -m pytest",
		"none":             "python3 -m pytest",
	} {
		look := func(s string) (string, error) {
			if s == "python3" {
				return "/opt/python3", nil
			}
			return installed("/usr/bin/python3")(s)
		}
		f := &Finder{Root: dir, LookPath: look, HasModule: func(python, _ string) (bool, bool) { return strings.HasSuffix(python, has), true }}
		found, err := f.Find([]string{"a.py"})
		if err != nil || len(found.Wide) != 1 || found.Wide[0].Command != want {
			t.Errorf("%s has it: %+v, %v", has, found.Wide, err)
		}
	}
}

// SPEC 13.3: whether an interpreter has a module is found out from its folders, and nothing
// is started.
func TestHasModule(t *testing.T) {
	root, err := filepath.EvalSymlinks(project(t, `
-- sys/bin/python3.11 --
-- sys/lib/python3.11/os.py --
-- sys/lib/python3.11/unittest/__init__.py --
-- sys/lib/python3/dist-packages/pytest/__init__.py --
-- bare/bin/python3 --
-- bare/lib/python3.12/os.py --
-- bare/lib/python3.12/site-packages/distutils-precedence.pth --
import os
-- venv/pyvenv.cfg --
home = /sys/bin
-- venv/bin/x --
-- venv/lib/python3.11/site-packages/pip.py --
-- open/pyvenv.cfg --
include-system-site-packages = true
-- open/bin/x --
-- open/lib/python3.11/site-packages/pip.py --
-- linked/bin/python3 --
-- linked/lib/python3.11/site-packages/here.pth --
../../../../elsewhere
-- edited/bin/python3 --
-- edited/lib/python3.11/site-packages/__editable__.pytest-8.pth --
import x
-- pyenv/shims/python3 --
-- strange/python3 --
`))
	must.Do(t, err)
	for _, l := range [][2]string{{"python3.11", "sys/bin/python3"}, {"../../sys/bin/python3", "venv/bin/python3"}, {"../../sys/bin/python3", "open/bin/python3"}} {
		must.Do(t, os.Symlink(l[0], filepath.Join(root, l[1])))
	}
	t.Setenv("HOME", root)
	t.Setenv("PYTHONPATH", "")
	for _, c := range []struct {
		python, module string
		has, known     bool
	}{
		{"sys/bin/python3", "pytest", true, true},
		{"sys/bin/python3", "unittest", true, true},
		{"sys/bin/python3", "tox", false, true},
		{"bare/bin/python3", "pytest", false, true},
		{"venv/bin/python3", "pytest", false, true},
		{"open/bin/python3", "pytest", false, false},
		{"linked/bin/python3", "pytest", false, false},
		{"edited/bin/python3", "pytest", true, true},
		{"pyenv/shims/python3", "pytest", false, false},
		{"strange/python3", "pytest", false, false},
		{"none/python3", "pytest", false, false},
	} {
		has, known := HasModule(filepath.Join(root, c.python), c.module)
		if has != c.has || known != c.known {
			t.Errorf("%s, %s: has %v, known %v", c.python, c.module, has, known)
		}
	}
}

// SPEC 13.3, 20.2: only what a change of the project's sources would run is promised.
func TestPromised(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files string
		own   []Configured
		want  string
	}{
		"a target beside a language": {"-- Makefile --\ntest:\n\ttox\n-- go.mod --\nmodule x\n", nil, "go test ./..."},
		"a target alone":             {"-- Makefile --\ntest:\n\tcc x.c\n-- justfile --\ntest:\n  cc x.c\n", nil, "make test"},
		"one's own for everything":   {"-- go.mod --\nmodule x\n", []Configured{{Name: "o", Command: "sh all.sh"}}, "sh all.sh"},
		"one's own for some files":   {"-- go.mod --\nmodule x\n", []Configured{{Name: "o", Command: "sh some.sh", Paths: []string{"*.sql"}}}, "sh some.sh, go test ./..."},
	} {
		f := &Finder{Root: project(t, c.files), Configured: c.own, LookPath: installed("go", "make", "just")}
		here, err := f.Here()
		var got []string
		for _, k := range f.Promised(here) {
			got = append(got, k.Command)
		}
		if err != nil || strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q, %v", name, got, c.want, err)
		}
	}
}
