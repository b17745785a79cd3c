package permission

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 20.2: what one command lacked is one report: a folder stands for those in it, and the
// flags are those that allow what is named.
func TestLackedIsOneReport(t *testing.T) {
	in := func(dir string) permission.Opening {
		return permission.Opening{Act: "write", Opens: dir, Rule: "edit(" + dir + ")"}
	}
	host := permission.Opening{Act: process.ActHost, Opens: "a.test", Rule: "network(a.test)"}
	for _, c := range []struct {
		name string
		all  []permission.Opening
		want string
	}{
		{"one", []permission.Opening{in("/x")}, "it could not change or delete files in /x: nobody is there to allow it; a run with --allow 'edit(/x)' may do it"},
		{"a folder and those in it", []permission.Opening{in("/x/y/z"), in("/x/q"), host, in("/x")}, "it could not connect to a.test, change or delete files in /x: nobody is there to allow it; a run with --allow 'network(a.test)' --allow 'edit(/x)' may do it"},
		{"a name that another begins with", []permission.Opening{in("/x"), in("/xy")}, "it could not change or delete files in /x, change or delete files in /xy: nobody is there to allow it; a run with --allow 'edit(/x)' --allow 'edit(/xy)' may do it"},
		{"many", []permission.Opening{in("/a"), in("/b"), in("/c"), in("/d"), host}, "it could not change or delete files in /a, change or delete files in /b, change or delete files in /c, and 2 more: nobody is there to allow it; a run with --allow 'edit(/a)' --allow 'edit(/b)' --allow 'edit(/c)' may do it"},
		{"no flag", []permission.Opening{{Act: process.ActLose, Opens: "big (9.0 MB)"}}, "it could not remove or replace big (9.0 MB) and files like it, without a copy for undo: nobody is there to allow it; kept.session_mb and kept.file_mb of the configuration set how much is kept"},
		{"the whole disk", []permission.Opening{in("/"), in("/x")}, "it could not change or delete files in /: nobody is there to allow it; a run with --allow 'edit(/)' may do it"},
	} {
		if got := lacked(c.all); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// SPEC 16.12: a name that leads elsewhere, as a link does, is refused: the person would be
// asked about another place than the one that is opened.
func TestHeldLink(t *testing.T) {
	dir, outside := must.Dir(t), must.Dir(t)
	must.Do(t, os.Symlink(outside, outside+".link"))
	must.Write(t, filepath.Join(outside, "f"), "x")
	ws := must.Get(workspace.Open(dir, workspace.Options{Outside: true}))(t)
	defer ws.Close()
	g := newDesk(t, permission.Config{}, true, event.No).Gate()
	g.Files = ws
	for what, want := range map[string]permission.Verdict{filepath.Join(outside, "f"): permission.Ask, filepath.Join(outside+".link", "f"): permission.Deny} {
		if _, v := g.held(&turn.Pending{}, process.Refusal{Act: process.ActRead, What: what}, permission.Decision{}); v != want {
			t.Errorf("%s: %v, want %v", what, v, want)
		}
	}
}
