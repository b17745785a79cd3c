// Package children runs the agents of a session (SPEC 14.1, ADR 013): each is a
// session of its own with its own log.
//
// It promises that what a child does to files, and what it ran, is recorded in
// its parent's log too, as the doing of the call that started it, so that undo,
// evidence, what the model knows of files and the search for loops need nothing
// else; that this is so after a death as well (recover.go); that no child
// outlives the turn that started it; and that nothing which a child left running
// outlives the child. What a child is made of is made.go. It knows the session's
// log, and not the session: who opens a child is Config.Open.
package children

import (
	"context"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Session is a child that is open.
type Session interface {
	// Run runs a prompt to its end. see is shown every event as it happens.
	Run(ctx context.Context, prompt string, see func(event.Event) error) (reply string, ended event.Ended, err error)
	Spent() budget.Spent
	Close() error
}

// Config is what children need of their parent.
type Config struct {
	Session string // its id
	Store   event.Store
	Log     *eventlog.Log
	Fold    *Fold // one of Log's
	Now     func() time.Time
	NewID   func() string
	Record  func(context.Context, ...event.Draft) error

	// Lend returns what the session lends to a child that begins now.
	Lend func() Lent
	// OpenModel opens another model, where the session's budget can be kept with it.
	OpenModel func(ref string) (llm.Model, error)
	// Open opens a child.
	Open func(context.Context, Child) (Session, error)

	Turn Turn
}

// Turn is what children in the background need of the turn that runs.
type Turn struct {
	Context func() context.Context
	// Tell keeps what the model is told before its next request. Tells reports
	// whether a note of that kind is kept.
	Tell  func(event.Draft) bool
	Tells func(why string) bool
	// Waiting reports whether a prompt waits; Queued has a token where one came.
	Waiting func() bool
	Queued  <-chan struct{}
}

// Children are those of one session.
type Children struct {
	cfg Config

	mu      sync.Mutex                         // guards those in the background
	cancels map[string]context.CancelCauseFunc // by child session
	ended   chan struct{}                      // closed when the next of them has ended
	all     sync.WaitGroup
}

// New makes the children of a session.
func New(cfg Config) *Children {
	return &Children{cfg: cfg, cancels: map[string]context.CancelCauseFunc{}, ended: make(chan struct{})}
}

// note is Noted.Why of what came of an agent in the background.
const note = "agent"

// For are the agents of one call.
func (c *Children) For(call string) tool.Agents { return ofCall{c, call} }

type ofCall struct {
	*Children
	call string
}

// Run implements tool.Agents.
func (c ofCall) Run(ctx context.Context, a tool.Agent) (tool.AgentRun, error) {
	child := c.childOf(c.call, a)
	started := event.AgentStarted{Call: c.call, Child: child.ID, Agent: a.Kind, Title: a.Title, Background: a.Told != nil}
	if err := c.cfg.Record(ctx, event.Draft{Body: started}); err != nil {
		return tool.AgentRun{}, err
	}
	run := tool.AgentRun{Session: child.ID, Notes: child.Notes}
	if a.Told == nil {
		return run, c.run(ctx, child, a, &run)
	}
	c.background(child, a, run)
	return run, nil
}

// background runs a child beside the turn's other calls. The turn's end waits for
// it (GoesOn), and its model is told what came of it.
func (c *Children) background(child Child, a tool.Agent, run tool.AgentRun) {
	ctx, cancel := context.WithCancelCause(c.cfg.Turn.Context())
	c.mu.Lock()
	c.cancels[child.ID] = cancel
	c.mu.Unlock()
	c.all.Go(func() {
		if err := c.run(ctx, child, a, &run); err != nil && run.Error == "" {
			run.Error = err.Error()
		}
		c.cfg.Turn.Tell(event.Draft{Body: event.Noted{Why: note, Text: a.Told(run)}})
		c.mu.Lock()
		defer c.mu.Unlock()
		cancel(nil)
		delete(c.cancels, child.ID)
		close(c.ended)
		c.ended = make(chan struct{})
	})
}

// GoesOn reports whether the model is to go on where it has ended the turn by
// itself: it is to be told of a child that ran in the background. It waits for
// one to end, or for a prompt that joins the turn.
func (c *Children) GoesOn(ctx context.Context) bool {
	for {
		c.mu.Lock()
		ended, running := c.ended, len(c.cancels)
		c.mu.Unlock()
		switch {
		case c.cfg.Turn.Tells(note), ctx.Err() != nil && running > 0, c.cfg.Turn.Waiting() && running > 0:
			return true
		case running == 0:
			return false
		}
		select {
		case <-ended:
		case <-c.cfg.Turn.Queued:
		case <-ctx.Done():
		}
	}
}

// Stop interrupts the children that still run, and waits for their ends.
func (c *Children) Stop(cause error) {
	c.mu.Lock()
	for _, cancel := range c.cancels {
		cancel(cause)
	}
	c.mu.Unlock()
	c.all.Wait()
}

// run runs a child to its end, which is recorded.
func (c *Children) run(ctx context.Context, child Child, a tool.Agent, run *tool.AgentRun) error {
	began := c.cfg.Now()
	m := &mirror{Children: c, child: child, running: map[string]bool{}, live: true}
	s, err := c.cfg.Open(ctx, child)
	ended := event.AgentEnded{Call: child.Of.Call, Child: child.ID, End: event.EndFailed}
	if err == nil {
		var reply string
		var end event.Ended
		if reply, end, err = s.Run(ctx, a.Prompt, m.see); err == nil {
			run.Reply, ended.End, ended.Error = reply, end.End, end.Error
		}
		if all := s.Spent(); all.Unknown == 0 {
			run.USD = &all.USD
		}
		err = m.close(ctx, s, err)
	}
	if err != nil {
		f := turn.Describe(err)
		ended.Error = &f
	}
	if ended.Error != nil {
		run.Error = ended.Error.Message
	}
	ended.Calls = m.calls
	run.End, run.Calls, run.Files, run.Took = string(ended.End), m.calls, m.files, c.cfg.Now().Sub(began)
	if rerr := c.cfg.Record(context.WithoutCancel(ctx), event.Draft{Body: ended}); rerr != nil {
		return rerr
	}
	if c.cfg.Log.Broken() == nil {
		return nil // how it ended is the result
	}
	return err
}
