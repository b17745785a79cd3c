package permission

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 16.3: a protected name is protected outside the root too, in every mode.
func TestProtectedOutside(t *testing.T) {
	for _, p := range []string{"/home/me/other/AGENTS.md", "/home/me/.claude/settings.json", "/srv/x/.git/info/exclude", "/home/me/other/.vscode/tasks.json", "/tmp/.envrc", "/tmp/x/.mcp.json", "/home/me/CLAUDE.md", "/home/me/o/.Claude/x"} {
		for _, m := range Modes() {
			for name, c := range map[string]Call{"tool": file("write", []string{p}, nil), "shell": bash("echo x > " + p)} {
				d := policy(t, m, User, nil, nil, nil).Decide(c)
				if want := map[bool]Verdict{true: Deny, false: Ask}[m == Plan]; d.Verdict != want && d.By != "refusal" {
					t.Errorf("%s by %s in %s: %s (%s)", p, name, m, d.Verdict, d.Reason)
				}
			}
		}
	}
}

// SPEC 4.15: where an ask rule and an allow rule are equally specific it asks,
// whoever gave them and in whatever order.
func TestAskWinsATie(t *testing.T) {
	for _, c := range []struct{ allow, ask, line string }{
		{"bash(git push *)", "bash(git push *)", "git push origin"},
		{"bash(make deploy)", "bash(make deploy)", "make deploy"},
		{"bash", "bash", "make deploy"},
		{"edit(src/**)", "edit(src/**)", "echo x > src/a"},
		{"edit(src/*.go)", "edit(src/*.md)", "echo x > src/a.md"},
		{"read(/etc/hosts)", "read(/etc/hosts)", "cat /etc/hosts"},
	} {
		for _, from := range []Source{User, Project, Flag} {
			for _, first := range []bool{true, false} {
				p := policy(t, Yolo, User, nil, nil, nil)
				add := []func() error{func() error { return p.Add(User, []string{c.allow}, nil, nil) }, func() error { return p.Add(from, nil, []string{c.ask}, nil) }}
				if !first {
					add[0], add[1] = add[1], add[0]
				}
				for _, f := range add {
					must.Do(t, f())
				}
				if d := p.Decide(bash(c.line)); d.Verdict != Ask || d.By != "rule" || d.Rule != c.ask {
					t.Errorf("%s against %s of %s: %s %s", c.allow, c.ask, from, d.Verdict, d.Reason)
				}
			}
		}
	}
}

// SPEC 16.2: a project's ask and deny rules count, its allow rules do not.
func TestProjectRulesNarrow(t *testing.T) {
	for _, c := range []struct {
		rule, line string
		call       Call
	}{
		{"bash(go test *)", "go test ./...", Call{}}, {"bash(ls *)", "ls src", Call{}}, {"edit(src/**)", "echo x > src/a", Call{}}, {"read(secret/**)", "cat secret/a", Call{}},
		{"web_fetch(example.com)", "", Call{Tool: "web_fetch", ReadOnly: true, Footprint: tool.Footprint{Hosts: []string{"example.com"}}}},
		{"edit(src/**)", "", file("edit", []string{"src/a"}, nil)}, {"read(b.txt)", "", file("read", nil, []string{"b.txt"})},
	} {
		call := c.call
		if c.line != "" {
			call = bash(c.line)
		}
		for _, m := range []Mode{AcceptEdits, Auto, Yolo} {
			if d := policy(t, m, Project, nil, []string{c.rule}, nil).Decide(call); d.Verdict != Ask || d.Rule != c.rule {
				t.Errorf("ask %s in %s: %s (%s)", c.rule, m, d.Verdict, d.Reason)
			}
			if d := policy(t, m, Project, nil, nil, []string{c.rule}).Decide(call); d.Verdict != Deny {
				t.Errorf("deny %s in %s: %s (%s)", c.rule, m, d.Verdict, d.Reason)
			}
		}
	}
	if d := policy(t, AskMode, Project, []string{"bash(make *)"}, nil, nil).Decide(bash("make x")); d.Verdict != Ask {
		t.Errorf("a project allows: %s", d.Reason)
	}
}

// SPEC 4.15: in the root of the system or in a home nothing is changed without
// asking but in yolo.
func TestWideFolder(t *testing.T) {
	for root, wide := range map[string]bool{"/": true, "/home": true, "/home/me": true, "/home/me/": true, "/home/me/w": false, "/srv": false} {
		if HoldsHome(root, "/home/me") != wide {
			t.Errorf("%s: wide %t", root, !wide)
		}
		for _, m := range []Mode{AcceptEdits, Auto, Yolo} {
			p := New(Config{Mode: m, Root: root, Home: "/home/me"})
			for _, c := range []Call{file("write", []string{"new.txt"}, nil), bash("echo x > new.txt")} {
				want := Allow
				if wide && m != Yolo {
					want = Ask
				}
				if d := p.Decide(c); d.Verdict != want {
					t.Errorf("%+v in %s of %s: %s (%s)", c.Footprint, m, root, d.Verdict, d.Reason)
				}
			}
			if d := p.Decide(file("read", nil, []string{"new.txt"})); d.Verdict != Allow {
				t.Errorf("reading in %s: %s", root, d.Reason)
			}
		}
	}
}

// SPEC 4.15: without a sandbox, what searches asks where a deny rule is about reading: it may
// find what the rule names.
func TestSearchOfDenied(t *testing.T) {
	for line, want := range map[string]Verdict{"grep -r x .": Ask, "rg x": Ask, "git grep x": Ask, "ls": Ask, "cat a/secret/x": Deny, "cat b": Allow, "head -3 src/a": Allow} {
		for _, m := range []Mode{AcceptEdits, Auto} {
			if d := policy(t, m, User, nil, nil, []string{"read(a/secret/**)"}).Decide(bash(line)); d.Verdict != want {
				t.Errorf("%s in %s: %s (%s)", line, m, d.Verdict, d.Reason)
			}
		}
	}
}
