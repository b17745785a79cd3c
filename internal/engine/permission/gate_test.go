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
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}))(t)
		policy := permission.New(permission.Config{Root: "/w"})
		must.Do(t, policy.Add(permission.User, nil, nil, []string{"bash(make deny)"}))
		requests, questions := 0, 0
		j := New(Config{
			Rights:       &Rights{Log: log, Policy: policy},
			Person:       c.person,
			Drafts:       func() *changes.Drafts { return changes.NewDrafts(nil, false) },
			Unrestorable: func(context.Context, *turn.Pending, process.Confine) string { return "" },
			Mask:         func(s string) string { return s },
			Ask: func(_ context.Context, a event.Asked) (event.Answered, error) {
				requests++
				questions += len(a.Questions)
				return event.Answered{Verdicts: []event.Verdict{{Call: "1", Scope: event.Once}}}, nil
			},
		})
		var step []*turn.Pending
		for i, name := range []string{"one", "two", "deny"} {
			step = append(step, &turn.Pending{
				Call: llm.Call{ID: string(rune('1' + i)), Name: name},
				Tool: tool.Tool{Spec: llm.ToolSpec{Name: name}}, Footprint: tool.Footprint{Shell: "make " + name},
			})
		}
		must.Do(t, j.Gate().Check(t.Context(), step))
		if questions != c.asked || requests > 1 {
			t.Errorf("%s: %d questions in %d requests", c.name, questions, requests)
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
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}))(t)
		p := &turn.Pending{Call: llm.Call{ID: "1", Name: "edit"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "edit"}}}
		p.Footprint.Writes = []tool.Span{{Path: "a"}}
		j := New(Config{
			Rights: &Rights{Log: log, Policy: permission.New(permission.Config{Root: "/w", Mode: permission.Plan})}, Person: c.person,
			Drafts: func() *changes.Drafts { return changes.NewDrafts(nil, false) },
		})
		must.Do(t, j.Gate().Check(t.Context(), []*turn.Pending{p}))
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
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}))(t)
		var asked []event.Question
		j := New(Config{
			Rights:       &Rights{Log: log, Policy: permission.New(permission.Config{Root: "/w", Mode: c.mode})},
			Person:       c.person,
			Drafts:       func() *changes.Drafts { return changes.NewDrafts(nil, false) },
			Unrestorable: func(context.Context, *turn.Pending, process.Confine) string { return "" },
			Mask:         func(s string) string { return s },
			Ask: func(_ context.Context, a event.Asked) (event.Answered, error) {
				asked = append(asked, a.Questions...)
				return event.Answered{Verdicts: []event.Verdict{{Call: "1", Scope: event.No}}}, nil
			},
		})
		p := &turn.Pending{
			Call: llm.Call{ID: "1", Name: "mcp__s__t"},
			Tool: tool.Tool{Spec: llm.ToolSpec{Name: "mcp__s__t"}, Facts: tool.Facts{Kind: tool.Exec, Claim: says}}, Footprint: tool.Footprint{Unknown: true},
		}
		must.Do(t, j.Gate().Check(t.Context(), []*turn.Pending{p}))
		if p.Refused == nil || len(asked) != c.asked || c.asked == 1 && !strings.HasSuffix(asked[0].Reason, "; "+says) {
			t.Errorf("%s: %+v, %+v", c.name, p.Refused, asked)
		}
	}
}

// SPEC 4.15: what may not be allowed for good is allowed for the session at most, whatever
// a frontend answers.
func TestAlwaysThatWasNotOffered(t *testing.T) {
	for path, want := range map[string]event.Scope{"/srv/x/secrets.yaml": event.Session, "/srv/x/plain.txt": event.Always} {
		store := memory.New(time.Now)
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: store, Session: "s", Now: time.Now}))(t)
		j := New(Config{
			Rights:       &Rights{Log: log, Policy: permission.New(permission.Config{Root: "/w"})},
			Person:       true,
			Drafts:       func() *changes.Drafts { return changes.NewDrafts(nil, false) },
			Unrestorable: func(context.Context, *turn.Pending, process.Confine) string { return "" },
			Mask:         func(s string) string { return s },
			Ask: func(context.Context, event.Asked) (event.Answered, error) {
				return event.Answered{Verdicts: []event.Verdict{{Call: "1", Scope: event.Always}}}, nil
			},
		})
		p := &turn.Pending{
			Call: llm.Call{ID: "1", Name: "read"}, Tool: tool.Tool{Spec: llm.ToolSpec{Name: "read"}},
			Footprint: tool.Footprint{Reads: []tool.Span{{Path: path}}},
		}
		must.Do(t, j.Gate().Check(t.Context(), []*turn.Pending{p}))
		var got event.Scope
		for e, err := range store.Read(t.Context(), "s", 0) {
			if g, ok := e.Body.(event.Granted); ok && err == nil {
				got = g.Scope
			}
		}
		if got != want || p.Refused != nil {
			t.Errorf("%s is allowed for %q, want %q: %+v", path, got, want, p.Refused)
		}
	}
}
