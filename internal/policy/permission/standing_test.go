package permission

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 4.15, 16.16: a standing rule holds outside the sandbox only while what the command
// runs is as it was when the person agreed; in the sandbox it holds as it is.
func TestRulesAreBoundToContent(t *testing.T) {
	began := time.Unix(1000, 0)
	for _, c := range []struct {
		name    string
		rules   []string // "session RULE at 1010" is granted then
		sandbox bool
		mode    Mode
		line    string
		out     bool // the model asks to run outside the sandbox
		changed int64
		want    Verdict
		level   process.Level
		loaded  bool // by a script in a language other than the shell's
	}{
		{"before", []string{"unconfined(make deploy)"}, true, Auto, "make deploy", true, 900, Allow, process.Unconfined, false},
		{"after", []string{"unconfined(make deploy)", "bash(make deploy)"}, true, Auto, "make deploy", true, 1005, Ask, process.Unconfined, false},
		{"the mode asks", []string{"unconfined(make deploy)"}, true, AskMode, "make deploy", true, 1005, Ask, process.Unconfined, false},
		{"a wider rule", []string{"unconfined(make *)"}, true, Auto, "make deploy", true, 1005, Ask, process.Unconfined, false},
		{"in a list", []string{"unconfined(make deploy)"}, true, Auto, "true && make deploy", true, 1005, Ask, process.Unconfined, false},
		{"not asked for: it is confined", []string{"unconfined(make deploy)"}, true, Auto, "make deploy", false, 1005, Allow, process.Workspace, false},
		{"not asked for, unchanged", []string{"unconfined(make deploy)"}, true, Auto, "make deploy", false, 900, Allow, process.Unconfined, false},
		{"confined", []string{"bash(make deploy)"}, true, Auto, "make deploy", false, 1005, Allow, process.Workspace, false},
		{"no sandbox", []string{"bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1005, Ask, process.Unconfined, false},
		{"no sandbox, unchanged", []string{"bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 900, Allow, process.Unconfined, false},
		{"agreed after it", []string{"session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1005, Allow, process.Unconfined, false},
		{"changed after it", []string{"session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1015, Ask, process.Unconfined, false},
		{"agreed again", []string{"bash(./deploy.sh)", "session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1005, Allow, process.Unconfined, false},
		{"always, long before", []string{"always bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 905, Ask, process.Unconfined, false}, // between two sessions
		{"always, unchanged since", []string{"always bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 899, Allow, process.Unconfined, false},
		{"always, in the sandbox", []string{"always bash(./deploy.sh)"}, true, Auto, "./deploy.sh", false, 905, Allow, process.Workspace, false},
		{"always, outside it", []string{"always unconfined(./deploy.sh)"}, true, Auto, "./deploy.sh", true, 905, Ask, process.Unconfined, false},
		{"always, and agreed again", []string{"always bash(./deploy.sh)", "session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 905, Allow, process.Unconfined, false},
		{"loaded, outside it", []string{"unconfined(python3 *)"}, true, Auto, "python3 a.py", true, 1005, Ask, process.Unconfined, true},
		{"loaded, no sandbox", []string{"bash(python3 *)"}, false, Auto, "python3 a.py", false, 1005, Allow, process.Unconfined, true},
		{"everything", []string{"bash"}, false, Auto, "./deploy.sh", false, 1005, Allow, process.Unconfined, false},
		{"yolo", []string{"bash(./deploy.sh)"}, false, Yolo, "./deploy.sh", false, 1005, Allow, process.Unconfined, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(Config{Mode: c.mode, Root: "/w", Sandbox: Sandbox{ReadOnly: c.sandbox, Workspace: c.sandbox, Holds: c.sandbox}, Runs: func(line string) []Ran {
				if line != c.line {
					t.Errorf("%q is asked about", line)
				}
				return []Ran{{Path: "old.sh", Changed: time.Unix(1, 0)}, {Path: "Makefile", Changed: time.Unix(c.changed, 0), Loaded: c.loaded}}
			}})
			p.Apply(event.Event{Time: began, Body: event.Opened{Mode: string(c.mode)}})
			for _, r := range c.rules {
				var err error
				if len(r) > 8 && r[:8] == "session " {
					p.Apply(event.Event{Time: time.Unix(1001, 0), Body: event.Granted{Rule: r[8:], Scope: event.Session}})
					p.Apply(event.Event{Time: time.Unix(1010, 0), Body: event.Granted{Rule: r[8:], Scope: event.Session}})
				} else if text, always := strings.CutPrefix(r, "always "); always {
					rule, perr := ParseRule(Allows, User, text)
					p.AddRules([]Rule{rule.AgreedAt(time.Unix(900, 0))})
					err = perr
				} else {
					err = p.Add(Flag, []string{r}, nil, nil)
				}
				must.Do(t, err)
			}
			for _, q := range []*Policy{p, p.Child(false)} {
				d := q.Decide(Call{Tool: "bash", Family: tool.CommandFamily, Footprint: tool.Footprint{Shell: c.line, Unconfined: c.out}})
				if d.Verdict != c.want || d.Verdict == Allow && d.Confine.Level != c.level {
					t.Errorf("%+v", d)
				}
				if d.Verdict == Ask && c.changed > 1000 && c.mode == Auto && !strings.Contains(d.Reason, "Makefile, which it runs, was changed") {
					t.Errorf("by %s: %s", d.By, d.Reason)
				}
			}
		})
	}
}

// SPEC 16.16: where nothing confines it, a line that only reads by its words is asked about
// if the search path leads to a program of the workspace.
func TestPlantedProgramsAsk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line    string
		planted bool
		sandbox bool
		mode    Mode
		want    Verdict
	}{
		{"ls", false, false, AcceptEdits, Allow},
		{"ls", true, false, AcceptEdits, Ask},
		{"git status", true, false, AskMode, Ask},
		{"cat f.txt | wc -l", true, false, AcceptEdits, Ask},
		{"head -1 f.txt", true, false, AcceptEdits, Ask},
		{"ls", true, true, AcceptEdits, Allow},
		{"ls", true, false, Yolo, Allow},
	} {
		p := New(Config{Mode: c.mode, Root: "/w", Sandbox: Sandbox{ReadOnly: c.sandbox, Workspace: c.sandbox, Holds: c.sandbox}, Runs: func(string) []Ran {
			if !c.planted {
				return nil
			}
			return []Ran{{Path: ".venv/bin/ls"}}
		}})
		d := p.Decide(Call{Tool: "bash", Family: tool.CommandFamily, Footprint: tool.Footprint{Shell: c.line}})
		if d.Verdict != c.want || c.want == Ask && (d.CanAlways || !strings.Contains(d.Reason, ".venv/bin/ls")) {
			t.Errorf("%s in %s, planted %v, sandbox %v: %+v", c.line, c.mode, c.planted, c.sandbox, d)
		}
	}
}
