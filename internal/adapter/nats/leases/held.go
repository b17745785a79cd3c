package leases

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Held is a lease that this worker has. Its methods may be called from anywhere.
type Held struct {
	*joined
	Fence int64
	Job   Job
}

// Swarm returns the name of the swarm.
func (h *Held) Swarm() string { return h.swarm }

// tellWithin bounds how long a call waits to be told of: what it is for is
// advice.
const tellWithin = 2 * time.Second

// Saw tells a call, and returns what the worker is to be told, if anything. Where
// the Board is away, nothing comes of it.
func (h *Held) Saw(ctx context.Context, c swarm.Call, f *swarm.Failure) (tell string) {
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	body, err := h.ask(ctx, kindSaw, encode(saw{Call: c, Failure: f}))
	if err != nil || json.Unmarshal(body, &tell) != nil {
		return ""
	}
	return tell
}

// Reserve asks the swarm for money for a request. It waits for others.
func (h *Held) Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error) {
	body, err := h.ask(ctx, kindReserve, encode(a))
	if err != nil {
		return budget.Grant{}, err
	}
	var r reserved
	if err := json.Unmarshal(body, &r); err != nil {
		return budget.Grant{}, err
	}
	if r.Limit != nil {
		return budget.Grant{}, r.Limit
	}
	return r.Grant, nil
}

// settleWithin bounds how long what a request cost is tried to be told. After
// that the lease is over, and the Board counts all that was set aside.
const settleWithin = time.Minute

// Settle tells what a request cost, also where the turn has ended.
func (h *Held) Settle(ctx context.Context, grant int, cs ...event.Charged) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(settleWithin, h.lease))
	defer cancel()
	_, err := h.ask(ctx, kindSettle, encode(settled{Grant: grant, Charged: cs}))
	return err
}

// Put stores a file for the Board, and returns its name.
func (h *Held) Put(ctx context.Context, path string) (string, error) {
	return put(ctx, h.objects, path)
}

// Get returns what the Board stored, up to a size.
func (h *Held) Get(ctx context.Context, name string, max int64) (io.ReadCloser, error) {
	return get(ctx, h.objects, name, max)
}
