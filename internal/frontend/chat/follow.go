package chat

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// Follower follows an open session with one subscription from its first event
// to its end, so that it also sees events between turns. One goroutine reads
// it: Next for new events, CatchUp for existing ones.
type Follower struct {
	s        *session.Session
	timeline Timeline
	events   chan arrived
	stop     context.CancelFunc
	seen     int64 // the last event of the log that was folded
}

type arrived struct {
	event.Event
	err error
}

// ErrOver is what Next returns after a session's last event.
var ErrOver = errors.New("the session has ended")

// Follow starts to follow a session, until ctx ends, the session is closed or
// Stop is called. A slow reader loses pieces of streamed text, never a block.
func Follow(ctx context.Context, s *session.Session) *Follower {
	ctx, stop := context.WithCancel(ctx)
	c := &Follower{s: s, events: make(chan arrived), stop: stop}
	events := s.Events(ctx, 0)
	go func() {
		defer close(c.events)
		for e, err := range events {
			if ctx.Err() != nil {
				return // that it was stopped is no error
			}
			select {
			case c.events <- arrived{e, err}:
			case <-ctx.Done():
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
	return c.timeline.Apply(e.Event), nil
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
func (c *Follower) Open() []Block { return c.timeline.Open() }

// Stop ends it; the session stays open.
func (c *Follower) Stop() { c.stop() }
