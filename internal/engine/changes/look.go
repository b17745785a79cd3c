package changes

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file is the journal as a stage around a call: a call of which it is not
// known what it will touch has the workspace compared before and after it,
// whatever its tool does there. A call whose footprint is known needs none.

// look is such a call between its two snapshots.
type look struct {
	named      undo.Named
	ignored    []string // files that it is to destroy and of which no copy is kept
	background bool     // it started a command that runs on
}

func (r *Recorder) lookOf(p *turn.Pending) *look {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.looks[p]
}

// Start is part of turn.Starter: the snapshot before a call.
func (r *Recorder) Start(ctx context.Context, p *turn.Pending) *turn.Refusal {
	if r.tracker == nil || !p.Footprint.Unknown {
		return nil
	}
	l := &look{named: r.place().Names(p.Footprint.Commands)}
	if err := r.tracker.begin(ctx, r, p.Call.ID, l.named); err != nil {
		r.tracker.abandon()
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	l.ignored = r.ignored(ctx, p.Footprint.Commands)
	r.mu.Lock()
	r.looks[p] = l
	r.mu.Unlock()
	return nil
}

// After is part of turn.After: the snapshot after a call. It is also taken where
// the call failed or was cut short: what it did stands.
func (r *Recorder) After(ctx context.Context, ran *turn.Ran) error {
	l := r.lookOf(ran.Pending)
	if l == nil {
		return nil
	}
	r.mu.Lock()
	delete(r.looks, ran.Pending)
	r.mu.Unlock()
	if !ran.Started || l.background {
		r.tracker.abandon()
		return nil
	}
	ds, blind, err := r.tracker.end(ctx, r, ran.Call.ID, l.named)
	if err != nil {
		return err
	}
	cs := bodies(ds)
	if err := r.cfg.Record(context.WithoutCancel(ctx), append(ds, notRestorable(r.goneOf(ctx, l.ignored), cs)...)...); err != nil {
		return err
	}
	ran.Changed(cs...)
	r.tell(ran, cs, blind, r.destroyed(ctx, l.ignored))
	return r.tracker.recorded(r)
}

// tell notes on a result what its call changed. What can not be put back is
// shown to the person too.
func (r *Recorder) tell(ran *turn.Ran, cs []event.FileChanged, blind bool, more string) {
	told, lost := changeNotes(cs)
	lost += more
	if blind {
		lost += "[what this command changed could not be recorded, and may not be put back by undo]\n"
	}
	if told+lost != "" {
		ran.Note(told + lost)
	}
	if lost != "" {
		r.log.Publish(event.OutputDelta{Call: ran.Call.ID, Text: lost})
	}
}
