// Package operations is who has a session to itself: a turn, a person's command, a
// compaction, an undo, another model. What comes meanwhile waits where it is a
// prompt, and is refused with a sentence else.
//
// It promises that one of them runs at a time; that each has a start and an end in
// the log, between which everything recorded has the start as its cause; that a
// prompt which waits is run, given to the turn that runs, or taken back, and never
// lost; and that Close leaves nothing running. It knows the session's log, and not
// the session: what a turn does is Config.Turn.
package operations

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

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
	Record  func(context.Context, ...event.Draft) error
	// CatchUp takes in what other processes appended. It is an error where one of
	// them runs a turn.
	CatchUp func(context.Context) error
	// Cause is what Record gives as the cause of what is recorded: the sequence
	// number of what runs, 0 for none. It is set here and nowhere else.
	Cause *atomic.Int64
	// Turn runs the turn of a prompt that waited, to its recorded end.
	Turn func(*Run)
}

// Prompt is one as it waits.
type Prompt struct {
	ID     string // by which it can be taken back; "": it can not be
	Drafts []event.Draft
}

// Fold is what is open. The zero value is ready.
type Fold struct {
	began int64 // the sequence number of the newest prompt or operation
	turn  bool
	op    string
}

// Apply implements event.Fold.
func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Prompted:
		f.turn, f.began = true, e.Seq
	case event.OpStarted:
		f.op, f.began = b.Op, e.Seq
	case event.OpDone:
		f.op = ""
	case event.Ended:
		f.turn = false
	}
}

// Began is the sequence number of the newest prompt or operation. The callers of
// this and of the two below look in a View of the log.
func (f *Fold) Began() int64 { return f.began }

// Turn reports whether a turn is open.
func (f *Fold) Turn() bool { return f.turn }

// Op is the operation that is open, "" for none.
func (f *Fold) Op() string { return f.op }

// Run is what has the session to itself.
type Run struct {
	what   string // for a sentence: "a turn runs"
	ctx    context.Context
	cancel context.CancelCauseFunc
	cause  int64
	pause  bool          // before the next request
	gone   chan struct{} // closed when nothing of it is left
}

// Context ends when the run is interrupted.
func (r *Run) Context() context.Context { return r.ctx }

// Cancel ends the run's context.
func (r *Run) Cancel(cause error) { r.cancel(cause) }

// Cause is the sequence number of what the run began with.
func (r *Run) Cause() int64 { return r.cause }

// Gone is closed when nothing of the run is left.
func (r *Run) Gone() <-chan struct{} { return r.gone }

// Operations are those of one session. Its methods may be called from anywhere.
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
}

// New makes the operations of a session.
func New(cfg Config) *Operations {
	return &Operations{cfg: cfg, log: cfg.Log, queued: make(chan struct{}, 1)}
}

// Queued has a token where a prompt came to wait.
func (o *Operations) Queued() <-chan struct{} { return o.queued }

// Start starts the turn of a prompt: run runs it to its recorded end. Where
// something else runs, the prompt waits for it, and the run is nil; or it is
// refused, where cannot has the words for that.
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
	if err := o.cfg.Record(context.WithoutCancel(ctx), p.Drafts...); err != nil {
		o.goOnAfter(r)
		return nil, err
	}
	o.caused(r)
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
		o.cfg.Turn(r)
	}
}

// Go has do run beside whatever runs: Close waits for it.
func (o *Operations) Go(do func()) { o.turns.Go(do) }

