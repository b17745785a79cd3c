package session

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/operations"
)

// Outcome is the result of a prompt.
type Outcome struct {
	Began int64 // the sequence number of its Prompted
	Ended event.Ended
	Reply string // the last words of the model, or the answer from the cache
	By    string // who interrupted it, "" if it was not interrupted
	// Cached: the reply was given before, and no model was asked.
	Cached bool
	// Fallbacks are the retries with another model.
	Fallbacks []event.Retried
	// Unanswered: a call of the model was denied because nobody could be asked, and no call
	// succeeded after it.
	Unanswered bool

	said event.Answer
}

// Observer receives the events of a run. The zero value receives none.
type Observer struct {
	After int64 // the stored events after this sequence number come first
	// See is called with each event, also ephemeral ones. An error interrupts the run.
	See func(event.Event) error
}

// RunPrompt runs a prompt to its end, and the turn that a prompt begins which came while
// the turn was ending: its outcome is that of the last turn. When it returns, nothing of
// them is still running, and their ends are recorded unless the log cannot be written. When
// ctx ends, the turn is interrupted and RunPrompt waits for its end; if the cause of ctx is
// an Interrupt, that names who interrupted it.
//
// RunPrompt returns an error if the prompt was not run, if w.See failed, or if the log
// failed. A turn that failed is not an error: see Outcome.Ended. A busy session
// refuses the prompt (fault.ErrBusy), since a prompt that joins another turn
// has no end of its own.
func (s *Session) RunPrompt(ctx context.Context, p Prompt, w Observer) (Outcome, error) {
	after := s.log.Last()
	if w.See != nil {
		after = min(after, w.After)
	}
	// The end of ctx interrupts the turn, but the events of its end must still be read.
	reading, done := context.WithCancel(context.WithoutCancel(ctx))
	defer done()
	events := s.Events(reading, after)
	r, err := s.start(ctx, p, "the prompt cannot be run")
	if err != nil {
		done()
		for range events { // a subscription ends with its loop
			break
		}
		return Outcome{}, err
	}
	out := Outcome{Began: r.Cause()}
	var cause atomic.Int64 // of the turn; 0: the one that the next prompt begins
	cause.Store(r.Cause())
	interrupt := func() { s.ops.InterruptRun(cause.Load(), interruptedBy(ctx)) }
	over, ended := r.Done(), false
	defer func() {
		if !ended { // a panic of w.See leaves nothing behind either
			s.ops.InterruptRun(cause.Load(), "caller")
		}
		<-over
	}()
	defer context.AfterFunc(ctx, interrupt)()
	for e, err := range events {
		if err != nil {
			return out, err
		}
		if w.See != nil {
			if err := w.See(e); err != nil {
				return out, err
			}
		}
		if _, ok := e.Body.(event.Prompted); ok && cause.CompareAndSwap(0, e.Seq) && ctx.Err() != nil {
			interrupt()
		}
		if e.Seq <= cause.Load() || e.Cause != cause.Load() || !out.apply(e.Body) {
			continue
		}
		ended = true
		<-over
		next := s.ops.TurnAfter(e.Seq)
		if next == nil || ctx.Err() != nil {
			return out, nil
		}
		over, ended = next, false
		cause.Store(0)
		out.By, out.Cached = "", false
	}
	ended = true // its end could not be recorded
	if err := s.log.Broken(); err != nil {
		return out, err
	}
	return out, fault.NewInternal(nil, "session %s was closed", s.cfg.ID)
}

// apply applies an event of the run, and reports whether it is the last one.
func (o *Outcome) apply(b event.Body) bool {
	o.said.Apply(b)
	switch b := b.(type) {
	case event.Replied:
		if t := o.said.Text(); t != "" {
			o.Reply = t
		}
	case event.Recalled:
		o.Reply, o.Cached = b.Text, b.Key != ""
	case event.Retried:
		if b.Model != "" {
			o.Fallbacks = append(o.Fallbacks, b)
		}
	case event.Blocked:
		o.Unanswered = o.Unanswered || b.By == event.ByNobody && !strings.HasPrefix(b.Call+"-", event.CheckCall+"-") // of pawl's own, its report tells
	case event.CallDone:
		o.Unanswered = o.Unanswered && b.Outcome != event.OK
	case event.Interrupted:
		o.By = b.By
	case event.Ended:
		o.Ended = b
		return true
	}
	return false
}

// Do submits an operation and waits for its end, as Await does. The error says why it could
// not be submitted or waited for; whether it did what it should is in its end.
func (s *Session) Do(ctx context.Context, op Op) (event.OpDone, error) {
	started, err := s.Submit(ctx, op)
	if err != nil {
		return event.OpDone{}, err
	}
	return s.Await(ctx, started)
}

// Await waits for the end of the operation that started at this sequence number.
// When ctx ends first, the operation is interrupted and Await waits for its
// end.
func (s *Session) Await(ctx context.Context, started int64) (event.OpDone, error) {
	events := s.Events(context.WithoutCancel(ctx), started)
	defer context.AfterFunc(ctx, func() {
		if s.mirrors() {
			_, _ = s.Submit(context.WithoutCancel(ctx), Interrupt{By: interruptedBy(ctx)}) // if the owner is gone, nothing runs
			return
		}
		s.ops.InterruptRun(started, interruptedBy(ctx))
	})()
	for e, err := range events {
		if err != nil {
			return event.OpDone{}, err
		}
		if done, ok := e.Body.(event.OpDone); ok && e.Cause == started {
			return done, nil
		}
	}
	if err := s.log.Broken(); err != nil {
		return event.OpDone{}, err
	}
	return event.OpDone{}, fault.NewInternal(nil, "session %s was closed", s.cfg.ID)
}

// interruptedBy returns who ended a context: the Interrupt that is its cause, or else the caller.
func interruptedBy(ctx context.Context) string {
	if i := (Interrupt{}); errors.As(context.Cause(ctx), &i) {
		return i.By
	}
	if i := (*operations.Interruption)(nil); errors.As(context.Cause(ctx), &i) {
		return i.By // of the parent session
	}
	return "caller"
}

// TurnAfter reports whether a turn began after an event, or is about to begin.
func (s *Session) TurnAfter(seq int64) bool { return s.ops.TurnAfter(seq) != nil }

// Busy reports whether something has the session to itself. An operation that
// has recorded its end does not count.
func (s *Session) Busy() bool {
	if s.mirrors() {
		return s.isBusy()
	}
	return s.ops.Busy()
}
