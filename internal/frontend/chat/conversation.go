package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// Opened is an open session.
type Opened struct {
	Session *session.Session
	Close   func()
	Notes   []string // messages about its opening
	Welcome []string // for a person who starts pawl for the first time
	// Custom are the commands from files.
	Custom []slash.Custom
	// StatusLine, if set, runs the person's program for the status line.
	StatusLine func(ctx context.Context, input []byte) string
	// Attached, if set, means that another process has the session open.
	Attached *Attached
	// ResumeCommand is the command line that continues the session later, "" if it is not stored.
	ResumeCommand string
}

// Attached is a session that another process has open.
type Attached struct {
	Steers bool // entries and answers go to that process; otherwise this terminal only watches
	// Over returns, after the last event, how it ended, and the command line that continues it,
	// "" if there is none.
	Over func() (why, again string)
	// Interrupt, if set, means that the session is this process's own and runs a swarm, not
	// turns: interrupts call it, and nothing can be entered until Conversation.Leave.
	Interrupt func(by string)
}

// Person answers questions of Open.
type Person interface {
	// Ask waits for an answer, which may be empty (slash.Host).
	Ask(ctx context.Context, question string, options ...choice.Option) (string, error)
	// Pick lets the person pick an item (slash.Host).
	Pick(ctx context.Context, title string, items []slash.Item) (id string, ok bool, err error)
	// Out returns a writer whose text is shown to the person.
	Out() io.Writer
}

// Config is the configuration of a conversation.
type Config struct {
	// Open opens a session.
	Open func(context.Context, slash.Want, Person) (*Opened, error)
	// The following fields serve the slash commands; each may be nil. Sessions, About
	// and Rules are those of the folder.
	Sessions func(context.Context) ([]event.Row, error)
	About    func(context.Context, event.Row) (about, last string)
	Models   func(context.Context) []slash.Item
	Settings func() ([]settings.Setting, error)
	// Pawl runs a subcommand of pawl in the folder, without input. Secrets in its output are
	// masked.
	Pawl   func(ctx context.Context, out io.Writer, args ...string) error
	Rules  func() []string
	Memory func(ctx context.Context, out io.Writer, words string) error
	Serve  func(ctx context.Context, out io.Writer, words string) error
	Goal   func(command string) (*until.Goal, error)

	// CanPick: the frontend shows the items of a question.
	CanPick bool

	// Verbose: notes about each request are passed on, too.
	Verbose bool

	// Recent is how many events of a session that is opened again are passed on, the newest
	// ones; 0: all.
	Recent int64

	Now func() time.Time
	// IDs is a prefix of the ids of entries, which must differ between terminals.
	IDs string
}

// Conversation is the basis of a frontend for people: it opens sessions,
// follows the open one, takes a person's entries and answers, and knows what
// waits and what is asked. Its methods are safe for concurrent use, except
// Next, which is for one goroutine. Only Next and Close block: the effect of
// any other call is a Change that Next returns.
type Conversation struct {
	cfg  Config
	ctx  context.Context // of all its work
	stop context.CancelFunc
	wake chan struct{} // capacity 1: Next checks again

	mu            sync.Mutex
	open          *Opened
	follower      *Follower
	start         Start      // of the open session
	before        int64      // the last sequence number before it was opened
	reported      []reported // oldest first
	chosen        string     // the mode that SetMode sets
	local         []Change   // changes that no log keeps
	waiting       []*entry
	working       bool
	sideTasks     int           // functions that run in parallel with the worker
	sideTasksDone chan struct{} // closed after the last one of runAside
	cancel        context.CancelCauseFunc
	questions     []Question
	openAsks      map[string]chan<- Answered // of slash commands
	openEdits     map[string]chan<- editResult
	planWritten   bool // a plan was written in the running turn
	ids           int
	interrupts    lifecycle.InterruptPolicy
	leaving       bool  // it ends once Next has returned everything
	err           error // why there are no more changes
}

// reported is a range of events that a slash command itself reports.
type reported struct {
	from, to int64 // sequence numbers
	running  bool  // to is not known yet
}

// ErrLeft is what Next returns after the person left (/quit).
var ErrLeft = errors.New("the person left")

