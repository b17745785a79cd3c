package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// Opened is an open session with the way to close it.
type Opened struct {
	Session *session.Session
	Close   func()
	Notes   []string // messages at its opening
	Welcome []string // for somebody who starts pawl for the first time
	// Custom are the commands from files.
	Custom []slash.Custom
	// Attached, if set, means that another process has the session open.
	Attached *Attached
	// Again is the command line that continues the session later, "" if it is not stored.
	Again string
}

// Attached is a session that another process has open.
type Attached struct {
	Steers bool // what is entered and answered here goes there; otherwise this terminal only watches
	// Over describes how it ended, after its last event, and returns the command
	// line that continues it, "" if there is none.
	Over func() (why, again string)
	// Interrupt, if set, means that the session is this process's own, and that what runs
	// in it is not a turn but a swarm: an interrupt goes here, and nothing can be entered.
	// Conversation.Leave ends it.
	Interrupt func(by string)
}

// Person answers questions of Open.
type Person interface {
	// Ask waits for an answer, which may be empty.
	Ask(ctx context.Context, question string) (string, error)
	// Out is shown to the person.
	Out() io.Writer
}

// Config is the configuration of a conversation.
type Config struct {
	// Open opens a session.
	Open func(context.Context, slash.Want, Person) (*Opened, error)
	// The following fields serve the slash commands; each may be nil. Sessions, About
	// and Rules are those of the folder.
	Sessions func(context.Context) ([]event.Row, error)
	About    func(context.Context, event.Row) string
	// Pawl runs a subcommand of pawl in the folder, without input. What it prints is
	// masked.
	Pawl   func(ctx context.Context, out io.Writer, args ...string) error
	Rules  func() []string
	Memory func(ctx context.Context, out io.Writer, words string) error
	Goal   func(command string) (*until.Goal, error)

	// Recent is how many of the events of a session that is opened again are passed on, the
	// newest ones; 0: all.
	Recent int64

	Now func() time.Time
	// IDs begins the ids of entries: those of several terminals of one session
	// must differ.
	IDs string
}

// Conversation is the basis of a frontend for people: it opens sessions,
// follows the open one, takes a person's entries and answers, and knows what
// waits and what is asked. Its methods are safe for concurrent use, except
// Next, which is for one goroutine. Only Next and Close block: the effect of
// any other call is a Change that Next returns.
type Conversation struct {
	cfg  Config
	ctx  context.Context // of everything that it does
	stop context.CancelFunc
	wake chan struct{} // capacity 1: Next checks again

	mu        sync.Mutex
	open      *Opened
	follower  *Follower
	start     Start      // of the open session
	before    int64      // the last event before it was opened
	reported  []reported // oldest first
	local     []Change   // changes that no log keeps
	waiting   []*entry
	working   bool
	beside    int           // how many functions run in parallel with the worker
	asides    chan struct{} // closed when the last of them is done
	cancel    context.CancelCauseFunc
	questions []Question
	asks      map[string]chan<- string // of slash commands
	edits     map[string]chan<- edited
	planned   bool // a plan was written in the running turn
	ids       int
	presses   lifecycle.InterruptPolicy
	leaves    bool  // it ends once Next has returned everything
	err       error // why there are no more changes
}

// reported is the events that a slash command itself reports.
type reported struct {
	from, to int64 // sequence numbers
	running  bool  // to is not known yet
}

// ErrLeft is what Next returns after the person left (/quit).
var ErrLeft = errors.New("the person left")

// Begin begins a conversation and opens a session for it. If that fails, Next
// returns the error. ctx is for values: Close ends the conversation.
func Begin(ctx context.Context, cfg Config, want slash.Want) *Conversation {
	c := &Conversation{cfg: cfg, wake: make(chan struct{}, 1), asks: map[string]chan<- string{}, edits: map[string]chan<- edited{}}
	c.ctx, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	c.enter(&entry{work: func(ctx context.Context) error {
		h := c.host("")
		defer h.out.end()
		if err := h.Switch(ctx, want); err != nil {
			c.end(err)
		}
		return nil
	}})
	return c
}

