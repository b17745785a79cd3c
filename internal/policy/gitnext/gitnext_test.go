package gitnext

import (
	"fmt"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 16.16: what is told: files that somebody runs, links that lead out, repositories
// that are there; each once, and none that lies in the workspace.
func TestFound(t *testing.T) {
	entry := func(path string, mode uint32, target string, lies bool) Entry {
		return Entry{Path: path, Mode: mode, Target: func() string { return target }, Lies: func() bool { return lies }}
	}
	who := func(file string) string { return map[string]string{"run": "make", "sub/run": "make"}[file] }
	got := Found([]Side{
		{In: "index", Entries: []Entry{
			entry("run", 0o100644, "", false), entry("other", 0o100644, "", false), entry("sub/run", 0o100755, "", true),
			entry("in", Link, "sub/f", false), entry("a/up", Link, "../f", false), entry("a/out", Link, "../../f", false), entry("abs", Link, "/tmp", false), entry("mine", Link, "/tmp", true),
			entry("repo", Repository, "", true), entry("none", Repository, "", false),
		}},
		{In: "branch b", Entries: []Entry{entry("run", 0o100644, "", false)}},
		{In: "branch c", Why: "not looked at"},
	}, who)
	want := []event.GitFile{
		{Path: "run", In: "index", By: "make"}, {Path: "a/out", In: "index", By: "a link to ../../f"}, {Path: "abs", In: "index", By: "a link to /tmp"},
		{Path: "repo", In: "index", By: "git, as a repository of its own"}, {In: "branch c", By: "not looked at"},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	var many []Entry
	for i := range 30 {
		many = append(many, entry(fmt.Sprint(i), 0o100644, "", false))
	}
	if got := Found([]Side{{Entries: many}}, func(string) string { return "x" }); len(got) != most || got[most-1].More != 10 {
		t.Errorf("%d, %d more", len(got), got[len(got)-1].More)
	}
}
