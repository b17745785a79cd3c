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
	prefix *prefix // with the timeline
	events chan received
	stop   context.CancelFunc
	seen   int64 // the last event of the log that was folded
}

type received struct {
	event.Event
	err    error
	prefix *prefix // of the events up to Seq, instead of an event
}

// ErrSessionEnded is what Next returns after a session's last event.
var ErrSessionEnded = errors.New("the session has ended")

// Follow starts to follow a session, until ctx ends, the session is closed or
// Stop is called. A slow reader loses pieces of streamed text, never a block.
func Follow(ctx context.Context, s *session.Session) *Follower { return followFrom(ctx, s, 0) }

// followFrom is Follow without the changes of the events up to from. Of these, only the
// blocks that are still open are Added.
func followFrom(ctx context.Context, s *session.Session, from int64) *Follower {
	ctx, stop := context.WithCancel(ctx)
	c := &Follower{s: s, prefix: &prefix{}, events: make(chan received), stop: stop}
	events := s.Events(ctx, from)
	go func() {
		defer close(c.events)
		send := func(e received) bool {
			select {
			case c.events <- e:
				return true
			case <-ctx.Done():
				return false // stopped on purpose: not an error
			}
		}
		if from > 0 {
			before := newPrefix()
			err := s.View().FoldTo(ctx, from, eventlog.Snapshots{Name: "shown", Every: snapshotEvery, Fresh: func() []event.Fold { return []event.Fold{newPrefix()} }}, before)
			if ctx.Err() != nil || !send(received{event.Event{Seq: from}, err, before}) {
				return
			}
		}
		for e, err := range events {
			if ctx.Err() != nil || !send(received{e, err, nil}) {
				return
			}
		}
	}()
	return c
}

// Next waits for an event and returns its changes, which may be none.
func (c *Follower) Next(ctx context.Context) ([]Change, error) {
	var e received
	ok := false
	select {
	case e, ok = <-c.events:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return c.fold(e, ok)
}

// fold folds an event; ok is false after the last one.
func (c *Follower) fold(e received, ok bool) ([]Change, error) {
	switch {
	case !ok:
		return nil, ErrSessionEnded
	case e.err != nil:
		return nil, e.err
	}
	c.seen = max(c.seen, e.Seq)
	if e.prefix == nil {
		return c.prefix.timeline.Apply(e.Event), nil
	}
	c.prefix = e.prefix
	var out []Change
	for _, b := range c.prefix.timeline.Open() {
		out = append(out, Change{What: Added, Block: b})
	}
	return out, nil
}

// CatchUp folds the events that the log has now and Next has not returned, and
// passes each change to see.
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
func (c *Follower) Open() []Block { return c.prefix.timeline.Open() }

// Stop stops following; the session stays open.
func (c *Follower) Stop() { c.stop() }

// snapshotEvery is as eventlog.Snapshots.Every: a small value, since a prefix is small.
const snapshotEvery = 4000

// prefix is the state after the events that are not shown.
type prefix struct {
	timeline       Timeline
	prompt, answer string // the last ones
	bodies         []Body // one of each type, which snapshots have to know
}

func newPrefix() *prefix {
	return &prefix{bodies: []Body{
		Prompt{}, Thinking{}, Reply{}, Call{}, Command{}, Check{}, Question{}, Retry{}, Crew{}, Aside{}, Document{}, Plan{}, Phase{}, Note{}, TurnEnd{},
	}}
}

func (f *prefix) Apply(e event.Event) {
	for _, ch := range f.timeline.Apply(e) {
		f.trackLast(ch)
	}
	f.timeline.changes = nil
}

// trackLast remembers the last prompt and its answer.
func (f *prefix) trackLast(ch Change) {
	switch b := ch.Block.Body.(type) {
	case Prompt:
		if b.Source != event.Autofix {
			f.prompt, f.answer = b.Text, ""
		}
	case Reply:
		f.answer = b.Answer()
	}
}
