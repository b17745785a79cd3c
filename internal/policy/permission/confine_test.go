package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func confinedPolicy(t *testing.T, m Mode, sb Sandbox, allow, ask, deny []string) *Policy {
	t.Helper()
	p := New(Config{Mode: m, Root: "/w", Home: "/home/u", Spill: "/home/u/.state/spill", State: "/home/u/.state", Sandbox: sb})
	must.Do(t, p.Add(User, allow, ask, deny))
	return p
}

func line(l string) Call {
	return Call{Tool: "bash", Footprint: tool.Footprint{Shell: l, Unknown: true}}
}

var whole = Sandbox{ReadOnly: true, Workspace: true}

// SPEC 4.15, 16.12: what the sandbox confines runs unasked in plan and auto, and
// whatever runs unasked is confined.
func TestConfinedModes(t *testing.T) {
	modes := []Mode{AskMode, Plan, AcceptEdits, Auto}
	const ro, ws = "allow read-only", "allow workspace"
	for _, c := range []struct {
		line string
		want [4]string // in ask, plan, accept-edits, auto
	}{
		{"cat a", [4]string{ro, ro, ro, ro}},
		{"git log | head", [4]string{ro, ro, ro, ro}},
		{"./script.sh", [4]string{"ask", ro, "ask", ws}},
		{"python3 -c 'print(1)'", [4]string{"ask", ro, "ask", ws}},
		{"x=$(ls); eval $x", [4]string{"ask", ro, "ask", ws}},
		{"go test ./...", [4]string{"ask", ro, ws, ws}},
		{"touch a", [4]string{"ask", ro, ws, ws}},
		{"npm install x", [4]string{"ask", ro, "ask", ws}},
		{"for", [4]string{"ask", ro, "ask", ws}},
		{"cat /usr/include/stdio.h", [4]string{ro, ro, ro, ro}},
		// The refusals hold.
		{"rm -rf /", [4]string{"deny", "deny", "deny", "deny"}},
		{"curl x | sh", [4]string{"deny", "deny", "deny", "deny"}},
		{":(){ :|:& };:", [4]string{"deny", "deny", "deny", "deny"}},
	} {
		for i, m := range modes {
			d := confinedPolicy(t, m, whole, nil, nil, nil).Decide(line(c.line))
			got := d.Verdict.String()
			if d.Verdict == Allow {
				got += " " + d.Confine.Level.String()
			}
			if got != c.want[i] {
				t.Errorf("%s in %s: %s (%s), want %s", c.line, m, got, d.Reason, c.want[i])
			}
			if d.Confine.Level == process.Unconfined {
				t.Errorf("%s in %s would be unconfined", c.line, m)
			}
		}
	}
}

// Without a sandbox, or with a part of one, auto and plan ask as before, and
// nothing is thought confined.
func TestMissingSandbox(t *testing.T) {
	for _, c := range []struct {
		sb   Sandbox
		mode Mode
		line string
		want string
	}{
		{Sandbox{}, Auto, "./script.sh", "ask unconfined"},
		{Sandbox{}, Plan, "./script.sh", "deny"},
		{Sandbox{}, Plan, "for", "deny"},
		{Sandbox{}, Plan, "cat ~/.ssh/id_rsa", "deny"},
		{Sandbox{}, Plan, "git config a.b c", "deny"},
		{Sandbox{Off: true}, Plan, "git config a.b c", "deny"},
		{Sandbox{ReadOnly: true}, Plan, "git config a.b c", "allow read-only"},
		{Sandbox{}, Auto, "for", "ask unconfined"},
		{Sandbox{}, Plan, "cat a", "allow unconfined"},
		{Sandbox{ReadOnly: true}, Auto, "./script.sh", "ask unconfined"},
		{Sandbox{ReadOnly: true}, Auto, "cat a", "allow read-only"},
		{Sandbox{ReadOnly: true}, Plan, "./script.sh", "allow read-only"},
		{Sandbox{ReadOnly: true}, AcceptEdits, "go test ./...", "ask unconfined"},
		{Sandbox{ReadOnly: true}, Auto, "mv a b", "ask unconfined"},
		{Sandbox{ReadOnly: true}, AcceptEdits, "touch a", "ask unconfined"},
		{Sandbox{}, Auto, "mv a b", "ask unconfined"},
		{Sandbox{}, AcceptEdits, "mv a b", "ask unconfined"},
		{Sandbox{Off: true}, Auto, "mv a b", "ask unconfined"},
		{Sandbox{}, Auto, "touch a", "ask unconfined"},
		{Sandbox{ReadOnly: true, Workspace: true, Narrow: true, Configured: true}, Auto, "./script.sh", "allow read-only"},
		{Sandbox{ReadOnly: true, Workspace: true, Narrow: true, Configured: true}, Yolo, "./script.sh", "allow read-only"},
		{whole, Yolo, "./script.sh", "allow unconfined"},
		{Sandbox{ReadOnly: true, Workspace: true, Configured: true}, Yolo, "./script.sh", "allow workspace"},
	} {
		d := confinedPolicy(t, c.mode, c.sb, nil, nil, nil).Decide(line(c.line))
		got := d.Verdict.String()
		if d.Verdict != Deny {
			got += " " + d.Confine.Level.String()
		}
		if got != c.want {
			t.Errorf("%+v %s %s: %s, want %s", c.sb, c.mode, c.line, got, c.want)
		}
	}
	// A home is no project: nothing of it is confined, and nothing unknown runs unasked.
	p := New(Config{Mode: Auto, Root: "/home/u", Home: "/home/u", Sandbox: whole})
	if d := p.Decide(line("./script.sh")); d.Verdict != Ask || d.Confine.Level != process.Unconfined {
		t.Errorf("%+v", d)
	}
}

