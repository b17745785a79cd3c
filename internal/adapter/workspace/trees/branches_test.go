package trees

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.2: a task's branch has its change alone, where that stands alone; a branch that a
// person went on with stays as it is.
func TestBranches(t *testing.T) {
	dir := project(t, true, map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n8\n"})
	s := open(t, dir)
	base := must.Get(s.Snapshot(t.Context()))(t)
	ground := must.Get(s.Ground(t.Context(), base))(t)
	if head := run(t, dir, "rev-parse", "HEAD"); ground != head {
		t.Errorf("the ground is %s, not %s", ground, head)
	}
	change := func(name, on, text string) string {
		tree := must.Get(s.Checkout(t.Context(), name, on))(t)
		write(t, tree, map[string]string{"a": text})
		return must.Get(s.Commit(t.Context(), name, on, name))(t)
	}
	one := change("one", base, "one\n2\n3\n4\n5\n6\n7\n8\n")
	merged, _, err := s.Merge(t.Context(), base, one, "one")
	if err != nil {
		t.Fatal(err)
	}
	two := change("two", merged, "one\n2\n3\n4\n5\n6\n7\ntwo\n")
	needs := change("needs", merged, "one more\n2\n3\n4\n5\n6\n7\n8\n")
	alone := must.Get(s.Pick(t.Context(), ground, merged, two, "two", time.Unix(1, 0)))(t)
	if diff := must.Get(s.Diff(t.Context(), ground, alone))(t); !strings.Contains(diff, "+two") || strings.Contains(diff, "+one") {
		t.Error(diff)
	}
	if c, err := s.Pick(t.Context(), ground, merged, needs, "x", time.Unix(1, 0)); c != "" || err != nil {
		t.Errorf("%s, %v", c, err)
	}
	for range 2 { // after a crash in between it is done again
		if err := s.Publish(t.Context(), ground, []Branch{{"pawl/x/two", alone}, {"pawl/x/needs", needs}}); err != nil {
			t.Fatal(err)
		}
	}
	run(t, dir, "branch", "-f", "pawl/x/two", "HEAD")
	if err := s.Publish(t.Context(), ground, []Branch{{"pawl/x/two", alone}}); err != nil {
		t.Fatal(err)
	}
	if run(t, dir, "rev-parse", "pawl/x/two") != ground || run(t, dir, "rev-parse", "pawl/x/needs") != needs {
		t.Error("a branch is not what it was made")
	}
	run(t, dir, "fsck", "--strict", "--no-dangling")

	write(t, dir, map[string]string{"b": "new\n"}) // not committed
	if now := must.Get(s.Snapshot(t.Context()))(t); now != must.Get(s.Ground(t.Context(), now))(t) {
		t.Error("what is not committed is not in the ground")
	}
	empty := project(t, false, map[string]string{"a": "1"})
	e := open(t, empty)
	if _, err := e.Repository(t.Context()); err == nil {
		t.Error("a folder without a repository is taken for one")
	}
	first := must.Get(e.Snapshot(t.Context()))(t)
	if g := must.Get(e.Ground(t.Context(), first))(t); g != first {
		t.Errorf("%s", g)
	}
}
