package permission

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// desk is an evaluator on a log of its own, with a person who gives the call "1" one answer.
type desk struct {
	*Evaluator
	t        *testing.T
	store    *memory.Store
	requests int
	asked    []event.Question
}

func newDesk(t *testing.T, c permission.Config, person bool, answer event.Scope) *desk {
	t.Helper()
	c.Root = "/w"
	d := &desk{t: t, store: memory.New(time.Now)}
	log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: d.store, Session: "s", Now: time.Now}))(t)
	d.Evaluator = New(Config{
		Rights: &Rights{Log: log, Policy: permission.New(c)}, Person: person,
		Drafts:       func() *changes.Drafts { return changes.NewDrafts(nil, false) },
		Unrestorable: func(context.Context, *turn.Pending, process.Confine) string { return "" },
		Mask:         func(s string) string { return s },
		Ask: func(_ context.Context, a event.Asked) (event.Answered, error) {
			d.requests++
			d.asked = append(d.asked, a.Questions...)
			return event.Answered{Verdicts: []event.Verdict{{Call: "1", Scope: answer}}}, nil
		},
	})
	return d
}

// granted is the scope of what was granted for longer than a call.
func (d *desk) granted() (scope event.Scope) {
	for e, err := range d.store.Read(d.t.Context(), "s", 0) {
		if g, ok := e.Body.(event.Granted); ok && err == nil {
			scope = g.Scope
		}
	}
	return scope
}

// calls are calls of a tool with an id from 1 on.
func calls(footprints ...tool.Footprint) (step []*turn.Pending) {
	for i, f := range footprints {
		step = append(step, &turn.Pending{Call: llm.Call{ID: string(rune('1' + i)), Name: "x"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "x"}}, Footprint: f})
	}
	return step
}

// SPEC 4.7: what needs consent is one request for a whole step; without a person
// it is denied, with what would allow it; what is denied is not asked about.
func TestOneQuestionForAStep(t *testing.T) {
	for _, c := range []struct {
		name     string
		person   bool
		asked    int // questions of the one request
		refusals [3]string
		ends     bool
	}{
		{"a person", true, 2, [3]string{"", "The user did not allow it.", "Not allowed, it did not run: the rule"}, true},
		{"nobody", false, 0, [3]string{"nobody is there to allow it", "nobody is there to allow it", "Not allowed, it did not run: the rule"}, false},
	} {
		d := newDesk(t, permission.Config{}, c.person, event.Once)
		must.Do(t, d.Rights.Policy.Add(permission.User, nil, nil, []string{"bash(make deny)"}))
		step := calls(tool.Footprint{Shell: "make one"}, tool.Footprint{Shell: "make two"}, tool.Footprint{Shell: "make deny"})
		must.Do(t, d.Gate().Check(t.Context(), step))
		if len(d.asked) != c.asked || d.requests > 1 {
			t.Errorf("%s: %d questions in %d requests", c.name, len(d.asked), d.requests)
		}
		for i, p := range step {
			got := ""
			if p.Refused != nil {
				got = p.Refused.Text
			}
			if (got == "") != (c.refusals[i] == "") || !strings.Contains(got, c.refusals[i]) {
				t.Errorf("%s: call %d: %q, want %q", c.name, i+1, got, c.refusals[i])
			}
		}
		if ends := step[1].Refused != nil && step[1].Refused.EndTurn; ends != c.ends {
			t.Errorf("%s: the turn ends: %t", c.name, ends)
		}
	}
}

// SPEC 4.15: what plan mode refuses names what allows it: the mode to whom chooses one, a flag
// to a run.
func TestBeyondPlan(t *testing.T) {
	for _, c := range []struct {
		person bool
		want   string
	}{
		{true, "plan mode only reads, and it changes a; the mode accept-edits allows it (Shift+Tab, /mode accept-edits)"},
		{false, "plan mode only reads, and it changes a; a run with --permission-mode accept-edits may do it"},
	} {
		p := calls(tool.Footprint{Writes: []tool.Span{{Path: "a"}}})[0]
		must.Do(t, newDesk(t, permission.Config{Mode: permission.Plan}, c.person, event.No).Gate().Check(t.Context(), []*turn.Pending{p}))
		if p.Refused == nil || !strings.Contains(p.Refused.Text, c.want) {
			t.Errorf("%+v, want %q", p.Refused, c.want)
		}
	}
}

