// Package operations runs one exclusive operation of a session at a time: a turn, a
// person's command, a compaction, an undo, a change of the model. A prompt that comes
// meanwhile waits. Any other operation is refused with a sentence.
//
// It promises that one operation runs at a time. Each has a start and an end in the
// log, and everything recorded between them has the start as its cause. A waiting
// prompt is run, joins the running turn, or is taken back: it is never lost. Close
// leaves nothing running. The package knows the session's log, not the session: what a
// turn does is Prompt.Turn.
package operations

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// Config is what operations need of their session.
type Config struct {
	Session string // its id
	Log     *eventlog.Log
	Fold    *Fold // one of Log's
	// CatchUp reads what other processes appended. It returns an error if one of them
	// runs a turn.
	CatchUp func(context.Context) error
}

// Prompt is a waiting prompt.
type Prompt struct {
	ID     string // to take it back; "" if that is not possible
	Drafts []event.Draft
	Lines  []string // that run before the model reads it
	// Turn runs the turn that the prompt begins after it has waited, to its recorded end.
	Turn func(*Run)
}

// Fold holds which turn or operation is open. The zero value is ready.
type Fold struct {
	began    int64 // the sequence number of the newest prompt or operation
	prompted int64 // of the newest prompt
	turn     bool
	op       event.OpName
}

func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Prompted:
		f.turn, f.began, f.prompted = true, e.Seq, e.Seq
	case event.OpStarted:
		f.op, f.began = b.Op, e.Seq
	case event.OpDone:
		f.op = ""
	case event.Ended:
		f.turn = false
	}
}

// Began returns the sequence number of the newest prompt or operation. Call this method
// and the next two in a View of the log.
func (f *Fold) Began() int64 { return f.began }

// Turn reports whether a turn is open.
func (f *Fold) Turn() bool { return f.turn }

// Op returns the open operation, "" for none.
func (f *Fold) Op() event.OpName { return f.op }

// Run is the exclusive operation that runs.
type Run struct {
	what   string // for a sentence: "a turn runs"
	ctx    context.Context
	cancel context.CancelCauseFunc
	cause  int64
	turn   func(*Run)    // of a prompt that waited
	pause  bool          // before the next request
	done   chan struct{} // closed after all of it has ended
}

// Context ends when the run is interrupted.
func (r *Run) Context() context.Context { return r.ctx }

// Cancel ends the run's context.
func (r *Run) Cancel(cause error) { r.cancel(cause) }

// Cause returns the sequence number of the event that started the run.
func (r *Run) Cause() int64 { return r.cause }

// Done is closed after all of the run has ended.
func (r *Run) Done() <-chan struct{} { return r.done }

// Operations are the operations of one session. It is safe for concurrent use.
type Operations struct {
	cfg Config
	log *eventlog.Log

	mu           sync.Mutex // guards what runs and what waits
	closing      bool       // nothing new begins
	queue        []Prompt
	running      *Run
	pendingNotes []event.Draft // what the model is told before its next request
	queued       chan struct{} // has a token where a prompt was queued

	turns sync.WaitGroup
	// openCtx ends with Close.
	openCtx    context.Context
	cancelOpen context.CancelFunc
}

func New(cfg Config) *Operations {
	o := &Operations{cfg: cfg, log: cfg.Log, queued: make(chan struct{}, 1)}
	o.openCtx, o.cancelOpen = context.WithCancel(context.Background())
	return o
}

// Queued returns a channel that gets a token when a prompt is queued.
func (o *Operations) Queued() <-chan struct{} { return o.queued }

// Start starts the turn of a prompt: run runs it to its recorded end. If another
// operation runs, the prompt is queued and the returned run is nil. If cannot is not
// empty, the prompt is refused instead, and cannot is part of the error's text.
func (o *Operations) Start(ctx context.Context, p Prompt, cannot string, run func(*Run)) (*Run, error) {
	waits := &p
	if cannot != "" {
		waits = nil
	}
	r := newRun(context.WithoutCancel(ctx), turnRuns)
	if queued, err := o.begin(ctx, r, waits, cannot); queued || err != nil {
		r.cancel(nil)
		return nil, err
	}
	if err := o.log.Append(context.WithoutCancel(ctx), p.Drafts...); err != nil {
		o.finish(r)
		return nil, err
	}
	o.setCause(r)
	go func() {
		defer o.turns.Done()
		run(r)
		o.runWaiting(o.next(r))
	}()
	return r, nil
}