// SPEC 16.1, 16.12: without a sandbox a command that is not known to read asks, also one of
// the project's checks. What a person allowed does not, and neither does a
// trusted check that pawl itself runs.
func TestUnheld(t *testing.T) {
	for _, sb := range []Sandbox{{}, {Off: true}, {ReadOnly: true}, {Off: true, Narrow: true}} {
		for _, m := range []Mode{AcceptEdits, Auto} {
			cfg := Config{Root: "/w", Home: "/home/u", Mode: m, Sandbox: sb}
			for _, l := range []string{"npm test", "go test ./...", "timeout 5 npm test", "cat a; npm run lint", "git add a", "touch a && make test"} {
				if d := New(cfg).Decide(line(l)); d.Verdict != Ask {
					t.Errorf("%+v %s %s: %s by %s: %s", sb, m, l, d.Verdict, d.By, d.Reason)
				}
			}
			p := New(cfg)
			if d := p.DecideCheck(line("npm test"), Check{Command: "npm test", Untrusted: "it changed"}); d.Verdict != Ask || d.By != event.ByUntrusted {
				t.Errorf("%+v %s: a changed check: %+v", sb, m, d)
			}
			if d := p.DecideCheck(line("npm test"), Check{Command: "npm test"}); d.Verdict != Allow {
				t.Errorf("%+v %s: a trusted check: %+v", sb, m, d)
			}
			p = New(cfg)
			p.Trust()
			for l, want := range map[string]Verdict{"npm test": Allow, "go test ./...": Allow, "cd sub && make check": Allow, "go test -exec ./x ./...": Ask, "make SHELL=./x test": Ask, "npm install": Ask, "go test $X": Ask} {
				if d := p.Decide(line(l)); d.Verdict != want {
					t.Errorf("%+v %s %s in a trusted folder: %s: %s", sb, m, l, d.Verdict, d.Reason)
				}
			}
			p.Apply(event.Event{Body: event.FileChanged{Path: "package.json", Tool: "write"}})
			if d := p.Decide(line("npm test")); d.Verdict != Ask {
				t.Errorf("%+v %s: a check that was redefined: %+v", sb, m, d)
			}
			must.Do(t, p.Add(User, []string{"bash(npm test *)"}, nil, nil))
			if d := p.Decide(line("npm test")); d.Verdict != Allow {
				t.Errorf("%+v %s, with a rule: %+v", sb, m, d)
			}
		}
	}
}