// Begin begins a conversation and opens a session for it. If that fails, Next
// returns the error. Only values of ctx are used: Close ends the conversation.
func Begin(ctx context.Context, cfg Config, want slash.Want) *Conversation {
	c := &Conversation{cfg: cfg, wake: make(chan struct{}, 1), openAsks: map[string]chan<- Answered{}, openEdits: map[string]chan<- editResult{}}
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
// that needs to know whether everything is done then calls Idle. Its errors are
// final: ErrLeft, or that the session could not be opened, or that its log
// cannot be read or written.
func (c *Conversation) Next(ctx context.Context) ([]Change, error) {
	c.mu.Lock()
	f, err := c.follower, c.err
	local := c.ready()
	if len(local) > 0 {
		c.trackChanges(local)
	}
	if c.leaving && err == nil && len(c.local) == 0 && (f == nil || f.seen >= c.open.Session.View().Last()) {
		err = ErrLeft
	}
	c.mu.Unlock()
	var events <-chan received
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
		return c.fold(f, e, ok)
	case <-c.wake:
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ready removes and returns the local changes, up to one that follows events which Next has
// not returned yet. Callers hold mu.
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

// fold folds an event of the follower f.
func (c *Conversation) fold(f *Follower, e received, ok bool) ([]Change, error) {
	changes, err := f.fold(e, ok)
	c.mu.Lock()
	defer c.mu.Unlock()
	if f != c.follower {
		return nil, nil // of the session that was open before
	}
	if a := c.open.Attached; a != nil && err != nil {
		why, again := a.Over()
		c.local = append(c.local, Change{What: Finished, Block: Block{ID: "over", Ephemeral: true, Body: Note{Kind: OfFailure, Text: why}}})
		c.open.ResumeCommand, c.err, c.follower = again, ErrLeft, nil
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the session ended: its log could not be read or written: %w", err)
	}
	told := slices.ContainsFunc(c.reported, func(t reported) bool {
		return t.running && (e.Seq == 0 || e.Seq > t.from) || e.Seq > t.from && e.Seq <= t.to
	})
	c.reported = slices.DeleteFunc(c.reported, func(t reported) bool { return !t.running && t.to <= f.seen })
	if b, ok := e.Body.(event.ModeSet); ok && b.Mode == c.chosen { // by a key, also while a command runs
		told, c.chosen = false, ""
	}
	if !c.cfg.Verbose {
		changes = slices.DeleteFunc(changes, func(ch Change) bool {
			n, ok := ch.Block.Body.(Note)
			return ok && n.Kind == OfRequest
		})
	}
	for i := range changes {
		changes[i].Past, changes[i].Reported = e.Seq != 0 && e.Seq <= c.before, told && isReportedByCommand(changes[i].Block.Body)
		if p, ok := changes[i].Block.Body.(Prompt); ok {
			changes[i].Elsewhere = p.Queued != "" && !strings.HasPrefix(p.Queued, c.cfg.IDs+"entry-")
		}
	}
	if e.prefix != nil {
		c.start.Prompt, c.start.Answer = e.prefix.prompt, e.prefix.answer
	}
	c.trackChanges(changes)
	if c.start.ID != "" && f.seen >= c.before {
		changes = append(changes, c.startFinished())
	}
	return changes, nil
}

// isReportedByCommand reports whether the output of the slash command that causes a block
// makes the block redundant: what it sets and does, not the turn that it begins, nor what
// others do meanwhile.
func isReportedByCommand(b Body) bool {
	switch b := b.(type) {
	case Note:
		return !slices.Contains([]NoteKind{OfPlan, OfInterrupt, OfStuck, OfRefusal, OfRemote}, b.Kind)
	case Phase:
		return true
	}
	return false
}

// trackChanges updates the queue, the open questions, and the last prompt and answer. Callers
// hold mu.
func (c *Conversation) trackChanges(changes []Change) {
	for _, ch := range changes {
		switch b := ch.Block.Body.(type) {
		case Prompt:
			c.waiting = slices.DeleteFunc(c.waiting, func(e *entry) bool { return b.Queued != "" && e.id == b.Queued })
			if ch.Past && b.Source != event.Autofix {
				c.start.Prompt, c.start.Answer = b.Text, ""
			}
		case Reply:
			if ch.Past {
				c.start.Answer = b.Answer()
			}
		case Document:
			c.planWritten = b.By == "model" && !ch.Past
		case TurnEnd:
			if c.planWritten && !ch.Past && ch.What == Finished {
				c.planWritten = false
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

// decidePlan asks the person about the plan that a turn ended with. Only the process of the
// session asks. Callers hold mu.
func (c *Conversation) decidePlan() {
	if c.open.Attached != nil {
		return
	}
	if cmd, err := slash.Find("plan"); err == nil {
		c.queue(&entry{whenIdle: true, work: func(ctx context.Context) error { return c.run(ctx, cmd, slash.Decide) }})
	}
}

// startFinished returns the change that finishes the Start block. Callers hold mu.
func (c *Conversation) startFinished() Change {
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

// ResumeCommand returns the command line that continues the open session later, "" if
// there is none.
func (c *Conversation) ResumeCommand() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil || c.open.Session.View().Last() == 0 {
		return ""
	}
	return c.open.ResumeCommand
}

// Question returns the question that waits for an answer, the oldest first.
func (c *Conversation) Question() (Question, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, q := range c.questions {
		if _, own := c.openAsks[q.ID]; own || !c.watchesOnly() { // a terminal that only watches is not asked
			return q, true
		}
	}
	return Question{}, false
}

// watchesOnly reports whether the session is another process's, and this terminal may
// not steer it. Callers hold mu.
func (c *Conversation) watchesOnly() bool {
	return c.open != nil && c.open.Attached != nil && !c.open.Attached.Steers
}

// StatusLine returns what runs the person's program for the status line, nil if there is
// none.
func (c *Conversation) StatusLine() func(context.Context, []byte) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return nil
	}
	return c.open.StatusLine
}

// Attached returns how this terminal takes part in another process's session, nil if the
// session is this process's own.
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
	return c.open != nil && c.open.Attached != nil && c.open.Attached.Interrupt != nil && !c.leaving
}

// Tell shows a message of pawl's.
func (c *Conversation) Tell(text string) {
	c.emitBlock(Note{Kind: OfTold, Text: plain.Text(text)})
}

// Leave ends the conversation after Next has returned everything; resume is as
// Opened.ResumeCommand.
func (c *Conversation) Leave(resume string) {
	c.mu.Lock()
	if c.leaving = true; c.open != nil {
		c.open.ResumeCommand = resume
	}
	c.mu.Unlock()
	c.wakeNext()
}

// Idle reports whether nothing is running or waiting, and Next has returned
// everything. Only the goroutine that calls Next may call it.
func (c *Conversation) Idle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy() || c.sideTasks > 0 || len(c.waiting) > 0 || len(c.local) > 0 || c.err != nil {
		return false
	}
	return c.open != nil && c.follower.seen >= c.open.Session.View().Last()
}

// TurnDone reports whether no answer and no background work of a turn is pending, and Next
// has returned everything, also while the turn or a question waits. Only the goroutine that
// calls Next may call it.
func (c *Conversation) TurnDone() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sideTasks == 0 && len(c.local) == 0 && c.err == nil && c.open != nil && c.follower.seen >= c.open.Session.View().Last()
}

// Close closes the session and waits for that. Next must not be called after it.
func (c *Conversation) Close() {
	c.mu.Lock()
	open, f := c.open, c.follower
	c.stop() // under the lock: a session that is being opened is closed by its opener
	c.mu.Unlock()
	if f != nil { // otherwise it has ended
		f.Stop()
	}
	if open != nil {
		open.Close()
	}
}

// emit makes Next return changes that are not in the log.
func (c *Conversation) emit(changes ...Change) {
	c.mu.Lock()
	c.local = append(c.local, changes...)
	c.mu.Unlock()
	c.wakeNext()
}

// emitBlock emits a whole block.
func (c *Conversation) emitBlock(b Body) {
	c.emit(Change{What: Finished, Block: Block{ID: c.id("local"), Ephemeral: true, Body: b}})
}

// reportError shows why something was not done.
func (c *Conversation) reportError(err error) {
	c.emitBlock(Note{Kind: OfFailure, Text: plain.Text(err.Error())})
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
