package chat

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// Follower follows an open session with one subscription from its first event
// to its end, so that it also sees events between turns. One goroutine reads
// it: Next for new events, CatchUp for existing ones.
type Follower struct {
	s      *session.Session
	early  *early // what was before the events that it passes on
	events chan arrived
	stop   context.CancelFunc
	seen   int64 // the last event of the log that was folded
}

type arrived struct {
	event.Event
	err   error
	early *early // in place of an event: those up to its number are folded in it
}

// ErrOver is what Next returns after a session's last event.
var ErrOver = errors.New("the session has ended")

// Follow starts to follow a session, until ctx ends, the session is closed or
// Stop is called. A slow reader loses pieces of streamed text, never a block.
func Follow(ctx context.Context, s *session.Session) *Follower { return followFrom(ctx, s, 0) }

// followFrom is Follow without the changes of the events up to one: of what they came to,
// only the blocks that are still open are Added.
func followFrom(ctx context.Context, s *session.Session, from int64) *Follower {
	ctx, stop := context.WithCancel(ctx)
	c := &Follower{s: s, early: &early{}, events: make(chan arrived), stop: stop}
	events := s.Events(ctx, from)
	go func() {
		defer close(c.events)
		send := func(e arrived) bool {
			select {
			case c.events <- e:
				return true
			case <-ctx.Done():
				return false // stopped on purpose: not an error
			}
		}
		if from > 0 {
			before := newEarly()
			err := s.View().FoldTo(ctx, from, eventlog.Snapshots{Name: "shown", Every: earlyEvery, Fresh: func() []event.Fold { return []event.Fold{newEarly()} }}, before)
			if ctx.Err() != nil || !send(arrived{event.Event{Seq: from}, err, before}) {
				return
			}
		}
		for e, err := range events {
			if ctx.Err() != nil || !send(arrived{e, err, nil}) {
				return
			}
		}
	}()
	return c
}

// Next waits for an event and returns its changes, which may be none.
func (c *Follower) Next(ctx context.Context) ([]Change, error) {
	var e arrived
	ok := false
	select {
	case e, ok = <-c.events:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return c.fold(e, ok)
}

// fold folds an event; ok is false after the last one.
func (c *Follower) fold(e arrived, ok bool) ([]Change, error) {
	switch {
	case !ok:
		return nil, ErrOver
	case e.err != nil:
		return nil, e.err
	}
	c.seen = max(c.seen, e.Seq)
	if e.early == nil {
		return c.early.timeline.Apply(e.Event), nil
	}
	c.early = e.early
	var out []Change
	for _, b := range c.early.timeline.Open() {
		out = append(out, Change{What: Added, Block: b})
	}
	return out, nil
}

// CatchUp folds the events that the session's log has by now, and passes each
// change to see: those before a session was opened again, and those since the
// last Next.
func (c *Follower) CatchUp(ctx context.Context, see func(Change)) error {
	for last := c.s.View().Last(); c.seen < last; {
		changes, err := c.Next(ctx)
		if err != nil {
			return err
		}
		for _, ch := range changes {
			see(ch)
		}
	}
	return nil
}

// Open returns the open blocks, in the order of their appearance.
func (c *Follower) Open() []Block { return c.early.timeline.Open() }

// Stop ends it; the session stays open.
func (c *Follower) Stop() { c.stop() }

// earlyEvery is four times the number of events after which the next snapshot of what is
// not shown is taken. It is small.
const earlyEvery = 4000

// early is what the events before those that are shown came to.
type early struct {
	timeline       Timeline
	prompt, answer string // the last ones
	bodies         []Body // of every kind: snapshots have to know them
}

func newEarly() *early {
	return &early{bodies: []Body{
		Prompt{}, Thinking{}, Reply{}, Call{}, Command{}, Check{}, Question{}, Retry{}, Crew{}, Aside{}, Document{}, Plan{}, Phase{}, Note{}, TurnEnd{},
	}}
}

// Apply implements event.Fold.
func (f *early) Apply(e event.Event) {
	for _, ch := range f.timeline.Apply(e) {
		f.recall(ch)
	}
	f.timeline.changes = nil
}

// recall keeps the last prompt and its answer.
func (f *early) recall(ch Change) {
	switch b := ch.Block.Body.(type) {
	case Prompt:
		if b.Source != event.Autofix {
			f.prompt, f.answer = b.Text, ""
		}
	case Reply:
		f.answer = b.Text
	}
}
