package permission

import (
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
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
	}{
		{"before", []string{"unconfined(make deploy)"}, true, Auto, "make deploy", true, 900, Allow, process.Unconfined},
		{"after", []string{"unconfined(make deploy)", "bash(make deploy)"}, true, Auto, "make deploy", true, 1005, Ask, process.Unconfined},
		{"the mode asks", []string{"unconfined(make deploy)"}, true, Ask4All, "make deploy", true, 1005, Ask, process.Unconfined},
		{"a wider rule", []string{"unconfined(make *)"}, true, Auto, "make deploy", true, 1005, Ask, process.Unconfined},
		{"in a list", []string{"unconfined(make deploy)"}, true, Auto, "true && make deploy", true, 1005, Ask, process.Unconfined},
		{"not asked for: it is confined", []string{"unconfined(make deploy)"}, true, Auto, "make deploy", false, 1005, Allow, process.Workspace},
		{"not asked for, unchanged", []string{"unconfined(make deploy)"}, true, Auto, "make deploy", false, 900, Allow, process.Unconfined},
		{"confined", []string{"bash(make deploy)"}, true, Auto, "make deploy", false, 1005, Allow, process.Workspace},
		{"no sandbox", []string{"bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1005, Ask, process.Unconfined},
		{"no sandbox, unchanged", []string{"bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 900, Allow, process.Unconfined},
		{"agreed after it", []string{"session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1005, Allow, process.Unconfined},
		{"changed after it", []string{"session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1015, Ask, process.Unconfined},
		{"agreed again", []string{"bash(./deploy.sh)", "session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 1005, Allow, process.Unconfined},
		{"always, long before", []string{"always bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 905, Ask, process.Unconfined}, // between two sessions
		{"always, unchanged since", []string{"always bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 899, Allow, process.Unconfined},
		{"always, in the sandbox", []string{"always bash(./deploy.sh)"}, true, Auto, "./deploy.sh", false, 905, Allow, process.Workspace},
		{"always, outside it", []string{"always unconfined(./deploy.sh)"}, true, Auto, "./deploy.sh", true, 905, Ask, process.Unconfined},
		{"always, and agreed again", []string{"always bash(./deploy.sh)", "session bash(./deploy.sh)"}, false, Auto, "./deploy.sh", false, 905, Allow, process.Unconfined},
		{"everything", []string{"bash"}, false, Auto, "./deploy.sh", false, 1005, Allow, process.Unconfined},
		{"yolo", []string{"bash(./deploy.sh)"}, false, Yolo, "./deploy.sh", false, 1005, Allow, process.Unconfined},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(Config{Mode: c.mode, Root: "/w", Sandbox: Sandbox{ReadOnly: c.sandbox, Workspace: c.sandbox, Holds: c.sandbox}, Runs: func(line string) []Ran {
				if line != c.line {
					t.Errorf("%q is asked about", line)
				}
				return []Ran{{"old.sh", time.Unix(1, 0)}, {"Makefile", time.Unix(c.changed, 0)}}
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
				if err != nil {
					t.Fatal(err)
				}
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
