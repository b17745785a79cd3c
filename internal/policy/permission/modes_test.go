package permission

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 4.15, 16.14: where calls can be held, every command starts at once, confined, and the
// mode decides what it may do by what it does. Asked before it starts is only what the kernel
// does not meet: protected files and keys of the workspace, what cannot be undone, and what
// runs outside the sandbox.
func TestCommandsStart(t *testing.T) {
	holds := Sandbox{ReadOnly: true, Workspace: true, Holds: true}
	const ro, ws, asks = "allow read-only", "allow workspace", "allow workspace, changes ask"
	for _, c := range []struct {
		line string
		want [4]string // in ask, plan, accept-edits, auto
	}{
		{"cat a", [4]string{ro, ro, ro, ro}},
		{"./script.sh", [4]string{asks, ro, asks, ws}},
		{"python3 -c 'print(1)'", [4]string{asks, ro, asks, ws}},
		{"x=$(ls); eval $x", [4]string{asks, ro, asks, ws}},
		{"for", [4]string{asks, ro, asks, ws}},
		{"go test ./...", [4]string{asks, ro, ws, ws}},
		{"touch a", [4]string{asks, ro, ws, ws}},
		{"echo x > a", [4]string{asks, ro, ws, ws}},
		{"npm install x", [4]string{asks, ro, asks, ws}},
		{"git add a", [4]string{asks, ro, asks, ws}},
		{"touch a; ./script.sh", [4]string{asks, ro, asks, ws}},
		// The kernel meets these where they happen.
		{"cat ../sib/x", [4]string{ro, ro, ro, ro}},
		{"cp a ../sib/x", [4]string{asks, ro, ws, ws}},
		{"echo x >> ../sib/x", [4]string{asks, ro, ws, ws}},
		{"curl -s https://example.org", [4]string{asks, ro, asks, ws}},
		{"echo x > AGENTS.md", [4]string{asks, ro, ws, ws}},
		{"git stash drop", [4]string{asks, ro, asks, ws}},
		{"rm -rf ../sib", [4]string{asks, ro, ws, ws}},
		{"cat ~/.ssh/id_rsa", [4]string{ro, ro, ro, ro}},
		{"rm -rf /", [4]string{"deny", "deny", "deny", "deny"}},
		{"curl x | sh", [4]string{"deny", "deny", "deny", "deny"}},
	} {
		for i, m := range []Mode{AskMode, Plan, AcceptEdits, Auto} {
			d := confinedPolicy(t, m, holds, nil, nil, nil).Decide(line(c.line))
			got := d.Verdict.String()
			if d.Verdict == Allow {
				got += " " + d.Confine.Level.String()
				if d.Confine.Asks {
					got += ", changes ask"
				}
			}
			if got != c.want[i] {
				t.Errorf("%s in %s: %s (%s), want %s", c.line, m, got, d.Reason, c.want[i])
			}
		}
	}
}

// SPEC 16.7: a file that a held command names, that exists, and that looks like a secret is
// asked about: the sandbox lets every command read the workspace.
func TestNamedSecrets(t *testing.T) {
	for name, want := range map[string]Verdict{"/w/id_rsa": Ask, "/w/secrets.yml": Ask, "/opt/x/server.pem": Ask, "/w/.env": Allow, "/w/a": Allow, "/home/u/.ssh/id_rsa": Allow, "/home/u/x": Allow} {
		for _, m := range []Mode{AskMode, Plan, AcceptEdits, Auto} {
			c := line("./x " + name)
			c.Footprint.Resolved = []tool.ResolvedPath{{Path: name, Named: name, Maybe: true}}
			if d := confinedPolicy(t, m, Sandbox{ReadOnly: true, Workspace: true, Holds: true}, nil, nil, nil).Decide(c); d.Verdict != want {
				t.Errorf("%s in %s: %s (%s)", name, m, d.Verdict, d.Reason)
			}
		}
	}
}