// Next waits for an event and returns its changes, which may be none: a reader
// that needs to know whether everything is done then calls Resting. Its errors
// are final: ErrLeft, why the session could not be opened, or why its log
// cannot be read or written.
func (c *Conversation) Next(ctx context.Context) ([]Change, error) {
	c.mu.Lock()
	f, err := c.follower, c.err
	local := c.ready()
	if len(local) > 0 {
		c.note(local)
	}
	if c.leaves && err == nil && len(c.local) == 0 && (f == nil || f.seen >= c.open.Session.View().Last()) {
		err = ErrLeft
	}
	c.mu.Unlock()
	var events <-chan arrived
	switch {
	case len(local) > 0:
		return local, nil
	case err != nil:
		return nil, err
	case f != nil:
		events = f.events
	}
	select {
	case e, ok := <-events:
		return c.take(f, e, ok)
	case <-c.wake:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ready takes the changes that no log keeps, up to one that comes after events that Next
// has not returned yet. Callers hold mu.
func (c *Conversation) ready() []Change {
	n := slices.IndexFunc(c.local, func(ch Change) bool { return c.follower != nil && c.err == nil && ch.after > c.follower.seen })
	if n < 0 {
		n = len(c.local)
	}
	out := c.local[:n:n]
	if c.local = c.local[n:]; len(c.local) == 0 {
		c.local = nil
	}
	return out
}

// take folds an event of a session.
func (c *Conversation) take(f *Follower, e arrived, ok bool) ([]Change, error) {
	changes, err := f.fold(e, ok)
	c.mu.Lock()
	defer c.mu.Unlock()
	if f != c.follower {
		return nil, nil // of the session that was open before
	}
	if a := c.open.Attached; a != nil && err != nil {
		why, again := a.Over()
		c.local = append(c.local, Change{What: Finished, Block: Block{ID: "over", Ephemeral: true, Body: Note{Kind: OfFailure, Text: why}}})
		c.open.Again, c.err, c.follower = again, ErrLeft, nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the session ended: its log could not be read or written: %w", err)
	}
	tells := slices.ContainsFunc(c.reported, func(t reported) bool {
		return t.running && (e.Seq == 0 || e.Seq > t.from) || e.Seq > t.from && e.Seq <= t.to
	})
	c.reported = slices.DeleteFunc(c.reported, func(t reported) bool { return !t.running && t.to <= f.seen })
	for i := range changes {
		changes[i].Past, changes[i].Told = e.Seq != 0 && e.Seq <= c.before, tells && reports(changes[i].Block.Body)
	}
	if e.early != nil {
		c.start.Prompt, c.start.Answer = e.early.prompt, e.early.answer
	}
	c.note(changes)
	if c.start.ID != "" && f.seen >= c.before {
		changes = append(changes, c.started())
	}
	return changes, nil
}

// reports reports whether a slash command's output may stand for a block: what it sets
// and does, not the turn that it begins.
func reports(b Body) bool {
	switch b := b.(type) {
	case Note:
		return b.Kind != OfPlan && b.Kind != OfInterrupt
	case Phase:
		return true
	}
	return false
}

// note updates what waits and what is asked. Callers hold mu.
func (c *Conversation) note(changes []Change) {
	for _, ch := range changes {
		switch b := ch.Block.Body.(type) {
		case Prompt:
			c.waiting = slices.DeleteFunc(c.waiting, func(e *entry) bool { return b.Queued != "" && e.id == b.Queued })
			if ch.Past && b.Source != event.Autofix {
				c.start.Prompt, c.start.Answer = b.Text, ""
			}
		case Reply:
			if ch.Past {
				c.start.Answer = b.Text
			}
		case Document:
			c.planned = b.By == "model" && !ch.Past
		case TurnEnd:
			if c.planned && !ch.Past && ch.What == Finished {
				c.planned = false
				c.decidePlan()
			}
		case Question:
			switch ch.What {
			case Added:
				c.questions = append(c.questions, b)
			case Finished:
				c.questions = slices.DeleteFunc(c.questions, func(q Question) bool { return q.ID == b.ID })
			}
		}
	}
}

// decidePlan has the person decide about the plan that a turn ended with. Of another
// process's session only that one asks. Callers hold mu.
func (c *Conversation) decidePlan() {
	if c.open.Attached != nil {
		return
	}
	if cmd, err := slash.Find("plan"); err == nil {
		c.queue(&entry{idle: true, work: func(ctx context.Context) error { return c.run(ctx, cmd, slash.Decide) }})
	}
}

// started returns the change after all earlier events were returned. Callers hold mu.
func (c *Conversation) started() Change {
	s := c.start
	c.start = Start{}
	return Change{What: Finished, Block: Block{ID: "start-" + s.ID, Ephemeral: true, Body: s}}
}

// Open returns the session's open blocks, in the order of their appearance.
// Only the goroutine that calls Next may call it.
func (c *Conversation) Open() []Block {
	c.mu.Lock()
	f := c.follower
	c.mu.Unlock()
	if f == nil {
		return nil
	}
	return f.Open()
}

// Session returns the open session, nil if none is open yet. A status line reads from it.
func (c *Conversation) Session() *session.Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return nil
	}
	return c.open.Session
}

