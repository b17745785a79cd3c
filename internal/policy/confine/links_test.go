package confine

import "testing"

// SPEC 16.3, 16.12: no link of the workspace leads to where every name is free, at
// once or later.
func TestLeadsFree(t *testing.T) {
	p := New(Workspace, facts) // writes /home/u/.cache/pawl/sandbox and /tmp/pawl-1
	resolve := func(s string) string {
		if s == "/home/u/w/short" {
			return "/tmp/pawl-1/r"
		}
		return s
	}
	for _, c := range []struct {
		dir, target string
		want        bool
	}{
		{"/home/u/w", "/tmp/pawl-1/r", true}, {"/home/u/w", "/tmp/pawl-1", true}, {"/home/u/w", "/tmp", true}, {"/home/u/w", "/", true}, {"/home/u/w", "/home/u", true},
		{"/home/u/w", "/home/u/.cache/pawl/sandbox/x", true}, {"/home/u/w", "../.cache/pawl/sandbox/x", true}, {"/home/u/w/a/b", "../../../.cache/pawl/sandbox", true},
		{"/home/u/w", "short", true}, {"/home/u/w", "x/../../.cache", true}, {"/home/u/w", "/usr/../tmp/pawl-1/r", true}, {"/home/u/w", "a/../b", true},
		{"/home/u/w/a/b/c/d", "../../../tmp/pawl-1/r", true}, {"/home/u/w/a/b/c/d", "../.cache/pawl/sandbox/x", true}, {"/home/u/w/a/b", "../.cache", true}, // moved up, they would
		{"/home/u/w/a/b/c/d", "../../tmp/pawl-1/r", false}, {"/home/u/w/a", "../home", false}, {"/home/u/w/a", "../tmp", false}, {"/home/u/w/a", "../sandbox/lib", false},
		{"/home/u/w", "a", false}, {"/home/u/w/a", "../b", false}, {"/home/u/w", "./a/b", false}, {"/home/u/w", "/usr/bin/python3", false}, {"/home/u/w", "../out", false},
		{"/home/u/w/a/b", "../../lib/x.so", false}, {"/home/u/w", "/tmp/pawl-12", false}, {"/home/u/w", "none", false}, {"/home/u/w/.venv/bin", "python3", false},
		{"/home/u/w/node_modules/.bin", "../p/cli.js", false}, {"/home/u/w", "..x", false}, {"/home/u/w/a/b", "../c", false},
	} {
		if got := p.LeadsFree(c.dir, c.target, resolve); got != c.want {
			t.Errorf("LeadsFree(%s, %s) = %v", c.dir, c.target, got)
		}
	}
	if (Policy{}).LeadsFree("/", "/x", resolve) {
		t.Error("without free folders")
	}
}