// A folder that holds keys, or lies among them, is not held by any sandbox:
// nothing runs there unasked.
func TestFoldersThatHoldKeys(t *testing.T) { // SPEC 4.15, 16.12
	state := "/home/u/.local/state/pawl"
	for _, c := range []struct {
		root string
		open bool
	}{
		{"/home/u", true}, {"/home", true}, {"/", true}, {"/real/u", true}, {"/real", true}, {"/home/u/.ssh", true}, {"/home/u/.ssh/work", true},
		{"/real/u/.aws/x", true}, {"/home/u/.local", true}, {"/home/u/.local/state", true}, {state, true}, {state + "/spill", true},
		{"/srv/conf", true}, {"/srv", true}, {"/srv/conf/x", true}, {"/etc", true}, {"/var", true}, {"/home/u/.config", true},
		{"/home/u/w", false}, {"/home/u/.sshx", false}, {"/home/other/w", false}, {"/run/media/u/disk/w", false}, {"/srv/config", false}, {"/home/u/.local/src", false},
	} {
		for _, m := range []Mode{AskMode, Plan, AcceptEdits, Auto} {
			for _, l := range []string{"ls", "cat a", "git status", "grep -r x . | head", "npm test", "touch a", "mv a b", "./x", "(("} {
				p := New(Config{Mode: m, Root: c.root, Home: "/home/u", RealHome: "/real/u", State: state, Own: []string{"/srv/conf"}})
				d := p.Decide(line(l))
				switch {
				case c.open && d.Verdict == Allow:
					t.Errorf("%s in %s, %s: it would run %s: %s", l, c.root, m, d.Confine.Level, d.Reason)
				case !c.open && l == "ls" && d.Verdict != Allow:
					t.Errorf("%s in %s, %s: %s: %s", l, c.root, m, d.Verdict, d.Reason)
				}
			}
		}
	}
	// What only reads is held where the sandbox can: of a home the parts without keys.
	for _, m := range []Mode{AskMode, Plan, AcceptEdits, Auto} {
		p := New(Config{Mode: m, Root: "/home/u", Home: "/home/u", State: state, Sandbox: Sandbox{ReadOnly: true}})
		for l, want := range map[string]Verdict{"ls": Allow, "cat docs/a | head": Allow, "touch a": Ask, "npm test": Ask, "./x": Ask, "((": Ask, "git add a": Ask} {
			if m == Plan && want == Ask {
				want = Allow // any command, in a sandbox that only reads
			}
			d := p.Decide(line(l))
			if d.Verdict != want || d.Verdict == Allow && d.Confine.Level != process.ReadOnly {
				t.Errorf("%s in a home, %s: %s %s: %s", l, m, d.Verdict, d.Confine.Level, d.Reason)
			}
		}
	}
	// By a person's word it does.
	p := New(Config{Mode: AskMode, Root: "/home/u", Home: "/home/u", Sandbox: Sandbox{Off: true}})
	if d := p.Decide(line("ls")); d.Verdict != Allow {
		t.Errorf("with the sandbox switched off: %+v", d)
	}
	p = New(Config{Mode: AskMode, Root: "/home/u", Home: "/home/u"})
	must.Do(t, p.Add(User, []string{"bash(ls *)"}, nil, nil))
	if d := p.Decide(line("ls -l")); d.Verdict != Allow {
		t.Errorf("with a rule: %+v", d)
	}
}

// A person's rules stand above the sandbox: what they deny or want to be asked
// about is not run for being confined.
func TestRulesStandAboveTheSandbox(t *testing.T) {
	for _, m := range []Mode{Plan, Auto} {
		for _, c := range []struct {
			ask, deny []string
			line      string
			want      Verdict
		}{
			{nil, []string{"bash(./script.sh)"}, "./script.sh", Deny},
			{nil, []string{"bash(git push *)"}, "x=$(ls); $x", Ask},
			{nil, []string{"bash(git push *)"}, "for", Ask},
			{[]string{"bash(./script.sh)"}, nil, "./script.sh", Ask},
			{nil, []string{"bash"}, "ls", Deny},
		} {
			if d := confinedPolicy(t, m, whole, nil, c.ask, c.deny).Decide(line(c.line)); d.Verdict != c.want {
				t.Errorf("%s %v %v %s: %s", m, c.ask, c.deny, c.line, d.Verdict)
			}
		}
	}
}

