package side

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// watched is a log that shows what is appended.
type watched struct {
	event.Appender
	see func(event.Body)
}

func (w watched) Append(ctx context.Context, ds ...event.Draft) error {
	for _, d := range ds {
		w.see(d.Body)
	}
	return w.Appender.Append(ctx, ds...)
}

// SPEC 8.1: whatever becomes of a request beside the conversation, it is recorded
// before it goes out and again with what it cost, and what was set aside for it is
// free again.
func TestWhatBecomesOfARequest(t *testing.T) {
	said := llmtest.Say("edit")
	said.Usage = llm.Usage{Known: true, Input: 100, Output: 10}
	for name, c := range map[string]struct {
		turn  llmtest.Turn
		want  string
		usd   float64 // below 0: any
		guess bool
		fails bool
	}{
		"answered":           {said, "aside charged", 0.0002, false, false},
		"refused":            {llmtest.Turn{Err: errors.New("no")}, "aside charged", 0, false, true},
		"broke off half way": {llmtest.Turn{Text: "half a reply", Err: errors.New("cut")}, "aside charged", -1, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			fold := &Fold{}
			m := llmtest.New(c.turn)
			meter := &budget.Meter{}
			log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}, fold, meter))(t)
			acc := spending.New(spending.Config{Session: "s", Limits: budget.Limits{USD: 1}, Now: time.Now, Log: log, Meter: meter})
			kinds := ""
			var cost event.Charged
			r := Requests{Model: func() llm.Model { return m }, Spending: acc, Log: watched{log, func(b event.Body) {
				kinds += " " + b.Kind()
				if b, ok := b.(event.Charged); ok {
					cost = b
				} else if len(m.Requests()) > 0 {
					t.Error("recorded after it went out")
				}
			}}}
			ask := llm.Request{Head: llm.Head{Model: "scripted"}, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("what is it?")}}}, Tail: llm.Tail{MaxTokens: 20}}
			reply, err := r.Complete(t.Context(), Request{By: "route", Body: ask, Input: 100})
			if (err != nil) != c.fails || (reply == nil) != c.fails || kinds != " "+c.want {
				t.Errorf("%v %v:%s", reply, err, kinds)
			}
			if cost.By != "route" || cost.Requests != 1 || cost.Guess != c.guess || c.usd >= 0 && fmt.Sprintf("%.6f", *cost.USD) != fmt.Sprintf("%.6f", c.usd) {
				t.Errorf("%+v, %.6f USD", cost, *cost.USD)
			}
			if len(fold.Lost()) > 0 {
				t.Error("it is still in flight")
			}
			// All that is left can be had: nothing is set aside any more.
			if g, err := acc.Reserve(t.Context(), budget.Ask{Price: &llm.Price{Input: 1}, Input: 900_000}); err != nil {
				t.Errorf("%+v %v", g, err)
			}
		})
	}
}

// SPEC 8.1: one that was in flight when pawl died is charged with what was set
// aside for it, once.
func TestARequestLostInADeath(t *testing.T) {
	usd := 0.5
	var f Fold
	f.Apply(event.Event{Body: event.SideRequest{By: "compaction", Model: "m", Input: 9, Reserved: &usd}})
	lost := f.Lost()
	if len(lost) != 1 {
		t.Fatalf("%+v", lost)
	}
	if c := lost[0].Body.(event.Charged); *c.USD != usd || !c.Unknown || !c.Guess || c.By != "compaction" || c.Usage.Input != 9 {
		t.Errorf("%+v", c)
	}
	f.Apply(event.Event{Body: event.Charged{By: "another"}})
	if len(f.Lost()) != 1 {
		t.Error("charged by another")
	}
	f.Apply(event.Event{Body: event.SideRequest{By: "grant 1", Input: 7}})
	f.Apply(event.Event{Body: event.SideRequest{By: "grant 2", Input: 8}})
	f.Apply(event.Event{Body: event.Charged{By: "grant 1"}})
	if lost := f.Lost(); len(lost) != 2 || lost[1].Body.(event.Charged).Usage.Input != 8 {
		t.Errorf("of several in flight: %+v", lost)
	}
	for _, l := range f.Lost() {
		f.Apply(event.Event{Body: l.Body})
	}
	if len(f.Lost()) != 0 {
		t.Error("charged twice")
	}
}
