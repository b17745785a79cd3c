package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
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
					if err := f(); err != nil {
						t.Fatal(err)
					}
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
	if d := policy(t, Ask4All, Project, []string{"bash(make *)"}, nil, nil).Decide(bash("make x")); d.Verdict != Ask {
		t.Errorf("a project allows: %s", d.Reason)
	}
}

// SPEC 4.15: a grant of this session, old ones of the log included, lets no
// later destruction run unasked, and none is offered.
func TestNoStandingGrantDestroys(t *testing.T) {
	for _, line := range []string{
		"rm -rf /opt/x", "rm /tmp/x", "rm -r /tmp/x/y", "rm ~/old.txt", "rmdir /opt/x", "rm -rf ../sib", "rm a /tmp/x", "cd /tmp && rm x", "mv /tmp/x .", "find /tmp/x -delete",
		"unlink /tmp/x", "shred f", "truncate -s 0 /tmp/x", "git stash drop", "git branch -D topic", "git clean -fdx", "git reflog expire --all", "git tag -d v1", "rsync -a --delete a/ b", "docker system prune", "kubectl delete ns x",
	} {
		p := policy(t, Ask4All, User, nil, nil, nil)
		d := p.Decide(bash(line))
		if d.Verdict != Ask || d.Pattern != "" || d.CanAlways {
			t.Errorf("%s: %s, a grant of %q is offered, for always %t", line, d.Verdict, d.Pattern, d.CanAlways)
		}
		for _, r := range []string{"bash(" + line + ")", "bash", "edit(/opt/**)", "edit(/tmp/**)", "edit(~/**)", "edit(../**)"} {
			p.Apply(event.Event{Body: event.Granted{Rule: r, Scope: event.Session}})
		}
		if d := p.Decide(bash(line)); d.Verdict != Ask {
			t.Errorf("%s runs by a grant: %s", line, d.Reason)
		}
	}
	// A person's own rule is another matter, and what the workspace's copies
	// bring back can be granted.
	if d := policy(t, Ask4All, Flag, []string{"bash(rm *)", "edit(/tmp/**)"}, nil, nil).Decide(bash("rm /tmp/x")); d.Verdict != Allow {
		t.Errorf("a flag does not allow: %s", d.Reason)
	}
	if d := policy(t, Ask4All, User, nil, nil, nil).Decide(bash("rm -r build")); d.Pattern == "" {
		t.Error("rm inside the workspace cannot be granted")
	}
	if d := policy(t, Ask4All, User, nil, nil, nil).Decide(bash("rm /tmp/x")); !strings.Contains(d.Flag, "--allow") {
		t.Errorf("no flag is named: %q", d.Flag)
	}
}

// SPEC 4.15: in the root of the system or in a home nothing is changed without
// asking but in yolo.
func TestWideFolder(t *testing.T) {
	for root, wide := range map[string]bool{"/": true, "/home": true, "/home/me": true, "/home/me/": true, "/home/me/w": false, "/srv": false} {
		if Wide(root, "/home/me") != wide {
			t.Errorf("%s: wide %t", root, !wide)
		}
		for _, m := range []Mode{AcceptEdits, Auto, Yolo} {
			p := New(Config{Mode: m, Root: root, Home: "/home/me"})
			p.Trust()
			for _, c := range []Call{file("write", []string{"new.txt"}, nil), bash("echo x > new.txt"), bash("mkdir a"), bash("go test ./...")} {
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

// SPEC 4.15: a search of a folder that holds what a deny rule on reading names
// asks in every mode; one beside it does not.
func TestSearchOfDenied(t *testing.T) {
	for line, want := range map[string]Verdict{
		"grep -r x .": Ask, "grep -rn x": Ask, "rg x": Ask, "git grep x": Ask, "grep -r x a": Ask, "diff -r a b": Ask, "grep -r x a/secret": Deny,
		// A release takes the word after an option as its value, another as an option.
		"rg -n -C -uA 3 x": Ask, "rg -A -C 3 x src": Ask, "rg --context -g x src": Ask, "rg -m -j 1 x src": Ask, "rg -C -- x src": Ask, "rg -nr -v x src": Ask,
		"rg -C 3 x src": Allow, "rg -e -x src": Allow, "rg --context=3 -n x src": Allow,
		"grep -r x src": Allow, "rg x src": Allow, "grep x f": Allow, "ls": Allow,
	} {
		for _, m := range []Mode{AcceptEdits, Auto, Yolo} {
			if d := policy(t, m, User, nil, nil, []string{"read(a/secret/**)"}).Decide(bash(line)); d.Verdict != want {
				t.Errorf("%s in %s: %s (%s)", line, m, d.Verdict, d.Reason)
			}
		}
	}
}