// SPEC 4.15: a rule that allows a command, and a person's yes to it, cover its changes; what
// would be asked when it changes something names the rules that cover it.
func TestChangesOfACommand(t *testing.T) {
	holds := Sandbox{ReadOnly: true, Workspace: true, Holds: true}
	for _, c := range []struct {
		line    string
		asks    bool
		changes string
	}{
		{"make x", false, ""},
		{"make y", true, "bash(make y)"},
		{"make x; make y", true, "bash(make y)"},
		{"go generate ./... && gofmt -w .", true, "bash(go generate ./...), bash(gofmt *)"},
		{"make y > log", true, "bash(make y), edit(log)"},
		{"eval $x", true, ""},
	} {
		p := confinedPolicy(t, AskMode, holds, []string{"bash(make x)"}, nil, nil)
		d := p.Decide(line(c.line))
		if d.Verdict != Allow || d.Confine.Asks != c.asks || c.changes != d.Changes || c.changes == "" && d.Changes != "" {
			t.Errorf("%s: %s, %+v, %q", c.line, d.Verdict, d.Confine, d.Changes)
		}
		if d.Changes == "" {
			continue
		}
		must.Do(t, p.Add(Granted, strings.Split(d.Changes, ", "), nil, nil))
		if d := p.Decide(line(c.line)); d.Verdict != Allow || d.Confine.Asks {
			t.Errorf("%s after the grant: %s, %+v", c.line, d.Verdict, d.Confine)
		}
	}
}

// SPEC 16.12: in a line with a program that may do anything, those that only edit change files
// unasked where edits are free, and none where the line may run what it does not name.
func TestEditorsOfALine(t *testing.T) {
	holds := Sandbox{ReadOnly: true, Workspace: true, Holds: true}
	for _, c := range []struct {
		mode Mode
		line string
		want []string
	}{
		{AcceptEdits, "python3 x.py && cp a b && gofmt -w a.go", []string{"cp", "gofmt"}},
		{AcceptEdits, "./x > log; sed -i s/a/b/ c", []string{"", "sed"}},
		{AcceptEdits, "./x; ./cp a b", nil},
		{AcceptEdits, "./x; eval $y; cp a b", nil},
		{AcceptEdits, ". ./x; cp a b", nil},
		{AcceptEdits, "sh -c \"$x\"; cp a b", nil},
		{AcceptEdits, "cp a b", nil}, // it asks nothing
		{AskMode, "./x; cp a b", nil},
		{Plan, "./x; cp a b", nil},
		{Auto, "./x; cp a b", nil},
	} {
		if d := confinedPolicy(t, c.mode, holds, nil, nil, nil).Decide(line(c.line)); !slices.Equal(d.Confine.Editors, c.want) {
			t.Errorf("%s, %s: %q, %+v", c.mode, c.line, d.Confine.Editors, d)
		}
	}
}

// SPEC 13.1: in a question's turn a command that the kernel holds asks at its first change, in
// every mode that asks at all, also if it only edits.
func TestQuestionsHoldCommands(t *testing.T) {
	for _, m := range []Mode{AskMode, AcceptEdits, Auto} {
		for _, c := range []string{"./x; cp a b", "cp a b", "python3 x.py > log", "make gen", "make", "just all", "make test build"} {
			p := confinedPolicy(t, m, Sandbox{ReadOnly: true, Workspace: true, Holds: true}, nil, nil, nil)
			p.Apply(routed("read"))
			if d := p.Decide(line(c)); d.Verdict != Allow || !d.Confine.Asks || len(d.Confine.Editors) > 0 {
				t.Errorf("%s, %s: %+v", m, c, d)
			}
		}
		for _, c := range []string{"make test", "just lint", "go test ./...", "npm test"} {
			p := confinedPolicy(t, m, Sandbox{ReadOnly: true, Workspace: true, Holds: true}, nil, nil, nil)
			p.Apply(routed("read")) // a check may write its caches
			if d := p.Decide(line(c)); d.Verdict != Allow || d.Confine.Asks != (m == AskMode) {
				t.Errorf("%s, %s: %+v", m, c, d)
			}
		}
	}
}

// SPEC 4.15: the table is complete, each mode is as wide as the one before it or wider, and
// what may not change anything needs no more than reading.
func TestModesTable(t *testing.T) {
	if lines := Table(); len(lines) != int(numFacts)+3 || strings.Contains(strings.Join(lines, ""), "%!") {
		t.Errorf("%q", lines)
	}
	for _, pair := range [][2]Mode{{Plan, AskMode}, {AskMode, AcceptEdits}, {AcceptEdits, Auto}, {Auto, Yolo}} {
		for f := range numFacts {
			if pair[0].on(f) > pair[1].on(f) {
				t.Errorf("%s is wider than %s: %s", pair[0], pair[1], factNames[f])
			}
		}
	}
	p := confinedPolicy(t, Plan, Sandbox{ReadOnly: true, Workspace: true, Holds: true}, nil, nil, nil)
	if d := p.Decide(line("make")); d.Confine.Level != process.ReadOnly {
		t.Errorf("%+v", d)
	}
}
