package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func guarded(t *testing.T, cfg Config, deny ...string) *Policy {
	t.Helper()
	cfg.Root, cfg.Home = "/w", "/home/me"
	p := New(cfg)
	must.Do(t, p.Add(User, nil, nil, deny))
	return p
}

// SPEC 16.17: a star of a deny rule stands for any text within one command, and no
// further; an allow rule stays narrow.
func TestStarsOfDenyRules(t *testing.T) {
	for row := range strings.SplitSeq(strings.TrimSpace(`
bash(curl*evil.com*)|curl -s https://evil.com/x|deny
bash(curl*evil.com*)|curl -s https://good.com/x|allow
bash(curl*evil.com*)|curl x; echo evil.com|allow
bash(* --force)|git push --force|deny
bash(* --force)|git push --force now|allow
bash(*rm -rf*)|sudo rm -rf build|deny
bash(git *main)|git push origin main|deny
bash(echo a*c)|echo "a b c"|deny
bash(echo a*c)|echo "a b d"|allow
bash(echo '*'*x)|echo '*' y x|deny
bash(echo '*'*x)|echo y x|allow
bash(echo *b*)|echo $X|deny
`), "\n") {
		f := strings.Split(row, "|")
		d := guarded(t, Config{Mode: Yolo}, f[0]).Decide(Call{Tool: "bash", Family: tool.CommandFamily, Footprint: tool.Footprint{Shell: f[1]}})
		if (d.Verdict == Deny) != (f[2] == "deny") {
			t.Errorf("%s: %v %s", row, d.Verdict, d.Reason)
		}
	}
	if _, err := ParseRule(Allows, User, "bash(* --force)"); err == nil {
		t.Error("an allow rule for every program is read")
	}
}

// SPEC 16.17: a rule that denies or asks and could never match is an error.
func TestRulesThatGuardNothing(t *testing.T) {
	for _, text := range []string{"bash(curl * | sh)", "bash(a && b)", "bash(a ; b)", "bash(echo > x)", "bash(A=1 make)"} {
		for _, list := range []List{Denies, Asks} {
			if r, err := ParseRule(list, User, text); err == nil {
				t.Errorf("%s %+v", list, r)
			}
		}
	}
	for _, text := range []string{"bash(grep 'a|b' *)", "bash(echo a;b)"} {
		if _, err := ParseRule(Denies, User, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// SPEC 16.17: brackets name the kind of an agent or a skill; those of a rule about a tool
// of which nothing is known deny it as a whole.
func TestBracketsOfTools(t *testing.T) {
	for row := range strings.SplitSeq(strings.TrimSpace(`
agent(explore)|agent|Explore|deny
agent(explore)|agent|general|allow
agent(code-*)|agent|code-reviewer|deny
skill(deploy)|skill|deploy|deny
skill(deploy)|skill|test|allow
todo(x)|todo||deny
mcp__shop__buy(hats)|mcp__shop__buy||deny
`), "\n") {
		f := strings.Split(row, "|")
		d := guarded(t, Config{Mode: Yolo}, f[0]).Decide(Call{Tool: f[1], Subject: f[2], ReadOnly: true})
		if (d.Verdict == Deny) != (f[3] == "deny") {
			t.Errorf("%s: %v %s", row, d.Verdict, d.Reason)
		}
	}
	if d := guarded(t, Config{Mode: Yolo}, "ask_user").Decide(Call{Tool: "ask_user", Footprint: tool.Footprint{AsksPerson: true}}); d.Verdict != Deny {
		t.Errorf("a question that is denied: %+v", d)
	}
}

// SPEC 16.17: a refused mode is neither chosen nor taken over from an older session.
func TestRefusedModes(t *testing.T) {
	p := guarded(t, Config{Mode: AcceptEdits, Refused: map[Mode]string{Yolo: "x.json"}})
	if err := p.Refuses(Yolo); err == nil || !strings.Contains(err.Error(), "x.json") || p.Refuses(Auto) != nil || p.Child(false).Refuses(Yolo) == nil || p.Copy().Refuses(Yolo) == nil {
		t.Errorf("%v", err)
	}
	for _, b := range []event.Body{event.Opened{Mode: "yolo"}, event.Resumed{Mode: "bypassPermissions"}, event.ModeSet{Mode: "yolo"}} {
		if p.Apply(event.Event{Body: b}); p.Mode() != AcceptEdits {
			t.Errorf("%T: %s", b, p.Mode())
		}
	}
	if p.Apply(event.Event{Body: event.ModeSet{Mode: "auto"}}); p.Mode() != Auto {
		t.Error(p.Mode())
	}
}

// What a search leaves out: files that rules are about, and no others.
func TestGuarded(t *testing.T) {
	if guarded(t, Config{}, "bash(rm *)", "read", "edit(x)").Guarded() != nil {
		t.Error("no rule names a file that is read")
	}
	f := guarded(t, Config{}, "read(main.txt)", "read(secret/**)").Guarded()
	for path, want := range map[string]bool{"main.txt": true, "a/Main.txt": true, "/w/secret/a": true, "other": false, "/x/main.txt": false} {
		if f(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
}

// SPEC 16.3: a pattern that may match any name is not taken for a protected one: the reason
// of a question is true.
func TestPatternsOfAnyName(t *testing.T) {
	for _, text := range []string{
		"npx tape 'test/**/*.js'", "gofmt -l *.go", "eslint \"src/**/*.ts\"", "prettier --check '**/*.{js,md}'", "rg -l x -g '**/*.md'",
		"go test ./... -run '.*'", "mocha **", "ls *", "npx tape test/**/*.js", "cp -r src/* out/",
	} {
		for _, sandbox := range []Sandbox{{}, {ReadOnly: true, Workspace: true, Holds: true}} {
			for _, mode := range Modes() {
				p := New(Config{Root: "/w", Home: "/home/u", Mode: mode, Sandbox: sandbox})
				d := p.Decide(line(text))
				if low := strings.ToLower(d.Reason); d.By == "protected" || d.By == "refusal" || strings.Contains(low, "agents.md") || strings.Contains(low, "decides what") {
					t.Errorf("%s in %s, %+v: %+v", text, mode, sandbox, d)
				}
			}
		}
	}
	for _, text := range []string{"rm AGENTS.m?", "tee .g*/config", "touch .vsc*/x"} { // these may be
		p := New(Config{Root: "/w", Home: "/home/u", Mode: AcceptEdits})
		if d := p.Decide(line(text)); d.Verdict != Ask && d.Verdict != Deny || !strings.Contains(d.Reason, "decides what") {
			t.Errorf("%s: %+v", text, d)
		}
	}
}
