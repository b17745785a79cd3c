package session

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/operations"
)

// Pause makes the running turn stop before its next request and ask whether to
// continue (SPEC 1.5), after the running step. An answer other than the options
// is passed to the model. If nothing runs, or nobody is there to answer, it is
// refused.
type Pause struct{}

func (Pause) submit(_ context.Context, s *Session) (int64, error) {
	if !s.cfg.Person {
		return 0, fault.NewConfiguration("", "a turn can be paused only where a person can continue it")
	}
	if !s.Busy() || !s.ops.SetPause(true) {
		return 0, fault.NewConfiguration("", "no turn is running")
	}
	s.log.Publish(event.Warned{What: event.WarnedPause, Text: "the turn pauses before the next request"})
	return 0, nil
}

// paused waits if a person asked for it. The error is why the turn must not continue.
func (s *Session) paused(ctx context.Context) error {
	if !s.ops.SetPause(false) {
		return nil
	}
	a, err := s.questions.Ask(ctx, event.Asked{Why: event.AskedPause, Text: "Paused. Go on?", Options: []string{goOn, stopHere}})
	switch {
	case err != nil:
		return err
	case a.Text == stopHere:
		return &operations.Interruption{Why: &fault.Error{Category: fault.Cancellation, Kind: fault.ErrInterrupted, Message: "stopped by the person during a pause"}, By: "person"}
	case a.Text == goOn || a.Text == "":
		return nil
	}
	return s.log.Append(ctx, event.Draft{Body: event.Noted{Why: event.NotedPause, Text: "[The user says: " + a.Text + "]"}})
}