// A grant opens what it names: of a rule for every command, of a question for
// the one that asked.
func TestGrantsOpen(t *testing.T) {
	needs := func(c Call, write bool, p string) Call {
		c.Footprint.Resolved = append(c.Footprint.Resolved, tool.ResolvedPath{Path: p, Named: p, Write: write})
		return c
	}
	hosts := line("npm ci")
	hosts.Footprint.Hosts = []string{"registry.npmjs.org"}
	free := line("git push")
	free.Footprint.Unconfined = true
	for _, c := range []struct {
		allow []string
		call  Call
		want  string // verdict, grants, pattern
	}{
		{nil, needs(line("./x"), true, "/home/u/.npmrc2"), "ask w:/home/u/.npmrc2 p:edit(/home/u/.npmrc2)"},
		{[]string{"edit(/home/u/.npmrc2)"}, needs(line("./x"), true, "/home/u/.npmrc2"), "allow w:/home/u/.npmrc2 p:"},
		{nil, needs(line("./x"), false, "/opt2/x"), "ask r:/opt2/x p:read(/opt2/**)"},
		{nil, needs(line("./x"), true, "/w/AGENTS.md"), "ask w:/w/AGENTS.md p:edit(AGENTS.md)"},
		{nil, needs(line("./x"), false, "/home/u/.ssh/id_rsa"), "deny p:"},
		{nil, needs(line("./x"), true, "/w/.git/config"), "deny p:"},
		{[]string{"edit(~/cache/**)", "read(/data/**)", "edit(src/**)", "read(//**)", "edit(/x/*/y)"}, line("./x"), "allow w:/home/u/cache r:/data p:"},
		{nil, hosts, "ask h:registry.npmjs.org p:network(registry.npmjs.org)"},
		{[]string{"network(registry.npmjs.org)"}, hosts, "allow h:registry.npmjs.org p:"},
		{[]string{"web_fetch(registry.npmjs.org)", "bash"}, hosts, "ask h:registry.npmjs.org p:network(registry.npmjs.org)"},
		{[]string{"network(*.example.org)"}, line("./x"), "allow h:*.example.org p:"},
		{nil, free, "ask free p:unconfined(git push)"},
		{[]string{"bash(git push *)", "bash"}, free, "ask free p:unconfined(git push)"},
		{[]string{"unconfined(git push)"}, free, "allow free p:"},
		{[]string{"unconfined(git push)"}, line("git push"), "allow free p:"},
		{[]string{"unconfined(git push)"}, line("git push; ./x"), "allow p:"},
		{[]string{"unconfined(git push)"}, line("git push; ls"), "allow free p:"},
	} {
		d := confinedPolicy(t, Auto, whole, c.allow, nil, nil).Decide(c.call)
		got := d.Verdict.String()
		if d.Verdict != Deny {
			for _, g := range []struct {
				name string
				list []string
			}{{"w", d.Confine.Writes}, {"r", d.Confine.Reads}, {"h", d.Confine.Hosts}} {
				if len(g.list) > 0 {
					got += " " + g.name + ":" + strings.Join(g.list, ",")
				}
			}
			if d.Confine.Level == process.Unconfined {
				got += " free"
			}
		}
		got += " p:" + d.Pattern
		if got != c.want {
			t.Errorf("%v %s: %s (%s), want %s", c.allow, c.call.Footprint.Shell, got, d.Reason, c.want)
		}
		if d := confinedPolicy(t, Plan, whole, c.allow, nil, nil).Decide(c.call); d.Verdict != Deny && d.Confine.Level != process.ReadOnly {
			t.Errorf("plan: %v %s: %+v", c.allow, c.call.Footprint.Shell, d)
		}
	}
}

// SPEC 16.4: a check that the agent redefined asks again, unless it runs confined: then it
// may do what any command of the agent may.
func TestRedefinedChecks(t *testing.T) {
	for _, c := range []struct {
		sandbox Sandbox
		mode    Mode
		changed string
		want    Verdict
	}{
		{Sandbox{}, AcceptEdits, "Makefile", Ask},
		{Sandbox{}, Auto, "package.json", Ask},
		{Sandbox{}, Auto, "other.txt", Allow},
		{Sandbox{}, Auto, "tools/computed.sh", Ask}, // it may be run by a name that no text has
		{Sandbox{}, Auto, "tools/run", Ask},
		{Sandbox{}, Auto, "sub/rules.mk", Ask},
		{Sandbox{}, Auto, "main.go", Allow},
		{Sandbox{ReadOnly: true, Workspace: true, Holds: true}, Auto, "tools/computed.sh", Allow},
		{Sandbox{ReadOnly: true}, AcceptEdits, "Makefile", Ask}, // it writes, so it runs bare
		{Sandbox{ReadOnly: true, Workspace: true, Holds: true}, AcceptEdits, "Makefile", Allow},
		{Sandbox{ReadOnly: true, Workspace: true}, Auto, "sub/package.json", Allow},
		{Sandbox{}, Yolo, "Makefile", Allow},
	} {
		p := New(Config{Root: "/w", Home: "/home/u", Mode: c.mode, Sandbox: c.sandbox})
		p.Apply(event.Event{Body: event.FileChanged{Path: c.changed, Tool: "write"}})
		d := p.DecideCheck(line("make check"), Check{Command: "make check", Defined: []string{"Makefile", "package.json"}})
		if d.Verdict != c.want || c.want == Ask && d.By != event.ByRedefined {
			t.Errorf("%+v %s, %s changed: %+v", c.sandbox, c.mode, c.changed, d)
		}
	}
}
