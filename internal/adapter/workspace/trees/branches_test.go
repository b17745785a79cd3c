package trees

import (
	"strings"
	"testing"
	"time"
)

// SPEC 14.2: a task's branch has its change alone, where that stands alone; a branch that a
// person went on with stays as it is.
func TestBranches(t *testing.T) {
	dir := project(t, true, map[string]string{"a": "1\n2\n3\n4\n5\n6\n7\n8\n"})
	s := open(t, dir)
	base := must[string](t)(s.Snapshot(t.Context()))
	ground := must[string](t)(s.Ground(t.Context(), base))
	if head := run(t, dir, "rev-parse", "HEAD"); ground != head {
		t.Errorf("the ground is %s, not %s", ground, head)
	}
	change := func(name, on, text string) string {
		tree := must[string](t)(s.Checkout(t.Context(), name, on))
		write(t, tree, map[string]string{"a": text})
		return must[string](t)(s.Commit(t.Context(), name, on, name))
	}
	one := change("one", base, "one\n2\n3\n4\n5\n6\n7\n8\n")
	merged, _, err := s.Merge(t.Context(), base, one, "one")
	if err != nil {
		t.Fatal(err)
	}
	two := change("two", merged, "one\n2\n3\n4\n5\n6\n7\ntwo\n")
	needs := change("needs", merged, "one more\n2\n3\n4\n5\n6\n7\n8\n")
	alone := must[string](t)(s.Pick(t.Context(), ground, merged, two, "two", time.Unix(1, 0)))
	if diff := must[string](t)(s.Diff(t.Context(), ground, alone)); !strings.Contains(diff, "+two") || strings.Contains(diff, "+one") {
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
	if now := must[string](t)(s.Snapshot(t.Context())); now != must[string](t)(s.Ground(t.Context(), now)) {
		t.Error("what is not committed is not in the ground")
	}
	empty := project(t, false, map[string]string{"a": "1"})
	e := open(t, empty)
	if _, err := e.Repository(t.Context()); err == nil {
		t.Error("a folder without a repository is taken for one")
	}
	first := must[string](t)(e.Snapshot(t.Context()))
	if g := must[string](t)(e.Ground(t.Context(), first)); g != first {
		t.Errorf("%s", g)
	}
}
