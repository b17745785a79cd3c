package session

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/engine/verify"
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
	until  verify.Verifier // of a turn's first prompt
	pause  bool            // before the next request
	gone   chan struct{}   // closed when nothing of it is left
}

// operations is who has the session to itself, and what waits for it.
type operations struct {
	*state
	turn func(*run) // runs turns until no prompt waits

	mu      sync.Mutex // guards what runs and what waits
	closing bool       // nothing new begins
	queue   []Prompt
	running *run
	later   []event.Draft // what the model is told before its next request
	queued  chan struct{} // has a token where a prompt was queued

	turns sync.WaitGroup
}

func newRun(ctx context.Context, what string) *run {
	r := &run{what: what, gone: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// begin gives the session to r. Where something else has it, a prompt (first)
// is queued, and queued is true; all else is refused: cannot says what is not
// done. What has recorded its end is waited for: nothing of it blocks.
func (o *operations) begin(ctx context.Context, r *run, first *Prompt, cannot string) (queued bool, err error) {
	for {
		o.mu.Lock()
		other := o.running
		if o.closing {
			o.mu.Unlock()
			return false, fault.NewInternal(nil, "session %s is closed", o.cfg.ID)
		}
		if other == nil {
			o.running = r
			o.turns.Add(1) // under the lock, so that Close waits for it
			o.mu.Unlock()
			break
		}
		leaving := o.leaving()
		if first != nil && !leaving {
			o.queue = append(o.queue, *first)
			o.mu.Unlock()
			select {
			case o.queued <- struct{}{}:
			default: // nobody took the last one
			}
			return true, nil
		}
		o.mu.Unlock()
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
	// From here on it is begun: what ends ctx interrupts it, and leaves a record.
	if err := o.catchUp(context.WithoutCancel(ctx)); err != nil {
		o.goOnAfter(r)
		return false, err
	}
	return false, nil
}

// goOnAfter takes the session from r and runs the prompts that came meanwhile.
func (o *operations) goOnAfter(r *run) {
	next := o.next(r)
	if next == nil {
		o.turns.Done()
		return
	}
	go func() {
		defer o.turns.Done()
		o.turn(next)
	}()
}

// next passes the session from what has ended to the turn of the next prompt
// that waits; nil where none does, and nothing runs then.
func (o *operations) next(ended *run) *run {
	ended.cancel(nil)
	defer close(ended.gone)
	broken := o.log.Broken()
	o.mu.Lock()
	o.cause.Store(0)
	if len(o.queue) == 0 || broken != nil {
		o.running = nil
		o.mu.Unlock()
		return nil
	}
	p := o.queue[0]
	o.queue = o.queue[1:]
	r := newRun(context.WithoutCancel(ended.ctx), turnRuns)
	o.running = r
	o.mu.Unlock()
	// Also where an interrupt came in between: the turn then says so.
	if o.record(context.WithoutCancel(r.ctx), o.prompted(p)...) != nil {
		return o.next(r)
	}
	o.caused(r)
	return r
}

// caused makes what r began with, which is recorded, the cause of what it does.
func (o *operations) caused(r *run) {
	began := eventlog.Look(o.log, func() int64 { return o.course.began })
	o.mu.Lock()
	defer o.mu.Unlock()
	r.cause = began
	o.cause.Store(began)
}

// exclusive gives the session to its caller until done is called. What it does
// ends with the context that it returns: an interrupt does so.
func (o *operations) exclusive(ctx context.Context, cannot string) (_ context.Context, done func(), err error) {
	r := newRun(ctx, filesAreLooked)
	if _, err := o.begin(ctx, r, nil, cannot); err != nil {
		r.cancel(nil)
		return nil, nil, err
	}
	return r.ctx, func() { o.goOnAfter(r) }, nil
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
func (o *operations) operate(ctx context.Context, op event.OpStarted, cannot, what string, do func(context.Context) error) (int64, error) {
	r := newRun(context.WithoutCancel(ctx), what)
	if _, err := o.begin(ctx, r, nil, cannot); err != nil {
		r.cancel(nil)
		return 0, err
	}
	if err := o.record(context.WithoutCancel(ctx), event.Draft{Body: op}); err != nil {
		o.goOnAfter(r)
		return 0, err
	}
	o.caused(r)
	cause := r.cause
	go func() {
		err := do(r.ctx)
		ended := event.OpDone{Op: op.Op, Outcome: outcomeOf(r.ctx, err)}
		if err != nil {
			f := turn.Describe(err)
			ended.Error = &f
		}
		if o.record(context.WithoutCancel(r.ctx), event.Draft{Body: ended}) != nil {
			o.log.EndReaders(false)
		}
		o.goOnAfter(r)
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
	defer context.AfterFunc(ctx, func() { s.ops.interruptRun(cause, by(ctx)) })()
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
	if i := (*interruption)(nil); errors.As(context.Cause(ctx), &i) {
		return i.by // of the parent session
	}
	return "caller"
}

// Busy reports whether something has the session to itself. What has recorded
// its end does not: what is left of it is put away without another event.
func (s *Session) Busy() bool {
	s.ops.mu.Lock()
	defer s.ops.mu.Unlock()
	return s.ops.running != nil && !s.ops.leaving()
}

// leaving reports whether what runs has recorded its end, with nothing to
// follow. Callers hold mu.
func (o *operations) leaving() bool {
	return o.running.cause != 0 && len(o.queue) == 0 && !eventlog.Look(o.log, func() bool { return o.turnOpen || o.op != "" })
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
func (o *operations) interrupt(by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forgetPrompts()
	if o.running != nil {
		o.running.cancel(interrupted(by))
	}
}

// interruptRun is interrupt where what runs has this cause.
func (o *operations) interruptRun(cause int64, by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running != nil && o.running.cause == cause {
		o.forgetPrompts()
		o.running.cancel(interrupted(by))
	}
}

// forgetPrompts forgets the prompts that wait, but for those with an ID: their
// sender takes back what is not to run (Withdraw), so that no word is lost
// between the two. Callers hold mu.
func (o *operations) forgetPrompts() {
	if o.closing {
		o.queue = nil
	}
	o.queue = slices.DeleteFunc(o.queue, func(p Prompt) bool { return p.ID == "" })
}

// meanwhile records what holds from now on, beside whatever runs.
func (o *operations) meanwhile(ctx context.Context, ds ...event.Draft) (int64, error) {
	if _, done, err := o.exclusive(ctx, ""); err == nil {
		defer done() // nothing runs: another process may have appended
	} else if !errors.Is(err, fault.ErrBusy) {
		return 0, err
	}
	err := o.record(ctx, ds...)
	return o.log.Last(), err
}

// close interrupts what runs, lets nothing new begin, and waits.
func (o *operations) close() {
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.interrupt("close")
	o.turns.Wait()
}

// context is that of what runs.
func (o *operations) context() context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running.ctx
}

// take takes the prompts that wait.
func (o *operations) take() []Prompt {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting := o.queue
	o.queue = nil
	return waiting
}

// waiting reports whether a prompt waits for the turn's end: a person who goes on
// is not kept by checks.
func (o *operations) waiting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) > 0
}

// tellLater keeps what the model is told before its next request, where something
// runs that may come to one.
func (o *operations) tellLater(d event.Draft) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running == nil {
		return false
	}
	o.later = append(o.later, d)
	return true
}

// told takes what the model is to be told.
func (o *operations) told() []event.Draft {
	o.mu.Lock()
	defer o.mu.Unlock()
	ds := o.later
	o.later = nil
	return ds
}

// tellsOf reports whether a note of this kind is to be told.
func (o *operations) tellsOf(why string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.later, func(d event.Draft) bool { n, ok := d.Body.(event.Noted); return ok && n.Why == why })
}

// setPause has the running turn pause, or takes that back. It reports whether
// there was one to be told.
func (o *operations) setPause(on bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running == nil || o.running.pause == on {
		return on && o.running != nil
	}
	o.running.pause = on
	return true
}
