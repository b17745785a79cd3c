package spending_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// account opens an account on a log of its own.
func account(t *testing.T, id string, usd float64, parent spending.Parent) (*spending.Account, *eventlog.Log) {
	t.Helper()
	meter := &budget.Meter{}
	log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: id, Now: time.Now}, meter))(t)
	return spending.New(spending.Config{
		Session: id, Limits: budget.Limits{USD: usd}, Parent: parent, Now: time.Now, Log: log, Meter: meter,
	}), log
}

// SPEC 8.1: a child's request is reserved with its parent and charged to it, once,
// and what was refused is given back.
func TestChildSpendsFromParent(t *testing.T) {
	parent, log := account(t, "parent", 1, nil)
	child, _ := account(t, "child", 0, parent)
	price := llm.Price{Input: 1, Output: 1}
	ask := budget.Ask{Price: &price, Input: 100_000, MaxOutput: 10_000}
	if _, settle, err := child.ReserveWithParent(t.Context(), ask); err != nil || settle(t.Context()) != nil {
		t.Fatal(err)
	}
	if spent, _ := parent.Spent(); spent.USD != 0 {
		t.Errorf("what was given back is charged: %v", spent.USD)
	}
	_, settle, err := child.ReserveWithParent(t.Context(), ask)
	must.Do(t, err)
	cost := 0.9
	must.Do(t, settle(t.Context(), event.Charged{Usage: llm.Usage{Known: true, Input: 1}, USD: &cost, Requests: 1}))
	spent, _ := parent.Spent()
	if spent.USD != cost || spent.Requests != 1 || log.Last() == 0 {
		t.Errorf("the parent spent %v in %d requests", spent.USD, spent.Requests)
	}
	limit := (*budget.LimitError)(nil)
	if _, _, err := child.ReserveWithParent(t.Context(), budget.Ask{Price: &price, Input: 900_000, MaxOutput: 10_000}); !errors.As(err, &limit) {
		t.Errorf("more than is left: %v", err)
	}
}

// SPEC 8.1: a child's own reservation ends with its request, and where its parent
// refuses the request: then the next one has the whole of the child's limit.
func TestChildsOwnReservationEnds(t *testing.T) {
	price := llm.Price{Input: 1, Output: 1}
	small := budget.Ask{Price: &price, Input: 100_000, MaxOutput: 1000}
	most := budget.Ask{Price: &price, Input: 900_000, MaxOutput: 1000}
	for name, usd := range map[string]float64{"settled": 5, "refused": 0.05} {
		parent, _ := account(t, "parent", usd, nil)
		child, _ := account(t, "child", 1, parent)
		_, settle, err := child.ReserveWithParent(t.Context(), small)
		if (err != nil) != (name == "refused") {
			t.Fatal(name, err)
		}
		if err == nil && settle(t.Context()) != nil {
			t.Fatal(name, "is not settled")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it does not wait
		if _, err := child.Reserve(ctx, most); err != nil {
			t.Errorf("%s: its reservation is still held: %v", name, err)
		}
	}
}

// SPEC 8.1: requests that reach a limit together are one question, and its answer counts
// for both.
func TestOneQuestionForALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		meter := &budget.Meter{}
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}, meter))(t)
		asked, answer := 0, make(chan event.Answered)
		acc := spending.New(spending.Config{
			Session: "s", Limits: budget.Limits{USD: 0.1}, Person: true, Now: time.Now, Log: log, Meter: meter,
			Ask: func(context.Context, event.Asked) (event.Answered, error) {
				log.View(func() { asked++ })
				return <-answer, nil
			},
		})
		price := llm.Price{Input: 1, Output: 1}
		done := make(chan error)
		for range 2 {
			go func() {
				_, err := acc.Reserve(t.Context(), budget.Ask{Price: &price, Input: 200_000, MaxOutput: 1000})
				done <- err
			}()
		}
		synctest.Wait()
		if asked != 1 {
			t.Errorf("asked %d times at once", asked)
		}
		answer <- event.Answered{Text: "no limit"}
		for range 2 {
			select {
			case err := <-done:
				if err != nil {
					t.Error(err)
				}
			case answer <- event.Answered{Text: "no limit"}:
				t.Error("asked again")
			}
		}
	})
}