// runWaiting runs one turn after another until no prompt waits.
func (o *Operations) runWaiting(r *Run) {
	for ; r != nil; r = o.next(r) {
		r.turn(r)
	}
}

// RunBackground runs do in the background, beside what runs. Its context ends with Close,
// which waits for it; an interrupt of what runs does not end it.
func (o *Operations) RunBackground(do func(context.Context)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closing {
		o.turns.Go(func() { do(o.openCtx) })
	}
}

// Go runs do in the background. Close waits for it.
func (o *Operations) Go(do func()) { o.turns.Go(do) }

func newRun(ctx context.Context, what string) *Run {
	r := &Run{what: what, done: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// begin makes r the running operation. If another one runs, a prompt (first) is queued,
// and queued is true; any other operation is refused: cannot names what is not done. An
// operation that has recorded its end is waited for, since the rest of it does not
// block.
func (o *Operations) begin(ctx context.Context, r *Run, first *Prompt, cannot string) (queued bool, err error) {
	for {
		o.mu.Lock()
		other := o.running
		if o.closing {
			o.mu.Unlock()
			return false, fault.NewInternal(nil, "session %s is closed", o.cfg.Session)
		}
		if other == nil {
			o.running = r
			o.turns.Add(1) // under the lock, so that Close waits for it
			o.mu.Unlock()
			break
		}
		leaving := o.ending()
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
		case <-other.done:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
	// It has begun. From here on the end of ctx interrupts it, which is recorded.
	if err := o.cfg.CatchUp(context.WithoutCancel(ctx)); err != nil {
		o.finish(r)
		return false, err
	}
	return false, nil
}

// finish ends r and runs the prompts that came meanwhile.
func (o *Operations) finish(r *Run) {
	next := o.next(r)
	if next == nil {
		o.turns.Done()
		return
	}
	go func() {
		defer o.turns.Done()
		o.runWaiting(next)
	}()
}

// next replaces the operation that ended by the turn of the next waiting prompt, and
// returns its run. If no prompt waits, it returns nil and nothing runs.
func (o *Operations) next(ended *Run) *Run {
	ended.cancel(nil)
	defer close(ended.done)
	broken := o.log.Broken()
	o.mu.Lock()
	o.log.SetCause(0)
	if len(o.queue) == 0 || broken != nil {
		o.running = nil
		o.mu.Unlock()
		return nil
	}
	p := o.queue[0]
	o.queue = o.queue[1:]
	r := newRun(context.WithoutCancel(ended.ctx), turnRuns)
	r.turn = p.Turn
	o.running = r
	o.mu.Unlock()
	// This is done after an interrupt in between as well: the turn then records it.
	if o.log.Append(context.WithoutCancel(r.ctx), p.Drafts...) != nil {
		return o.next(r)
	}
	o.setCause(r)
	return r
}

// setCause sets the event that r began with, which is recorded, as the cause of r's
// events.
func (o *Operations) setCause(r *Run) {
	began := eventlog.Query(o.log, o.cfg.Fold.Began)
	o.mu.Lock()
	defer o.mu.Unlock()
	r.cause = began
	o.log.SetCause(began)
}

// Exclusive reserves the session for its caller until done is called. An interrupt ends
// the context that it returns.
func (o *Operations) Exclusive(ctx context.Context, cannot string) (_ context.Context, done func(), err error) {
	r := newRun(ctx, changesRun)
	if _, err := o.begin(ctx, r, nil, cannot); err != nil {
		r.cancel(nil)
		return nil, nil, err
	}
	return r.ctx, func() { o.finish(r) }, nil
}

// What runs, for a sentence.
const (
	turnRuns   = "a turn runs"
	changesRun = "changes are being shown or undone"
)

// Operate runs an exclusive operation in the background. It returns the sequence number
// of the operation's start. The end is the OpDone with that number as its cause.
func (o *Operations) Operate(ctx context.Context, op event.OpStarted, cannot, what string, do func(context.Context) error) (int64, error) {
	r := newRun(context.WithoutCancel(ctx), what)
	if _, err := o.begin(ctx, r, nil, cannot); err != nil {
		r.cancel(nil)
		return 0, err
	}
	if err := o.log.Append(context.WithoutCancel(ctx), event.Draft{Body: op}); err != nil {
		o.finish(r)
		return 0, err
	}
	o.setCause(r)
	cause := r.cause
	go func() {
		err := do(r.ctx)
		ended := event.OpDone{Op: op.Op, Outcome: outcomeOf(r.ctx, err)}
		if err != nil {
			f := turn.Describe(err)
			ended.Error = &f
		}
		if o.log.Append(context.WithoutCancel(r.ctx), event.Draft{Body: ended}) != nil {
			o.log.EndReaders(false)
		}
		o.finish(r)
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

// ending reports whether the running operation has recorded its end and no other
// follows. Callers hold mu.
func (o *Operations) ending() bool {
	return o.running.cause != 0 && len(o.queue) == 0 && !eventlog.Query(o.log, func() bool { return o.cfg.Fold.turn || o.cfg.Fold.op != "" })
}

// Interruption is the error of an operation that was cut short. It wraps
// ErrInterrupted, or ErrTimeout for the run's time limit.
type Interruption struct {
	Why *fault.Error
	By  string
}

func (i *Interruption) Error() string { return i.Why.Error() }
func (i *Interruption) Unwrap() error { return i.Why }

func Interrupted(by string) *Interruption {
	why := &fault.Error{Category: fault.Cancellation, Kind: fault.ErrInterrupted, Message: "interrupted (" + by + ")"}
	if by == event.InterruptedByTimeout {
		why.Kind, why.Message = fault.ErrTimeout, "the run reached its time limit (--timeout)"
	}
	return &Interruption{Why: why, By: by}
}

// Interrupt cancels the running operation and drops the waiting prompts.
func (o *Operations) Interrupt(by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forgetPrompts()
	if o.running != nil {
		o.running.cancel(Interrupted(by))
	}
}

// InterruptRun is Interrupt if the running operation has this cause.
func (o *Operations) InterruptRun(cause int64, by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running != nil && o.running.cause == cause {
		o.forgetPrompts()
		o.running.cancel(Interrupted(by))
	}
}

// RecordAnytime records drafts at any time, also while an operation runs.
func (o *Operations) RecordAnytime(ctx context.Context, ds ...event.Draft) (int64, error) {
	if _, done, err := o.Exclusive(ctx, ""); err == nil {
		defer done() // nothing runs: another process may have appended
	} else if !errors.Is(err, fault.ErrBusy) {
		return 0, err
	}
	err := o.log.Append(ctx, ds...)
	return o.log.Last(), err
}

// Close interrupts the running operation, refuses new ones, and waits.
func (o *Operations) Close() {
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.cancelOpen()
	o.Interrupt("close")
	o.turns.Wait()
}

// Context returns the context of the running operation.
func (o *Operations) Context() context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running.ctx
}

// Interrupted reports whether the running operation was told to end.
func (o *Operations) Interrupted() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running != nil && o.running.ctx.Err() != nil
}

// QueueNote queues a note for the model's next request. If nothing runs, it returns
// false and queues nothing.
func (o *Operations) QueueNote(d event.Draft) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running == nil {
		return false
	}
	o.pendingNotes = append(o.pendingNotes, d)
	return true
}

// TakeNotes returns the queued notes and empties the queue.
func (o *Operations) TakeNotes() []event.Draft {
	o.mu.Lock()
	defer o.mu.Unlock()
	ds := o.pendingNotes
	o.pendingNotes = nil
	return ds
}

func (o *Operations) HasNote(why event.NotedWhy) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.pendingNotes, func(d event.Draft) bool { n, ok := d.Body.(event.Noted); return ok && n.Why == why })
}

// SetPause makes the running turn pause before its next request, or takes that back. It
// reports whether a turn runs.
func (o *Operations) SetPause(on bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running == nil || o.running.pause == on {
		return on && o.running != nil
	}
	o.running.pause = on
	return true
}

// Busy reports whether an exclusive operation runs. One that has recorded its end does
// not count: the rest of it records nothing more.
func (o *Operations) Busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running != nil && !o.ending()
}
