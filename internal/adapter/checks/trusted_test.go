package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

func put(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		must.Write(t, name, files[i+1])
	}
}

// parts are the parts of a workspace, by name.
func parts(t testing.TB, f *Finder) (map[string]trust.Part, bool) {
	t.Helper()
	found, whole, err := f.Everywhere()
	must.Do(t, err)
	out := map[string]trust.Part{}
	for _, p := range f.Parts(found) {
		if _, twice := out[p.Name]; twice {
			t.Errorf("%s twice", p.Name)
		}
		out[p.Name] = p
	}
	return out, whole
}

func none(string) (string, error) { return "", os.ErrNotExist }

// SPEC 16.1: what a person is shown to trust is what would run: every check
// that is found for any file is of a part that was shown.
func TestPartsAreWhatRuns(t *testing.T) {
	dir := t.TempDir()
	put(
		t, dir,
		"go.mod", "module a\n", "a.go", "package a", "b/b.go", "package b",
		"web/package.json", `{"scripts": {"test": "sh ci/run.sh", "lint": "eslint"}}`, "web/ci/run.sh", "x", "web/src/a.ts", "",
		"py/pytest.ini", "", "py/test_a.py", "import pytest", "py/m.py", "",
		"rust/Cargo.toml", "[workspace]\nmembers = ['c']\n", "rust/c/Cargo.toml", "[package]\nname = \"c\"\n", "rust/c/src/lib.rs", "",
		"c/Makefile", "check:\n\tx\n", "c/a.c", "", "j/justfile", "test:\n  x\n", "j/a.c", "",
		"node_modules/x/package.json", `{"scripts": {"test": "x"}}`,
	)
	f := &Finder{Root: dir, LookPath: none, Configured: []Configured{{Name: "ours", Command: "sh own.sh", Paths: []string{"*.own"}}, {Name: "theirs", Command: "x", In: "/elsewhere"}}}
	shown, whole := parts(t, f)
	if !whole {
		t.Error("not all was looked at")
	}
	for _, name := range []string{"a.go", "b/b.go", "web/src/a.ts", "py/m.py", "py/test_a.py", "rust/c/src/lib.rs", "c/a.c", "j/a.c", "x.own", "unknown"} {
		found, err := f.Find([]string{name})
		if err != nil || len(found.Wide) == 0 {
			t.Fatalf("%s: %+v %v", name, found, err)
		}
		for _, p := range f.Parts(slices.Concat(found.Narrow, found.Wide)) {
			if s, ok := shown[p.Name]; !ok || s.Hash != p.Hash || p.Hash == "" {
				t.Errorf("%s: %s was not shown as it is: %+v, %+v", name, p.Name, s, p)
			}
		}
	}
	if p := shown["node in web"]; !slices.Contains(p.From, "web/ci/run.sh") || strings.Join(p.Runs, ",") != "cd web && npm test,cd web && npm run lint" {
		t.Errorf("%+v", p)
	}
	for name := range shown {
		if strings.Contains(name, "node_modules") || strings.Contains(name, "theirs") {
			t.Errorf("%s", name)
		}
	}
}

// SPEC 16.1: each file that decides what a check runs is part of it, also one
// that comes or is found above; a file that cannot be read whole is never
// trusted.
func TestPartsChange(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "web/package.json", `{"scripts": {"test": "jest"}}`, "web/a.js", "")
	f := &Finder{Root: dir, LookPath: none}
	hash := func() string {
		p, _ := parts(t, f)
		return p["node in web"].Hash
	}
	last := hash()
	change := func(what string, want bool, do func() error) {
		t.Helper()
		must.Do(t, do())
		if now := hash(); (now != last) != want {
			t.Errorf("%s: changed %v, want %v", what, now != last, want)
		} else {
			last = now
		}
	}
	write := func(name, text string) func() error {
		return func() error { return os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600) }
	}
	change("source", false, write("web/a.js", "evil"))
	change("a file above that is no definition", false, write("jest.config.js", ""))
	for _, name := range []string{".npmrc", "web/.npmrc", "web/jest.config.js", "package.json", "web/.yarnrc.yml"} {
		change(name, true, write(name, "{}"))
		change(name, true, write(name, "{\"x\": 1}"))
	}
	change("a folder of that name", false, func() error { return os.Mkdir(filepath.Join(dir, "web", ".mocharc.js"), 0o700) })
	if hash() == "" {
		t.Fatal("it cannot be trusted")
	}
	for name, spoil := range map[string]func(file string) error{
		"too long":       func(n string) error { return os.Truncate(n, maxDefinition+1) },
		"out of it":      func(n string) error { return link("/etc/hosts", n) },
		"a device":       func(n string) error { return link("/dev/zero", n) },
		"a broken link":  func(n string) error { return link("nowhere", n) },
		"a link in ring": func(n string) error { return link(filepath.Base(n), n) },
	} {
		file := filepath.Join(dir, "web", ".npmrc")
		must.Do(t, write("web/.npmrc", "")())
		must.Do(t, spoil(file))
		if h := hash(); h != "" {
			t.Errorf("%s: %s", name, h)
		}
		must.Do(t, os.Remove(file))
	}
}

func link(to, name string) error {
	if err := os.Remove(name); err != nil {
		return err
	}
	return os.Symlink(to, name)
}

