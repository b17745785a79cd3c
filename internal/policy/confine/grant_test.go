package confine

import (
	"errors"
	"strings"
	"testing"
)

// SPEC 16.12: in a granted folder the protected names hold at any depth, as in
// the workspace.
func TestGrantedFolder(t *testing.T) {
	p := New(Workspace, facts).Grant(nil, []string{"/srv/other", "/home/u/w/.claude", "/home/u/w/sub"}, []string{"/srv/new", "/srv/AGENTS.md"})
	for _, c := range []struct {
		file string
		act  Act
		want ChangeRight
	}{
		{"/srv/other/a.go", Create, Made}, {"/srv/other/deep/er/a.go", Remove, Made}, {"/srv/other/link", Point, Made},
		{"/srv/other", Remove, Refused}, {"/srv/otherwise/a", Create, Refused},
		{"/srv/other/.git/index.lock", Create, Made}, {"/srv/other/.git/objects/ab/cd", Create, Made},
		{"/srv/other/.git/hooks/pre-commit", Create, Refused}, {"/srv/other/.git/config", Write, Refused}, {"/srv/other/.GIT/config.lock", Create, Refused},
		{"/srv/other/.git", Remove, Refused}, {"/srv/other/.git", Create, Refused}, {"/srv/other/deep/er/.git/hooks/x", Create, Refused},
		{"/srv/other/.git/modules/x/config", Write, Refused}, {"/srv/other/.git/worktrees/x/gitdir", Write, Refused}, {"/srv/other/sub/.git", Write, Refused},
		{"/srv/other/AGENTS.md", Create, Refused}, {"/srv/other/a/CLAUDE.md", Write, Refused}, {"/srv/other/.pawl/config.json", Create, Refused},
		{"/srv/other/.claude/settings.json", Create, Refused}, {"/srv/other/.vscode/tasks.json", Create, Refused}, {"/srv/other/.envrc", Create, Refused},
		{"/srv/other/x/HEAD", Create, Refused}, {"/srv/other/node_modules/p/AGENTS.md", Create, Made},
		// A folder in the workspace opens what it names, and none of the protected names in it.
		{"/home/u/w/.claude/commands/x.md", Create, Made}, {"/home/u/w/.claude/.git/hooks/x", Create, Refused},
		{"/home/u/w/sub/AGENTS.md", Create, Refused}, {"/home/u/w/sub/.git/config", Write, Refused}, {"/home/u/w/sub/a", Create, Made},
		// What was granted as a file, and became a folder.
		{"/srv/new", Create, Made}, {"/srv/new/a", Create, Made}, {"/srv/new/AGENTS.md", Create, Refused}, {"/srv/new/HEAD", Create, Refused}, {"/srv/new/.git/config", Create, Refused},
		{"/srv/AGENTS.md", Write, Made},
	} {
		if got := p.Change(c.file, c.act); got != c.want {
			t.Errorf("Change(%s, %d) = %d, want %d", c.file, c.act, got, c.want)
		}
	}
	for _, r := range p.Linux() {
		if strings.HasPrefix(r.Path, "/srv/") && r.Rights != Read {
			t.Errorf("the kernel alone would let %s be changed", r.Path)
		}
	}
	if profile := p.Seatbelt(); strings.Index(profile, `(allow file-write* (subpath "/srv/other"))`) > strings.Index(profile, `(deny file-write* (regex #"^/srv/other/(.*/)?\.[Gg][Ii][Tt](/|$)"))`) {
		t.Error(profile)
	}
}

// SPEC 16.12: a grant of git's own folders, of keys and of what holds the
// workspace is refused, with what may be granted.
func TestMayGrant(t *testing.T) {
	p := New(Workspace, facts)
	for folder, want := range map[string]string{
		"/srv/other": "", "/srv/other/.github": "", "/home/u/w/sub": "", "/srv/x.git": "",
		"/srv/other/.git": "grant the folder that holds the .git", "/srv/other/.git/hooks": "grant the folder that holds the .git",
		"/srv/other/.GIT/modules/x": "grant the folder that holds the .git", "/home/u/w/.git/hooks": "grant the folder that holds the .git",
		"/home/u/w": "inside or beside it", "/home": "inside or beside it", "/": "inside or beside it",
		"/home/u/.ssh": "no command may read", "/home/u/.config": "no command may read", "/home/u/.local/state/pawl/x": "no command may read", "relative": "no command may read",
	} {
		err := p.MayGrant(folder)
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, ErrPolicy) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", folder, err)
		}
		if got := len(p.Grant(nil, []string{folder}, nil).Granted) == 1; got != (want == "") {
			t.Errorf("%s: granted: %v", folder, got)
		}
	}
}
