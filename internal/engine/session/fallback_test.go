package session_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// down is a model whose server is overloaded.
func down(name string) *llmtest.Model {
	m := llmtest.New()
	m.InfoValue.Model = name
	m.Next = func(int, *llm.Request) llmtest.Turn {
		return llmtest.Turn{Err: fault.NewProvider("scripted", 529, name+" is overloaded", nil)}
	}
	return m
}

func withFallback(l budget.Limits, models map[string]*llmtest.Model, refs ...string) func(*session.Config) {
	return func(c *session.Config) {
		c.Limits, c.Fallback = l, refs
		c.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		c.OpenModel = func(ref, _ string) (llm.Model, error) {
			if m, ok := models[ref]; ok {
				return m, nil
			}
			return nil, errors.New("no key for " + ref)
		}
	}
}

// SPEC 3.3: after the retries the next model of the chain goes on with the same
// turn, each once a turn; one that cannot be used is named and passed over.
func TestFallback(t *testing.T) {
	first := llmtest.New(todo)
	first.Next = down("script").Next
	second := llmtest.New(llmtest.Say("here"))
	second.InfoValue.Model = "other"
	noPrice := llmtest.New()
	noPrice.InfoValue.Price = nil
	models := map[string]*llmtest.Model{"scripted/other": second, "scripted/down": down("down"), "scripted/dear": noPrice}
	r := newRig(t, "ask", first, withFallback(budget.Limits{USD: 1}, models, "scripted/nokey", "scripted/dear", "scripted/down", "scripted/other"))
	es := r.Run("go", nil)
	if end := find[event.Ended](es)[0]; end.End != event.EndDone {
		t.Fatalf("%+v", end)
	}
	var to []string
	for _, x := range find[event.Retried](es) {
		if x.Model != "" {
			to = append(to, x.Model)
		}
	}
	if strings.Join(to, " ") != "scripted/down scripted/other" {
		t.Errorf("went on with %q", to)
	}
	if rs := find[event.Rebased](es); len(rs) != 2 || rs[1].Why != "fallback" || rs[1].Info.Model != "other" {
		t.Errorf("%+v", rs)
	}
	ws := find[event.Warned](es)
	if len(ws) != 2 || !strings.Contains(ws[0].Text, "no key for scripted/nokey") || !strings.Contains(ws[1].Text, "price") {
		t.Errorf("%+v", ws)
	}
	// The whole conversation went along.
	if got := second.Requests(); len(got) != 1 || len(got[0].Messages) != 3 || got[0].Head.Model != "other" {
		t.Errorf("%+v", got)
	}
	if n := len(models["scripted/down"].Requests()); n != 5 {
		t.Errorf("the second model was tried %d times, want 5", n)
	}
	// The session stays with it.
	if r.View().Info().Model != "other" {
		t.Errorf("in use: %s", r.View().Info().Model)
	}
}

// SPEC 3.3, 3.4: a chain ends, also where all of it is down; and an error that
// is not worth a retry is not worth another model.
func TestFallbackEnds(t *testing.T) {
	a, b := down("a"), down("b")
	r := newRig(t, "ask", a, withFallback(budget.Limits{}, map[string]*llmtest.Model{"scripted/b": b, "scripted/a": a}, "scripted/b", "scripted/a"))
	es := r.Run("go", nil)
	if end := find[event.Ended](es)[0]; end.End != event.EndProvider || !strings.Contains(end.Error.Message, "b is overloaded") {
		t.Errorf("%+v", end)
	}
	// The last of a chain is tried for five minutes, the others not so long.
	const all = 26
	if len(a.Requests()) != 5 || len(b.Requests()) != all {
		t.Errorf("%d and %d requests, want 5 and %d", len(a.Requests()), len(b.Requests()), all)
	}
	// The next turn begins with the model in use and may go back to the first.
	r.Run("again", nil)
	if len(a.Requests()) != 5+all || len(b.Requests()) != all+5 {
		t.Errorf("%d and %d requests, want %d each", len(a.Requests()), len(b.Requests()), all+5)
	}

	bad := llmtest.New(llmtest.Turn{Err: fault.NewProvider("scripted", 400, "bad request", nil)})
	b = down("b")
	r = newRig(t, "ask", bad, withFallback(budget.Limits{}, map[string]*llmtest.Model{"scripted/b": b}, "scripted/b"))
	r.Run("go", nil)
	if len(b.Requests()) != 0 {
		t.Error("a bad request went to the next model")
	}
}

// SPEC 3.4: a wait that is longer than the retries may take is a person's to
// agree to; without one it must fit into the limits of time.
func TestLongerWait(t *testing.T) {
	late := fault.NewProvider("scripted", 429, "too many", nil)
	late.RetryAfter = time.Hour
	for name, c := range map[string]struct {
		answer  string // "": nobody is there
		limits  budget.Limits
		timeout time.Duration
		end     event.End
	}{
		"a person who waits":         {"wait", budget.Limits{}, 0, event.EndDone},
		"a person who does not":      {"stop", budget.Limits{}, 0, event.EndProvider},
		"other words are no yes":     {"hm", budget.Limits{}, 0, event.EndProvider},
		"nobody, no limit":           {"", budget.Limits{}, 0, event.EndProvider},
		"nobody, time enough":        {"", budget.Limits{Wall: 2 * time.Hour}, 0, event.EndDone},
		"nobody, too little":         {"", budget.Limits{Wall: 30 * time.Minute}, 0, event.EndProvider},
		"nobody, --timeout":          {"", budget.Limits{}, 2 * time.Hour, event.EndDone},
		"nobody, a short --timeout":  {"", budget.Limits{Wall: 2 * time.Hour}, time.Minute, event.EndProvider},
		"nobody, a short wall limit": {"", budget.Limits{Wall: time.Minute}, 2 * time.Hour, event.EndProvider},
	} {
		m := llmtest.New(llmtest.Turn{Err: late}, llmtest.Say("done"))
		slept := time.Duration(0)
		r := newRig(t, "ask", m, func(cfg *session.Config) {
			cfg.Limits, cfg.Timeout, cfg.Person = c.limits, c.timeout, c.answer != ""
			cfg.Sleep = func(ctx context.Context, d time.Duration) error {
				if d > 30*time.Second {
					<-ctx.Done() // the watch over the limit
					return ctx.Err()
				}
				slept += d
				return ctx.Err()
			}
		})
		asked := 0
		es := r.Run("go", onEvent(func(a event.Asked) {
			if asked++; a.Why != "wait" || !strings.Contains(a.Text, "1h0m0s") {
				t.Errorf("%s: %+v", name, a)
			}
			if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Text: c.answer}); err != nil {
				t.Error(err)
			}
		}))
		if end := find[event.Ended](es)[0]; end.End != c.end || (end.End == event.EndDone) != (slept == time.Hour) || (asked == 1) != (c.answer != "") {
			t.Errorf("%s: %+v, slept %s, asked %d times", name, end, slept, asked)
		}
	}
}
