package session_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

func limited(l budget.Limits) func(*session.Config) {
	return func(c *session.Config) { c.Limits = l }
}

// costing is an answer that used so many tokens of output, at $10 a million.
func costing(output int64, t llmtest.Turn) llmtest.Turn {
	t.Usage = llm.Usage{Known: true, Output: output}
	return t
}

var todo = llmtest.Use("todo", `{"items":[{"text":"x","status":"pending"}]}`)

// SPEC 8.1: without a person a hard limit is an outcome, warned of at 80 %,
// and the last reply is shorter so that it fits.
func TestBudgetEndsARun(t *testing.T) {
	m := llmtest.New(costing(4500, todo), costing(300, todo))
	r := newRig(t, "accept-edits", m, limited(budget.Limits{USD: 0.05}))
	es := r.Run("go", nil)
	end := find[event.Ended](es)[0]
	if end.End != event.EndBudget || end.Error.Category != "budget" || !strings.Contains(end.Error.Message, "$0.0500") {
		t.Errorf("%+v", end)
	}
	rs := m.Requests()
	if len(rs) != 2 || rs[0].Tail.MaxTokens != 5000 || rs[1].Tail.MaxTokens != 500 {
		t.Errorf("%d requests, the first of at most %d tokens", len(rs), rs[0].Tail.MaxTokens)
	}
	if ws := find[event.Warned](es); len(ws) != 1 || ws[0].What != "budget.usd" {
		t.Errorf("%+v", ws)
	}
	if sent := find[event.Requested](es); sent[0].Reserved == nil || *sent[0].Reserved != 0.05 {
		t.Errorf("%+v", sent)
	}
	if open := find[event.CallDone](es); len(open) != 2 {
		t.Errorf("%d calls closed, want 2", len(open))
	}
}

// SPEC 8.1, 1.5: a person is asked, and the turn goes on where they raise the
// limit; anything else stops it.
func TestBudgetIsExtended(t *testing.T) {
	person := func(c *session.Config) { c.Person, c.Limits = true, budget.Limits{USD: 0.01} }
	for _, c := range []struct {
		answers []string
		end     event.End
		asked   int
	}{
		{[]string{"add $5.00"}, event.EndDone, 1},
		{[]string{"no limit"}, event.EndDone, 1},
		{[]string{"add $0.001", "$1"}, event.EndDone, 2},
		{[]string{"stop"}, event.EndBudget, 1},
		{[]string{"why?"}, event.EndBudget, 1},
	} {
		r := newRig(t, "accept-edits", llmtest.New(costing(1000, todo), llmtest.Say("done")), person)
		n := 0
		es := r.Run("go", onEvent(func(q event.Asked) {
			if q.Why != "budget" || len(q.Options) != 3 || !strings.Contains(q.Text, "$0.0100") {
				t.Errorf("%+v", q)
			}
			if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Text: c.answers[n]}); err != nil {
				t.Error(err)
			}
			n++
		}))
		if end := find[event.Ended](es)[0].End; end != c.end || n != c.asked {
			t.Errorf("%q: ended %s after %d questions", c.answers, end, n)
		}
		if got := len(find[event.Extended](es)); got != c.asked && c.end == event.EndDone {
			t.Errorf("%q: extended %d times", c.answers, got)
		}
	}
}

// SPEC 8.1, 10.3: an interrupt cancels the question.
func TestInterruptABudgetQuestion(t *testing.T) {
	r := newRig(t, "accept-edits", llmtest.New(costing(1000, todo)), func(c *session.Config) {
		c.Person, c.Limits = true, budget.Limits{USD: 0.01}
	})
	es := r.Run("go", func(e event.Event) {
		if _, ok := e.Body.(event.Asked); ok {
			_, _ = r.Submit(t.Context(), session.Interrupt{By: "person"})
		}
	})
	if end := find[event.Ended](es)[0].End; end != event.EndInterrupted {
		t.Errorf("ended %s", end)
	}
}

// SPEC 8.1: calls are counted before they run.
func TestCallLimit(t *testing.T) {
	m := llmtest.New(llmtest.Use("bash", `{"command":"touch a"}`), llmtest.Use("bash", `{"command":"touch b"}`, "bash", `{"command":"touch c"}`))
	r := newRig(t, "yolo", m, limited(budget.Limits{Calls: 2}))
	es := r.Run("go", nil)
	if end := find[event.Ended](es)[0]; end.End != event.EndBudget || !strings.Contains(end.Error.Message, "2 calls") {
		t.Errorf("%+v", end)
	}
	if strings.HasPrefix(r.File("a"), "error") || !strings.HasPrefix(r.File("b"), "error") || len(find[event.CallDone](es)) != 3 {
		t.Errorf("%+v", find[event.CallDone](es))
	}
}

// SPEC 8.1: running time is used up also in the middle of a request, and what
// runs is cancelled.
func TestWallLimit(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	m := llmtest.New(llmtest.Turn{Text: "on and on", Wait: make(chan struct{})})
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.Store, c.Now, c.Limits = memory.New(clock), clock, budget.Limits{Wall: time.Minute}
		c.Sleep = func(_ context.Context, d time.Duration) error {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(max(d/2, time.Second)) // a timer that fires early is asked again
			return nil
		}
	})
	es := r.Run("go", nil)
	if end := find[event.Ended](es)[0]; end.End != event.EndBudget || !strings.Contains(end.Error.Message, "1m0s of running time") {
		t.Errorf("%+v", end)
	}
	if all, _ := r.View().Spent(); all.Active() < time.Minute {
		t.Errorf("%v", all.Active())
	}
}

// SPEC 8.1: a limit of money that somebody set is refused for a model without
// a price, also later in a session; the default one is not in the way.
func TestModelWithoutAPrice(t *testing.T) {
	free := llmtest.New()
	free.InfoValue.Price, free.InfoValue.Model = nil, "local"
	open := func(string, string) (llm.Model, error) { return free, nil }
	r := newRig(t, "ask", llmtest.New(), func(c *session.Config) { c.OpenModel, c.Limits = open, budget.Limits{USD: 1} })
	if _, err := r.do(session.SetModel{Ref: "local"}); fault.CategoryOf(err) != fault.Configuration {
		t.Errorf("%v", err)
	}
	r = newRig(t, "ask", llmtest.New(), func(c *session.Config) {
		c.OpenModel, c.Limits = open, budget.Limits{USD: 1, Assumed: true}
	})
	must.Done(t)(r.do(session.SetModel{Ref: "local"}))
	if end := find[event.Ended](r.Run("go", nil))[0].End; end != event.EndDone {
		t.Errorf("ended %s", end)
	}
}

// SPEC 8.1: what was set aside for a summary is given back when it is there:
// compactions do not make a budget smaller than what they cost.
func TestSummariesGiveBack(t *testing.T) {
	m := llmtest.New()
	r := windowed(t, 16384, m, limited(budget.Limits{USD: 1}))
	m.Next = readOn(t, 60)
	n := len(find[event.Compacted](r.Run("read", nil)))
	if n < 2 {
		t.Fatalf("%d compactions", n)
	}
	// Nothing is in flight: all that is left can be had at once.
	all, _ := r.View().Spent()
	left := 1 - *all.Most()
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // nobody is waited for
	g, err := r.Coordination().Account().Reserve(ctx, budget.Ask{Price: &llm.Price{Input: 1, Output: 1}, Child: true, Input: int64(left * 0.9e6), MaxOutput: 300})
	if err != nil {
		t.Fatalf("of $%.2f that are left: %v", left, err)
	}
	must.Do(t, r.Coordination().Account().Settle(t.Context(), g.ID))
}
