package session

import (
	"context"
	"iter"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Owner is a session in the process that holds it. A session that is opened with
// Config.Owner mirrors it: its log is that of the owner, and what is submitted
// goes there.
type Owner interface {
	// Events is Session.Events of the owner. It ends when the owner does.
	Events(ctx context.Context, after int64) iter.Seq2[event.Event, error]
	// Submit is Session.Submit of the owner.
	Submit(ctx context.Context, op Op) (int64, error)
	// PlanUndo is Session.PlanUndo of the owner. Of the plans that it made, Submit takes
	// the last one.
	PlanUndo(ctx context.Context, w undo.Selector) (undo.Plan, error)
}

// PlanUndo returns what an undo, or a redo, would do: Changes.Plan where the session is held.
func (s *Session) PlanUndo(ctx context.Context, w undo.Selector) (undo.Plan, error) {
	if s.mirrors() {
		return s.cfg.Owner.PlanUndo(ctx, w)
	}
	return s.View().Changes().Plan(ctx, w)
}

// mirrors reports whether another process owns the session.
func (s *state) mirrors() bool { return s.cfg.Owner != nil }

// mirror takes over what happens at the owner until that ends, which ends all
// readers.
func (s *Session) mirror() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.release = func() {
		stop()
		<-done
	}
	events := s.cfg.Owner.Events(ctx, s.log.Last()) // before anything is submitted
	go func() {
		defer close(done)
		for e, err := range events {
			if err != nil {
				break // the owner is gone, which is told by the end
			}
			s.log.Mirror(e)
		}
		s.log.EndReaders(true)
	}()
}

// submitToOwner submits an operation. It returns after its first event is here too, so
// that Busy knows of it.
func (s *Session) submitToOwner(ctx context.Context, op Op) (int64, error) {
	cause, err := s.cfg.Owner.Submit(ctx, op)
	// Its event may arrive at any moment of this: what follows begins where the look was.
	if came := s.log.Last(); came < cause {
		for e := range s.log.Events(ctx, came) {
			if e.Seq >= cause {
				break
			}
		}
	}
	return cause, err
}

// isBusy reports whether the log has something open that has the session to itself.
func (s *state) isBusy() bool {
	return eventlog.Query(s.log, func() bool { return s.operation.Turn() || s.operation.Op() != "" })
}