// SPEC 16.13: what a server claims of a tool stands in the question about a call, and gives
// no right: each call is asked about, and denied in plan mode and where nobody is there.
func TestClaimIsOnlyShown(t *testing.T) {
	const says = "its server says that it only reads"
	for _, c := range []struct {
		name   string
		mode   permission.Mode
		person bool
		asked  int
	}{{"a person", permission.AskMode, true, 1}, {"nobody", permission.AskMode, false, 0}, {"plan mode", permission.Plan, true, 0}, {"edits are accepted", permission.AcceptEdits, true, 1}} {
		d, p := newDesk(t, permission.Config{Mode: c.mode}, c.person, event.No), calls(tool.Footprint{Unknown: true})[0]
		p.Tool.Facts = tool.Facts{Kind: tool.Exec, Claim: says}
		must.Do(t, d.Gate().Check(t.Context(), []*turn.Pending{p}))
		if p.Refused == nil || len(d.asked) != c.asked || c.asked == 1 && !strings.HasSuffix(d.asked[0].Reason, "; "+says) {
			t.Errorf("%s: %+v, %+v", c.name, p.Refused, d.asked)
		}
	}
}

// SPEC 4.15: what may not be allowed for good is allowed for the session at most, whatever
// a frontend answers; the same of what a running command needs.
func TestAlwaysThatWasNotOffered(t *testing.T) {
	for path, want := range map[string]event.Scope{"/srv/x/secrets.yaml": event.Session, "/srv/x/plain.txt": event.Always} {
		d, p := newDesk(t, permission.Config{}, true, event.Always), calls(tool.Footprint{Reads: []tool.Span{{Path: path}}})[0]
		must.Do(t, d.Gate().Check(t.Context(), []*turn.Pending{p}))
		if got := d.granted(); got != want || p.Refused != nil {
			t.Errorf("%s is allowed for %q, want %q: %+v", path, got, want, p.Refused)
		}
		d = newDesk(t, permission.Config{}, true, event.Always)
		o := permission.Opening{Act: process.ActRead, Opens: path, Rule: "read(" + path + ")", Always: want == event.Always}
		if a := d.Gate().askHeld(t.Context(), p, process.Refusal{Act: o.Act, What: path}, o); a != process.Allowed || d.granted() != want {
			t.Errorf("%s: %v, for %q, want %q", path, a, d.granted(), want)
		}
	}
}

// SPEC 16.14: a yes for one command covers the folder that it opened, without another question;
// what the person's rules deny meanwhile stays closed.
func TestYesOfACommand(t *testing.T) {
	d, p := newDesk(t, permission.Config{}, true, event.Once), calls(tool.Footprint{Shell: "make"})[0]
	hold := d.Gate().hold(t.Context(), p, permission.Decision{})
	for _, c := range []struct {
		file   string
		denied bool
		want   process.Answer
	}{{"/data/x/a", false, process.Allowed}, {"/data/x/b", false, process.Allowed}, {"/data/x/c", true, process.Declined}} {
		if c.denied {
			must.Do(t, d.Rights.Policy.Add(permission.User, nil, nil, []string{"read(" + c.file + ")"}))
		}
		if _, a := hold(t.Context(), process.Refusal{Act: process.ActRead, What: c.file}); a != c.want || d.requests != 1 {
			t.Errorf("%s: %v after %d questions, want %v", c.file, a, d.requests, c.want)
		}
	}
}

// SPEC 16.14, 16.5: a command runs again as the person only where a rule or the person allows
// that, and not after it has changed something.
func TestRunsAgainAsThePerson(t *testing.T) {
	for name, c := range map[string]struct {
		allow, deny []string
		answer      event.Scope
		done        string
		want        process.Answer
		asked       int
	}{
		"yes":                  {answer: event.Once, want: process.AsPerson, asked: 1},
		"no":                   {answer: event.No, want: process.Declined, asked: 1},
		"allowed by a rule":    {allow: []string{"unconfined(make)"}, want: process.AsPerson},
		"denied by a rule":     {deny: []string{"unconfined(make)"}, answer: event.Once, want: process.Declined},
		"it changed something": {answer: event.Once, done: "it changed /w/a", want: process.Declined},
	} {
		d := newDesk(t, permission.Config{Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}}, true, c.answer)
		must.Do(t, d.Rights.Policy.Add(permission.User, c.allow, nil, c.deny))
		p := calls(tool.Footprint{Shell: "make", Unknown: true})[0]
		r := process.Refusal{Act: process.ActRead, What: "/home/u/.ssh/id", Done: c.done}
		if a := d.Gate().asPerson(t.Context(), p, r, permission.Opening{Act: permission.ActPerson}); a != c.want || len(d.asked) != c.asked {
			t.Errorf("%s: %v after %d questions, want %v", name, a, len(d.asked), c.want)
		}
	}
}
