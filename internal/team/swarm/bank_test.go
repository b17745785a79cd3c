package swarm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// SPEC 8.1, 14.6: what workers had reserved when the coordinator died counts as spent
// for the next one, and what was settled does not count twice.
func TestReservationsOutliveTheCoordinator(t *testing.T) {
	store := memory.New(time.Now)
	open := func() (*spending.Account, *side.Fold, Bank) {
		meter, flight := &budget.Meter{}, &side.Fold{}
		log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: store, Session: "s", Now: time.Now}, meter, flight))(t)
		acc := spending.New(spending.Config{Session: "s", Limits: budget.Limits{USD: 1}, Now: time.Now, Log: log, Meter: meter})
		return acc, flight, Bank{Account: acc, Log: log}
	}
	ask := budget.Ask{Price: &llm.Price{Input: 1, Output: 1}, Input: 90_000, MaxOutput: 10_000, Child: true} // 0.10 USD
	_, flight, bank := open()
	paid, lost := budget.Grant{}, budget.Grant{}
	for _, g := range []*budget.Grant{&paid, &lost} {
		var err error
		if *g, err = bank.Reserve(t.Context(), ask); err != nil {
			t.Fatal(err)
		}
	}
	// The name of a request in what a worker reports is not believed.
	must.Do(t, bank.Settle(t.Context(), paid.ID, event.Charged{By: "w1", Request: requestName(lost.ID), USD: new(0.25), Usage: llm.Usage{Known: true, Input: 1}, Requests: 1}))
	if n := len(flight.Lost()); n != 1 {
		t.Fatalf("%d are in flight", n)
	}

	acc, flight, bank := open()                                            // after kill -9
	if err := bank.Log.Append(t.Context(), flight.Lost()...); err != nil { // as a session that is opened again does
		t.Fatal(err)
	}
	if spent, _ := acc.Spent(); spent.USD != 0.25 || spent.Guessed < 0.0999 || spent.Guessed > 0.1001 || len(flight.Lost()) != 0 || spent.Requests != 2 {
		t.Errorf("%+v, %+v", spent, flight.Lost())
	}
	if _, err := bank.Reserve(t.Context(), budget.Ask{Price: ask.Price, Input: 700_000, MaxOutput: 500_000, Child: true}); err == nil {
		t.Error("more was reserved than is left")
	}
}

// noLog takes nothing.
type noLog struct{ Log }

func (noLog) Append(context.Context, ...event.Draft) error { return errors.New("disk full") }

// counts is an account that only counts what is held.
type counts struct{ held int }

func (c *counts) Reserve(context.Context, budget.Ask) (budget.Grant, error) {
	c.held++
	return budget.Grant{ID: c.held}, nil
}

func (c *counts) Settle(context.Context, int, ...event.Charged) error { c.held--; return nil }

// SPEC 14.2: a reservation that cannot be recorded is released.
func TestUnrecordedReservationIsReleased(t *testing.T) {
	acc := &counts{}
	if _, err := (Bank{Account: acc, Log: noLog{}}).Reserve(t.Context(), budget.Ask{}); err == nil || acc.held != 0 {
		t.Errorf("%v, %d are held", err, acc.held)
	}
}
