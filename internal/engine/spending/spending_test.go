package spending_test

import (
	"errors"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// account opens an account on a log of its own.
func account(t *testing.T, id string, usd float64, parent spending.Parent) (*spending.Account, *eventlog.Log) {
	t.Helper()
	meter := &budget.Meter{}
	log, err := eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: id, Now: time.Now}, meter)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	cost := 0.9
	if err := settle(t.Context(), event.Charged{Usage: llm.Usage{Known: true, Input: 1}, USD: &cost, Requests: 1}); err != nil {
		t.Fatal(err)
	}
	spent, _ := parent.Spent()
	if spent.USD != cost || spent.Requests != 1 || log.Last() == 0 {
		t.Errorf("the parent spent %v in %d requests", spent.USD, spent.Requests)
	}
	limit := (*budget.LimitError)(nil)
	if _, _, err := child.ReserveWithParent(t.Context(), budget.Ask{Price: &price, Input: 900_000, MaxOutput: 10_000}); !errors.As(err, &limit) {
		t.Errorf("more than is left: %v", err)
	}
}
