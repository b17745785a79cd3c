package confine

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
)

var facts = Facts{
	Root: "/home/u/w", Home: "/home/u", State: []string{"/home/u/.local/state/pawl"},
	Reads: []string{"/srv/gomod"}, Writes: []string{"/home/u/.cache/pawl/sandbox", "/tmp/pawl-1"},
}

// SPEC 16.12: one value says what each system is told.
func TestGolden(t *testing.T) {
	hosts := facts
	hosts.Hosts = []string{"*.example.org"}
	granted := New(Workspace, hosts)
	granted.Proxy = 3128
	for name, p := range map[string]Policy{"read-only": New(ReadOnly, facts), "workspace": New(Workspace, facts), "hosts": granted} {
		var linux strings.Builder
		for _, r := range p.Linux() {
			linux.WriteString(r.String() + "\n")
		}
		for file, got := range map[string]string{name + ".linux": linux.String(), name + ".sb": p.Seatbelt()} {
			golden.File(t, filepath.Join("testdata", file), got)
		}
	}
}

// SPEC 16.3, 16.12: which changes are the workspace's.
func TestChange(t *testing.T) {
	p := New(Workspace, facts)
	for _, c := range []struct {
		file string
		act  Act
		want ChangeRight
	}{
		{"a.go", Create, Made}, {"sub/deep/a.go", Remove, Made}, {".gitignore", Write, Made}, {".github/x", Create, Made},
		{".gitx/hooks/y", Create, Made}, {"agents.md.txt", Create, Made}, {"head", Create, Made},
		{"AGENTS.md", Write, Refused}, {"agents.MD", Create, Refused}, {"sub/CLAUDE.md", Create, Refused}, {".pawl/x/y", Create, Refused},
		{".vscode", Create, Refused}, {"sub/.mcp.json", Write, Refused}, {".envrc", Remove, Refused}, {".gitmodules", Write, Refused},
		{"HEAD", Create, Refused}, {"x/HEAD", Create, Refused}, {"HEAD/x", Create, Made},
		{".git", Remove, Refused}, {".git", Create, Refused}, {".GIT/hooks/pre-commit", Create, Refused}, {".git/hooks", Remove, Refused},
		{".git/config", Write, Refused}, {".git/config.lock", Create, Refused}, {".git/info/attributes", Create, Refused},
		{".git/rebase-merge/git-rebase-todo", Create, Refused}, {".git/modules/x/config", Create, Refused}, {".git/commondir", Create, Refused},
		{".git/index", Create, Made}, {".git/index.lock", Create, Made}, {".git/HEAD.lock", Create, Made}, {".git/HEAD", Create, Made},
		{".git/HEAD", Write, Refused}, {".git/HEAD", Remove, Refused}, {".git/objects/ab/cd", Create, Made}, {".git/objects", Remove, Refused},
		{".git/refs", Remove, Refused}, {".git/logs", Create, Made}, {".git/logs/HEAD", Create, Made}, {".git/logs/HEAD", Point, Refused},
		{".git/COMMIT_EDITMSG", Point, Refused}, {"link", Point, Made}, {"CLAUDE.md", Point, Refused}, {".git/refs/heads/HEAD", Create, Made}, {".git/objects/info/alternates", Create, Refused},
		{"sub/.git/hooks/x", Create, Refused}, {"node_modules/p/AGENTS.md", Create, Made}, {"vendor/x/.vscode/a", Create, Made},
		{"vendor/x/.git", Create, Refused}, {"node_modules/p/.git/config", Create, Refused}, {"vendor/.vscode/.git", Arrive, Refused}, {"vendor/x/.git/objects/a", Create, Made}, {"vendor/x/HEAD", Create, Made},
		{".git/objects", Arrive, Refused}, {".git/objects/info", Arrive, Refused}, {".git/objects/info", Create, Made}, {".git/objects/ab", Arrive, Made}, {".git/objects/info/http-alternates", Create, Refused},
		{".git/hooks/node_modules/x", Create, Refused}, {"../x", Create, Refused}, {"", Remove, Refused},
		{"../../u/wx/a", Create, Refused}, {"/tmp/pawl-1/AGENTS.md", Create, Free}, {"/tmp/pawl-2/a", Create, Refused}, {"/etc/passwd", Write, Refused},
	} {
		file := c.file
		if !filepath.IsAbs(file) {
			file = filepath.Join(facts.Root, file)
		}
		if got := p.Change(file, c.act); got != c.want {
			t.Errorf("Change(%s, %d) = %d, want %d", c.file, c.act, got, c.want)
		}
		if got := New(ReadOnly, facts).Change(file, c.act); got != Refused {
			t.Errorf("read-only: Change(%s) = %d", c.file, got)
		}
	}
}

