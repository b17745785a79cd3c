package session

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// This file is the one place where something gets the session to itself: a
// turn, a person's command, a compaction, an undo, another model. What comes
// meanwhile waits where it is a prompt, and is refused with a sentence else.

// run is what has the session to itself.
type run struct {
	what   string // for a sentence: "a turn runs"
	ctx    context.Context
	cancel context.CancelCauseFunc
	cause  int64
	pause  bool          // before the next request
	gone   chan struct{} // closed when nothing of it is left
}

func newRun(ctx context.Context, what string) *run {
	r := &run{what: what, gone: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// begin gives the session to r. Where something else has it, a prompt (first)
// is queued, and queued is true; all else is refused: cannot says what is not
// done. What has recorded its end is waited for: nothing of it blocks.
func (s *Session) begin(ctx context.Context, r *run, first *Prompt, cannot string) (queued bool, err error) {
	for {
		s.mu.Lock()
		other := s.running
		if s.closing {
			s.mu.Unlock()
			return false, fault.NewInternal(nil, "session %s is closed", s.cfg.ID)
		}
		if other == nil {
			s.running = r
			s.turns.Add(1) // under the lock, so that Close waits for it
			s.mu.Unlock()
			break
		}
		if first != nil {
			s.queue = append(s.queue, *first)
			s.mu.Unlock()
			return true, nil
		}
		leaving := s.leaving()
		s.mu.Unlock()
		if !leaving {
			return false, &fault.Error{
				Category: fault.Configuration, Kind: fault.ErrBusy, Message: cannot + " while " + other.what, Hint: "interrupt it first, or wait",
			}
		}
		select {
		case <-other.gone:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	if err := s.catchUp(ctx); err != nil {
		s.goOnAfter(r)
		return false, err
	}
	return false, nil
}

// goOnAfter takes the session from r and runs the prompts that came meanwhile.
func (s *Session) goOnAfter(r *run) {
	next := s.next(r)
	if next == nil {
		s.turns.Done()
		return
	}
	go func() {
		defer s.turns.Done()
		s.turn(next)
	}()
}

// next gives the session from what has ended to the turn of the next prompt
// that waits; nil where none does, and nothing runs then.
func (s *Session) next(ended *run) *run {
	ended.cancel(nil)
	defer close(ended.gone)
	broken := s.log.Broken()
	s.mu.Lock()
	s.cause.Store(0)
	if len(s.queue) == 0 || broken != nil {
		s.running = nil
		s.mu.Unlock()
		return nil
	}
	p := s.queue[0]
	s.queue = s.queue[1:]
	r := newRun(context.WithoutCancel(ended.ctx), turnRuns)
	s.running = r
	s.mu.Unlock()
	// Also where an interrupt came in between: the turn then says so.
	if s.record(context.WithoutCancel(r.ctx), s.prompted(p)...) != nil {
		return s.next(r)
	}
	s.caused(r)
	return r
}

// caused makes what r began with, which is recorded, the cause of what it does.
func (s *Session) caused(r *run) {
	began := eventlog.Look(s.log, func() int64 { return s.course.began })
	s.mu.Lock()
	defer s.mu.Unlock()
	r.cause = began
	s.cause.Store(began)
}

// exclusive gives the session to its caller until done is called. What it does
// ends with the context that it returns: an interrupt does so.
func (s *Session) exclusive(ctx context.Context, cannot string) (_ context.Context, done func(), err error) {
	r := newRun(ctx, filesAreLooked)
	if _, err := s.begin(ctx, r, nil, cannot); err != nil {
		r.cancel(nil)
		return nil, nil, err
	}
	return r.ctx, func() { s.goOnAfter(r) }, nil
}

// What runs, for a sentence.
const (
	turnRuns       = "a turn runs"
	commandRuns    = "a command runs"
	compacting     = "the conversation is compacted"
	modelChanges   = "the model is changed"
	filesAreLooked = "changes are looked at, or put back"
)

// operate does an operation that has the session to itself, beside its caller.
// It returns the sequence number of the operation's start; its end is the
// OpDone that this is the cause of.
func (s *Session) operate(ctx context.Context, op event.OpStarted, cannot, what string, do func(context.Context) error) (int64, error) {
	r := newRun(context.WithoutCancel(ctx), what)
	if _, err := s.begin(ctx, r, nil, cannot); err != nil {
		r.cancel(nil)
		return 0, err
	}
	if err := s.record(ctx, event.Draft{Body: op}); err != nil {
		s.goOnAfter(r)
		return 0, err
	}
	s.caused(r)
	cause := r.cause
	go func() {
		err := do(r.ctx)
		ended := event.OpDone{Op: op.Op, Outcome: outcomeOf(r.ctx, err)}
		if err != nil {
			f := turn.Describe(err)
			ended.Error = &f
		}
		if s.record(context.WithoutCancel(r.ctx), event.Draft{Body: ended}) != nil {
			s.log.EndReaders(false)
		}
		s.goOnAfter(r)
	}()
	return cause, nil
}

func outcomeOf(ctx context.Context, err error) event.Outcome {
	switch {
	case err == nil:
		return event.OK
	case errors.Is(err, turn.ErrNothingToCompact):
		return event.NothingDone
	case ctx.Err() != nil:
		return event.Cancelled
	}
	return event.Failed
}

// Await returns how the operation ended whose start has this sequence number.
// When ctx ends first, the operation is interrupted and its end waited for.
func (s *Session) Await(ctx context.Context, started int64) (event.OpDone, error) {
	var done event.OpDone
	err := s.follow(ctx, started, func(e event.Event) (bool, error) {
		b, ok := e.Body.(event.OpDone)
		if ok && e.Cause == started {
			done = b
			return true, nil
		}
		return false, nil
	})
	return done, err
}

// follow shows what comes of what has this sequence number, until last reports
// its end. When ctx ends first, it is interrupted.
func (s *Session) follow(ctx context.Context, cause int64, last func(event.Event) (bool, error)) error {
	events := s.Events(context.WithoutCancel(ctx), cause)
	defer context.AfterFunc(ctx, func() { s.interruptRun(cause, by(ctx)) })()
	for e, err := range events {
		if err != nil {
			return err
		}
		if end, err := last(e); end || err != nil {
			return err
		}
	}
	if err := s.log.Broken(); err != nil {
		return err
	}
	return fault.NewInternal(nil, "session %s was closed", s.cfg.ID)
}

// by says who ended a context: an Interrupt that is its cause, or else the
// caller.
func by(ctx context.Context) string {
	if i := (Interrupt{}); errors.As(context.Cause(ctx), &i) {
		return i.By
	}
	return "caller"
}

// Busy reports whether something has the session to itself. What has recorded
// its end does not: what is left of it is put away without another event.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil && !s.leaving()
}

// leaving reports whether what runs has recorded its end, with nothing to
// follow. Callers hold mu.
func (s *Session) leaving() bool {
	return s.running.cause != 0 && len(s.queue) == 0 && !eventlog.Look(s.log, func() bool { return s.turnOpen || s.op != "" })
}

// interruption is why something was cut short. It wraps a cancellation of kind
// ErrInterrupted, or ErrTimeout for the run's time limit.
type interruption struct {
	why *fault.Error
	by  string
}

func (i *interruption) Error() string { return i.why.Error() }
func (i *interruption) Unwrap() error { return i.why }

func interrupted(by string) *interruption {
	why := &fault.Error{Category: fault.Cancellation, Kind: fault.ErrInterrupted, Message: "interrupted (" + by + ")"}
	if by == "timeout" {
		why.Kind, why.Message = fault.ErrTimeout, "the run reached its time limit (--timeout)"
	}
	return &interruption{why: why, by: by}
}

// interrupt cancels what runs, and forgets the prompts that wait.
func (s *Session) interrupt(by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetPrompts()
	if s.running != nil {
		s.running.cancel(interrupted(by))
	}
}

// interruptRun is interrupt where what runs has this cause.
func (s *Session) interruptRun(cause int64, by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil && s.running.cause == cause {
		s.forgetPrompts()
		s.running.cancel(interrupted(by))
	}
}

// forgetPrompts forgets the prompts that wait, but for those with an ID: their
// sender takes back what is not to run (Withdraw), so that no word is lost
// between the two. Callers hold mu.
func (s *Session) forgetPrompts() {
	if s.closing {
		s.queue = nil
	}
	s.queue = slices.DeleteFunc(s.queue, func(p Prompt) bool { return p.ID == "" })
}
