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

// Held is a lease that this worker holds. It is safe for concurrent use.
type Held struct {
	*joined
	Fence int64
	Job   Job
}

func (h *Held) Swarm() string { return h.swarm }

// Run returns the name of this run of the swarm. It differs after a restart of the
// coordinator.
func (h *Held) Run() string { return h.run() }

// tellWithin limits how long Saw waits for the Board: its answer is only advice.
const tellWithin = 2 * time.Second

// Saw reports a call to the Board and returns its messages to the worker. If the Board
// cannot be reached, the call is not reported, and the messages come with a later one.
func (h *Held) Saw(ctx context.Context, c swarm.Call, f *swarm.Failure) (tell []string) {
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	body, err := h.ask(ctx, kindSaw, encode(saw{Call: c, Failure: f}))
	if err != nil || json.Unmarshal(body, &tell) != nil {
		return nil
	}
	return tell
}

// Reserve reserves money of the swarm for a request. If other requests have reserved what
// is left, it waits.
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

// settleWithin limits how long Settle tries. After that the lease has ended, and the
// Board counts the whole reservation.
const settleWithin = time.Minute

// Settle reports what a request cost, even after the turn has ended.
func (h *Held) Settle(ctx context.Context, grant int, cs ...event.Charged) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(settleWithin, h.lease))
	defer cancel()
	_, err := h.ask(ctx, kindSettle, encode(settled{Grant: grant, Charged: cs}))
	return err
}

// Put stores what write writes for the Board, and returns its name.
func (h *Held) Put(ctx context.Context, write func(io.Writer) error) (name string, err error) {
	name = newFile()
	return name, h.files("sent").put(ctx, name, write, func() {})
}

// Get returns what the Board keeps under a name, of at most max bytes. It can be read
// while the Board still sends it. The caller closes it.
func (h *Held) Get(ctx context.Context, name string, max int64) (io.ReadCloser, error) {
	return h.Resume(ctx, name, "", max)
}

// Resume is Get for a large file: what arrives is kept in a folder of its own, and after the
// death of this process the next one begins where it stopped.
func (h *Held) Resume(ctx context.Context, name, dir string, max int64) (io.ReadCloser, error) {
	return h.files("fetched").get(ctx, name, dir, max)
}

func (h *Held) files(verb string) files {
	return files{names: h.names, js: h.js, idle: h.lease, moved: telling(verb, h.cfg.Say)}
}