// SPEC 16.16: a folder becomes a repository by its last part, whichever that is.
func TestCompletes(t *testing.T) {
	for _, c := range []struct {
		file, there string
		want        bool
	}{
		{"a/refs", "HEAD objects", true}, {"a/objects", "HEAD refs config", true}, {"a/HEAD", "objects refs", true}, {"a/commondir", "HEAD", true}, {"a/HEAD", "commondir", true},
		{"a/refs", "HEAD", false}, {"a/refs", "HEAD objects refs", false}, {"a/config", "HEAD objects", false}, {"a/HEAD", "objects", false}, {"a/.git/refs", "HEAD objects", false},
	} {
		if got := Completes(c.file, func(n string) bool { return slices.Contains(strings.Fields(c.there), n) }); got != c.want {
			t.Errorf("%s beside %s: %v", c.file, c.there, got)
		}
	}
}

// SPEC 16.3: what git's configuration runs of the workspace stays, and where it is.
func TestKept(t *testing.T) {
	f := facts
	f.Kept = []string{"/home/u/w/tools/hooks", "/home/u/w/.gitmore"}
	for _, c := range []struct {
		file string
		act  Act
		want ChangeRight
	}{
		{"tools/hooks", Remove, Refused}, {"tools/hooks/pre-commit", Create, Refused}, {"tools/hooks/pre-commit", Write, Refused}, {"tools/hooks", Point, Refused},
		{"tools", Remove, Refused}, {"tools", Create, Refused}, {"tools", Point, Refused}, {"tools", Write, Made}, {"tools/x", Create, Made}, {"tools/hooksx", Create, Made},
		{".gitmore", Write, Refused}, {".gitmore.x", Write, Made}, {"a", Create, Made},
	} {
		if got := New(Workspace, f).Change("/home/u/w/"+c.file, c.act); got != c.want {
			t.Errorf("Change(%s, %d) = %d, want %d", c.file, c.act, got, c.want)
		}
	}
	opened := New(Workspace, f).Grant(nil, nil, []string{"/home/u/w/.gitmore"})
	if opened.Change("/home/u/w/.gitmore", Write) != Made {
		t.Error("a file that a person opened cannot be changed")
	}
	s := readProfile(t, New(Workspace, f).Seatbelt())
	for path, want := range map[string]bool{"tools/hooks/x": false, "tools/x": true, ".gitmore": false, "a": true} {
		if s.allows("file-write-create", "/home/u/w/"+path, "REGULAR-FILE") != want {
			t.Errorf("Seatbelt: create %s is not %v", path, want)
		}
	}
	if s.allows("file-write-unlink", "/home/u/w/tools", "DIRECTORY") {
		t.Error("Seatbelt: the folder above can be moved")
	}
}

// SPEC 16.12: never keys, never pawl's state, whatever the workspace is.
func TestValidate(t *testing.T) {
	must.Do(t, New(Workspace, facts).Validate())
	for _, change := range []func(*Facts){
		func(f *Facts) { f.Root = "/home/u" },
		func(f *Facts) { f.Root = "/" },
		func(f *Facts) { f.Root = "/home" },
		func(f *Facts) { f.Root = "" },
		func(f *Facts) { f.Root = "/home/u/.ssh" },
		func(f *Facts) { f.Reads = []string{"/etc"} },
		func(f *Facts) { f.Reads = []string{"/home/u/.config"} },
		func(f *Facts) { f.Writes = []string{"/home/u/.local"} },
		func(f *Facts) { f.Writes = []string{"/home/u/w"} },
		func(f *Facts) { f.Writes = []string{"relative"} },
	} {
		f := facts
		change(&f)
		if err := New(Workspace, f).Validate(); err == nil {
			t.Errorf("accepted: root %q, reads %q, writes %q", f.Root, f.Reads, f.Writes)
		}
	}
}