// SPEC 16.1: what a makefile or a justfile takes in is part of it.
func TestPartsInclude(t *testing.T) {
	for _, c := range []struct{ main, text, other string }{
		{"Makefile", "include rules\ncheck:\n", "rules"},
		{"Makefile", "-include mk/*.inc\ncheck:\n", "mk/a.inc"},
		{"Makefile", "sinclude b # it may be\ncheck:\n", "b"},
		{"Makefile", "include one\ncheck:\n", "two"}, // by way of one
		{"justfile", "import 'x.just'\ncheck:\n", "x.just"},
		{"justfile", "mod foo\ncheck:\n", "foo.just"},
		{"justfile", "mod foo\ncheck:\n", "foo/mod.just"},
	} {
		dir := t.TempDir()
		put(t, dir, c.main, c.text, "one", "include two\n", c.other, "x")
		f := &Finder{Root: dir, LookPath: none}
		was, _ := parts(t, f)
		put(t, dir, c.other, "evil")
		is, _ := parts(t, f)
		for name := range was {
			if was[name].Hash == is[name].Hash {
				t.Errorf("%s: a change of %s is none", c.text, c.other)
			}
		}
		if len(was) != 1 {
			t.Errorf("%s: %v", c.text, was)
		}
	}
	dir := t.TempDir()
	put(t, dir, "Makefile", "include Makefile ../out /etc/*\ncheck:\n")
	if ps, _ := parts(t, &Finder{Root: dir, LookPath: none}); len(ps["make in ."].From) != 1 {
		t.Errorf("%+v", ps)
	}
}

// SPEC 16.1: tools look above the workspace as far as its repository goes, and
// so is what they find there; what lies above the repository is not its own.
func TestPartsOfARepository(t *testing.T) {
	top := t.TempDir()
	put(t, top, "repo/.git/HEAD", "", "repo/sub/deep/package.json", `{"scripts": {"test": "jest"}}`, "plain/package.json", `{"scripts": {"test": "jest"}}`)
	for _, c := range []struct {
		root, file string
		changes    bool
	}{
		{"repo/sub/deep", "repo/sub/.npmrc", true},
		{"repo/sub/deep", "repo/.npmrc", true},
		{"repo/sub/deep", "repo/babel.config.js", true},
		{"repo/sub/deep", "repo/jest.config.js", false},
		{"repo/sub/deep", ".npmrc", false},
		{"plain", ".yarnrc", false},
	} {
		f := &Finder{Root: filepath.Join(top, c.root), LookPath: none}
		was, _ := parts(t, f)
		put(t, top, c.file, "x")
		is, _ := parts(t, f)
		if a, b := was["node in ."].Hash, is["node in ."].Hash; a == "" || (a != b) != c.changes {
			t.Errorf("%s for %s: changed %v, want %v", c.file, c.root, a != b, c.changes)
		}
	}
}

// In a folder of a larger project what defines its checks lies above, and is
// looked at there.
func TestPartsAbove(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "package.json", `{"scripts": {"test": "jest"}}`, ".git/HEAD", "", "src/a.js", "")
	f := &Finder{Root: filepath.Join(dir, "src"), LookPath: none}
	hash := func() string {
		t.Helper()
		here, err := f.Here()
		found, ferr := f.Find([]string{"a.js"})
		if err != nil || ferr != nil {
			t.Fatal(err, ferr)
		}
		a, b := f.Parts(here), f.Parts(found.Wide)
		if len(a) != 1 || len(b) != 1 || a[0].Hash != b[0].Hash || a[0].Name != b[0].Name || a[0].Hash == "" {
			t.Fatalf("%+v, %+v", a, b)
		}
		return a[0].Hash
	}
	was := hash()
	put(t, dir, "package.json", `{"scripts": {"test": "sh ci.sh"}}`, "ci.sh", "x")
	now := hash()
	if now == was {
		t.Error("a definition above changed and is the same")
	}
	put(t, dir, "ci.sh", "evil")
	if hash() == now {
		t.Error("a script that a definition above calls changed and is the same")
	}
}

// What is looked at is bounded, and it is told that there is more.
func TestEverywhereIsBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 * maxProjects {
		put(t, dir, fmt.Sprintf("p%04d/package.json", i), `{"scripts": {"test": "jest"}}`)
	}
	if shown, whole := parts(t, &Finder{Root: dir, LookPath: none}); whole || len(shown) != maxProjects {
		t.Errorf("%d, whole %v", len(shown), whole)
	}
}

// BenchmarkHere is what the start of a session pays.
func BenchmarkHere(b *testing.B) {
	dir := b.TempDir()
	put(b, dir, "go.mod", "module a\n", "package.json", `{"scripts": {"test": "jest"}}`, "Makefile", "check:\n\tx\n")
	f := &Finder{Root: dir, LookPath: none}
	for b.Loop() {
		cs, err := f.Here()
		must.Do(b, err)
		f.Parts(cs)
	}
}

// SPEC 16.1: a cache that a check writes itself defines nothing; a file beside it does.
func TestCachesDefineNothing(t *testing.T) {
	dir := project(t, "-- package.json --\n{\"scripts\": {\"test\": \"node t.js && eslint --cache --cache-location node_modules/.cache/.eslintcache --config conf.js .\"}}\n-- t.js --\n-- conf.js --\n-- a.js --\n")
	defined := func() string {
		t.Helper()
		f := Finder{Root: dir}
		got, err := f.Find([]string{"a.js"})
		if err != nil || len(got.Wide) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
		return strings.Join(got.Wide[0].Defined, " ")
	}
	before := defined()
	must.Write(t, filepath.Join(dir, "node_modules", ".cache", ".eslintcache"), "[]")
	if after := defined(); after != before || !strings.Contains(after, "conf.js") || !strings.Contains(after, "t.js") {
		t.Errorf("defined by %q, then %q", before, after)
	}
}