// Again returns the command line that continues the open session later, "" if
// there is none.
func (c *Conversation) Again() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil || c.open.Session.View().Last() == 0 {
		return ""
	}
	return c.open.Again
}

// Question returns the question that waits for an answer, the oldest first.
func (c *Conversation) Question() (Question, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.questions {
		if _, own := c.asks[q.ID]; own || !c.watches() { // who watches is not asked
			return q, true
		}
	}
	return Question{}, false
}

// watches reports whether the session is another process's, and this terminal may
// not steer it. Callers hold mu.
func (c *Conversation) watches() bool {
	return c.open != nil && c.open.Attached != nil && !c.open.Attached.Steers
}

// Attached returns how the open session belongs to another process, nil if it is
// this one's.
func (c *Conversation) Attached() *Attached {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return nil
	}
	return c.open.Attached
}

// Busy reports whether something runs that an interrupt would cancel.
func (c *Conversation) Busy() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.busy()
}

// busy is Busy for callers that hold mu.
func (c *Conversation) busy() bool {
	return c.working || c.open != nil && c.open.Session.Busy() || c.runsSwarm()
}

// runsSwarm reports whether a swarm runs in the session. Callers hold mu.
func (c *Conversation) runsSwarm() bool {
	return c.open != nil && c.open.Attached != nil && c.open.Attached.Interrupt != nil && !c.leaves
}

// Tell shows a message of the program.
func (c *Conversation) Tell(text string) {
	c.say(Note{Kind: OfTold, Text: plain.Text(text)})
}

// Leave ends the conversation after Next has returned everything; again is as in Opened.
func (c *Conversation) Leave(again string) {
	c.mu.Lock()
	if c.leaves = true; c.open != nil {
		c.open.Again = again
	}
	c.mu.Unlock()
	c.wakeNext()
}

// Resting reports whether nothing is running or waiting, and Next has returned
// everything. Only the goroutine that calls Next may call it.
func (c *Conversation) Resting() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy() || c.beside > 0 || len(c.waiting) > 0 || len(c.local) > 0 || c.err != nil {
		return false
	}
	return c.open != nil && c.follower.seen >= c.open.Session.View().Last()
}

// Settled reports whether all answers and all background work of a turn are done,
// and Next has returned everything. Only the goroutine that calls Next may call
// it.
func (c *Conversation) Settled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.beside == 0 && len(c.local) == 0 && c.err == nil && c.open != nil && c.follower.seen >= c.open.Session.View().Last()
}

// Close closes the session and waits for that. After it, Next returns nothing more.
func (c *Conversation) Close() {
	c.mu.Lock()
	open, f := c.open, c.follower
	c.stop() // under the lock: a session that is being opened is closed by its opener
	c.mu.Unlock()
	if f != nil { // otherwise it is over already
		f.Stop()
	}
	if open != nil {
		open.Close()
	}
}

// emit makes Next return changes that no log keeps.
func (c *Conversation) emit(changes ...Change) {
	c.mu.Lock()
	c.local = append(c.local, changes...)
	c.mu.Unlock()
	c.wakeNext()
}

// say emits a whole block.
func (c *Conversation) say(b Body) {
	c.emit(Change{What: Finished, Block: Block{ID: c.id("local"), Ephemeral: true, Body: b}})
}

// failed reports why something was not done.
func (c *Conversation) failed(err error) {
	c.say(Note{Kind: OfFailure, Text: plain.Text(err.Error())})
}

func (c *Conversation) wakeNext() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end ends the conversation: Next returns err after the remaining changes.
func (c *Conversation) end(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.wakeNext()
}

func (c *Conversation) id(kind string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nextID(kind)
}

// nextID is id for callers that hold mu.
func (c *Conversation) nextID(kind string) string {
	c.ids++
	return c.cfg.IDs + kind + "-" + strconv.Itoa(c.ids)
}
