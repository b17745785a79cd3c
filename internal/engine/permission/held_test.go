package permission

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/process"
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