func newRun(ctx context.Context, what string) *Run {
	r := &Run{what: what, gone: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// begin gives the session to r. Where something else has it, a prompt (first)
// is queued, and queued is true; all else is refused: cannot says what is not
// done. What has recorded its end is waited for: nothing of it blocks.
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
	if err := o.cfg.CatchUp(context.WithoutCancel(ctx)); err != nil {
		o.goOnAfter(r)
		return false, err
	}
	return false, nil
}

// goOnAfter takes the session from r and runs the prompts that came meanwhile.
func (o *Operations) goOnAfter(r *Run) {
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

// next passes the session from what has ended to the turn of the next prompt
// that waits; nil where none does, and nothing runs then.
func (o *Operations) next(ended *Run) *Run {
	ended.cancel(nil)
	defer close(ended.gone)
	broken := o.log.Broken()
	o.mu.Lock()
	o.cfg.Cause.Store(0)
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
	if o.cfg.Record(context.WithoutCancel(r.ctx), p.Drafts...) != nil {
		return o.next(r)
	}
	o.caused(r)
	return r
}

// caused makes what r began with, which is recorded, the cause of what it does.
func (o *Operations) caused(r *Run) {
	began := eventlog.Query(o.log, o.cfg.Fold.Began)
	o.mu.Lock()
	defer o.mu.Unlock()
	r.cause = began
	o.cfg.Cause.Store(began)
}

// Exclusive gives the session to its caller until done is called. What it does
// ends with the context that it returns: an interrupt does so.
func (o *Operations) Exclusive(ctx context.Context, cannot string) (_ context.Context, done func(), err error) {
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
	filesAreLooked = "changes are looked at, or put back"
)

// Operate does an operation that has the session to itself, beside its caller.
// It returns the sequence number of the operation's start; its end is the
// OpDone that this is the cause of.
func (o *Operations) Operate(ctx context.Context, op event.OpStarted, cannot, what string, do func(context.Context) error) (int64, error) {
	r := newRun(context.WithoutCancel(ctx), what)
	if _, err := o.begin(ctx, r, nil, cannot); err != nil {
		r.cancel(nil)
		return 0, err
	}
	if err := o.cfg.Record(context.WithoutCancel(ctx), event.Draft{Body: op}); err != nil {
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
		if o.cfg.Record(context.WithoutCancel(r.ctx), event.Draft{Body: ended}) != nil {
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

// leaving reports whether what runs has recorded its end, with nothing to
// follow. Callers hold mu.
func (o *Operations) leaving() bool {
	return o.running.cause != 0 && len(o.queue) == 0 && !eventlog.Query(o.log, func() bool { return o.cfg.Fold.turn || o.cfg.Fold.op != "" })
}

// Interruption is why something was cut short. It wraps a cancellation of kind
// ErrInterrupted, or ErrTimeout for the run's time limit.
type Interruption struct {
	Why *fault.Error
	By  string
}

func (i *Interruption) Error() string { return i.Why.Error() }
func (i *Interruption) Unwrap() error { return i.Why }

// Interrupted is an interruption by somebody.
func Interrupted(by string) *Interruption {
	why := &fault.Error{Category: fault.Cancellation, Kind: fault.ErrInterrupted, Message: "interrupted (" + by + ")"}
	if by == "timeout" {
		why.Kind, why.Message = fault.ErrTimeout, "the run reached its time limit (--timeout)"
	}
	return &Interruption{Why: why, By: by}
}

// Interrupt cancels what runs, and forgets the prompts that wait.
func (o *Operations) Interrupt(by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forgetPrompts()
	if o.running != nil {
		o.running.cancel(Interrupted(by))
	}
}

// InterruptRun is interrupt where what runs has this cause.
func (o *Operations) InterruptRun(cause int64, by string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running != nil && o.running.cause == cause {
		o.forgetPrompts()
		o.running.cancel(Interrupted(by))
	}
}

// forgetPrompts forgets the prompts that wait, but for those with an ID: their
// sender takes back what is not to run (Withdraw), so that no word is lost
// between the two. Callers hold mu.
func (o *Operations) forgetPrompts() {
	if o.closing {
		o.queue = nil
	}
	o.queue = slices.DeleteFunc(o.queue, func(p Prompt) bool { return p.ID == "" })
}

// Meanwhile records what holds from now on, beside whatever runs.
func (o *Operations) Meanwhile(ctx context.Context, ds ...event.Draft) (int64, error) {
	if _, done, err := o.Exclusive(ctx, ""); err == nil {
		defer done() // nothing runs: another process may have appended
	} else if !errors.Is(err, fault.ErrBusy) {
		return 0, err
	}
	err := o.cfg.Record(ctx, ds...)
	return o.log.Last(), err
}

// Close interrupts what runs, lets nothing new begin, and waits.
func (o *Operations) Close() {
	o.mu.Lock()
	o.closing = true
	o.mu.Unlock()
	o.Interrupt("close")
	o.turns.Wait()
}

// Context is that of what runs.
func (o *Operations) Context() context.Context {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running.ctx
}

// Take takes the prompts that wait.
func (o *Operations) Take() []Prompt {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting := o.queue
	o.queue = nil
	return waiting
}

// Waiting reports whether a prompt waits for the turn's end: a person who goes on
// is not kept by checks.
func (o *Operations) Waiting() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) > 0
}

// QueueNote keeps what the model is told before its next request, where something
// runs that may come to one.
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

// HasNote reports whether a note of this kind is queued.
func (o *Operations) HasNote(why string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(o.pendingNotes, func(d event.Draft) bool { n, ok := d.Body.(event.Noted); return ok && n.Why == why })
}

// SetPause has the running turn pause, or takes that back. It reports whether
// there was one to be told.
func (o *Operations) SetPause(on bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.running == nil || o.running.pause == on {
		return on && o.running != nil
	}
	o.running.pause = on
	return true
}

// Busy reports whether something has the session to itself. What has recorded its
// end does not: what is left of it is put away without another event.
func (o *Operations) Busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running != nil && !o.leaving()
}

// Withdraw takes back a prompt that waits.
func (o *Operations) Withdraw(id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.queue, func(p Prompt) bool { return id != "" && p.ID == id })
	if i < 0 {
		return fault.NewConfiguration("", "the prompt does not wait any more")
	}
	o.queue = slices.Delete(o.queue, i, i+1)
	return nil
}
