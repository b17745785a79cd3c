package swarm

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Bank is the swarm's account for its workers. A reservation is in the swarm's log
// before the request is sent: if the coordinator dies, the next one charges what may
// have been spent (side.Fold), so no limit is exceeded. Its methods are safe for
// concurrent use.
type Bank struct {
	Account spending.Parent
	Log     Log
}

// requestName names the request of a reservation, as SideRequest.ID and By. Reservations
// of an earlier process with the same number are closed when the log is opened again.
func requestName(grant int) string { return fmt.Sprintf("worker request %d", grant) }

func (b Bank) Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error) {
	g, err := b.Account.Reserve(ctx, a)
	if err != nil {
		return g, err
	}
	name := requestName(g.ID)
	if err := b.Log.Append(ctx, event.Draft{Body: event.SideRequest{ID: name, By: name, Input: g.Tokens, Reserved: g.USD}}); err != nil {
		return budget.Grant{}, errors.Join(err, b.Account.Settle(context.WithoutCancel(ctx), g.ID))
	}
	return g, nil
}

// Settle implements spending.Parent: what the request cost and that it is settled are
// recorded as one.
func (b Bank) Settle(ctx context.Context, grant int, cs ...event.Charged) error {
	name := requestName(grant)
	closes := event.Charged{By: name, Request: name, Usage: llm.Usage{Known: true}, USD: new(float64)}
	all := append(slices.Clone(cs), closes)
	for i := range cs {
		all[i].Request = "" // of the worker's own session
	}
	return b.Account.Settle(ctx, grant, all...)
}
