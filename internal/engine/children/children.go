// Package children runs the agents of a session (SPEC 14.1, ADR 013): each is a
// session of its own with its own log.
//
// It promises that a child's file changes and commands are recorded in its parent's log
// too, as effects of the call that started it. So undo, evidence, the model's knowledge
// of files and the detection of loops read only the parent's log. This also holds after
// a crash (recover.go). No child outlives the turn that started it, and no process of a
// child outlives the child. child.go defines how a child is configured. The package
// knows the session's log, not the session: Config.Parent opens a child.
package children

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Session is an open child.
type Session interface {
	// Run runs a prompt to its end. see is shown every event as it happens.
	Run(ctx context.Context, prompt string, see func(event.Event) error) (reply string, ended event.Ended, err error)
	Spent() budget.Spent
	// Tree returns the working tree of its own, nil for none.
	Tree() *Tree
	// Close removes the tree if nothing is in it.
	Close() error
}

// Tree is the working tree of a child that has one of its own.
type Tree struct {
	event.AgentTree
	From  string // the folder of the session that started it
	Notes []string
	Left  bool // when the child is closed: something is in it
}

// tell tells the model that started the child what is in the tree.
func (t *Tree) tell() string {
	var out []string
	if t.Left {
		out = append(out, fmt.Sprintf("its files are in the worktree %s, branch %s, and nothing of them is here; it may have committed them or not", t.Dir, t.Branch))
	} else {
		out = append(out, "it worked in a worktree of its own, which is removed, since nothing changed in it")
	}
	return strings.Join(append(out, t.Notes...), "; ")
}

// Config is what children need from their parent.
type Config struct {
	Session string // its id
	Store   event.Store
	Log     *eventlog.Log
	Fold    *Fold // one of Log's
	NewID   func() string
	Parent  Parent
	Turn    Turn
}

// Parent is the session that starts children.
type Parent interface {
	// Inherit returns what a child that begins now gets from the session.
	Inherit() Inheritance
	// OpenModel opens a model with an effort ("": the session's). It fails if the session's
	// budget cannot be enforced with it.
	OpenModel(ref, effort string) (llm.Model, error)
	Open(context.Context, Child) (Session, error)
}

// Turn is what children in the background need from the running turn.
type Turn interface {
	Context() context.Context
	// QueueNote queues a note for the model's next request. HasNote reports whether a note of
	// that kind is queued.
	QueueNote(event.Draft) bool
	HasNote(why event.NotedWhy) bool
	// HasPrompt reports whether a prompt waits. Queued gets a token when one is queued.
	HasPrompt() bool
	Queued() <-chan struct{}
}

// Children are the children of one session.
type Children struct {
	cfg Config

	mu      sync.Mutex
	cancels map[string]context.CancelCauseFunc // by child session
	ended   chan struct{}                      // closed after the next of them has ended
	all     sync.WaitGroup
}

func New(cfg Config) *Children {
	return &Children{cfg: cfg, cancels: map[string]context.CancelCauseFunc{}, ended: make(chan struct{})}
}

func (c *Children) For(call string) tool.Agents { return callAgents{c, call} }

type callAgents struct {
	*Children
	call string
}

func (c callAgents) Run(ctx context.Context, a tool.Agent) (tool.AgentRun, error) {
	child := c.childOf(c.call, a)
	started := event.AgentStarted{Call: c.call, Child: child.ID, Agent: a.Kind, Title: a.Title, Background: a.Report != nil, Isolated: a.Isolated}
	if err := c.cfg.Log.Append(ctx, event.Draft{Body: started}); err != nil {
		return tool.AgentRun{}, err
	}
	run := tool.AgentRun{Session: child.ID, Notes: child.Notes}
	if a.Report != nil {
		c.background(child, a, run)
		return run, nil
	}
	ctx, end := c.begin(ctx, child.ID)
	defer end()
	return run, c.run(ctx, child, a, &run)
}

// begin returns the context of a child: End cancels it. end is called after its end.
func (c *Children) begin(ctx context.Context, id string) (of context.Context, end func()) {
	of, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancels[id] = cancel
	return of, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		cancel(nil)
		delete(c.cancels, id)
		close(c.ended)
		c.ended = make(chan struct{})
	}
}

// End interrupts one child, and reports whether it runs.
func (c *Children) End(id string, cause error) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel := c.cancels[id]
	if cancel != nil {
		cancel(cause)
	}
	return cancel != nil
}

// background runs a child at the same time as the turn's other calls. The turn's end
// waits for it (MustContinue), and its result is reported to the turn's model.
func (c *Children) background(child Child, a tool.Agent, run tool.AgentRun) {
	ctx, end := c.begin(c.cfg.Turn.Context(), child.ID)
	c.all.Go(func() {
		defer end()
		_ = c.run(ctx, child, a, &run) // an error is that of the log, which ends the turn
		c.cfg.Turn.QueueNote(event.Draft{Body: event.Noted{Why: event.NotedAgent, Text: a.Report(run)}})
	})
}

// MustContinue reports whether a turn that its model has ended must go on, since the result
// of a child in the background is still to be reported. It waits until a child ends or
// a prompt joins the turn.
func (c *Children) MustContinue(ctx context.Context) bool {
	for {
		c.mu.Lock()
		ended, running := c.ended, len(c.cancels)
		c.mu.Unlock()
		switch {
		case c.cfg.Turn.HasNote(event.NotedAgent), ctx.Err() != nil && running > 0, c.cfg.Turn.HasPrompt() && running > 0:
			return true
		case running == 0:
			return false
		}
		select {
		case <-ended:
		case <-c.cfg.Turn.Queued():
		case <-ctx.Done():
		}
	}
}

// Stop interrupts the running children and waits for their ends.
func (c *Children) Stop(cause error) {
	c.mu.Lock()
	for _, cancel := range c.cancels {
		cancel(cause)
	}
	c.mu.Unlock()
	c.all.Wait()
}

// run runs a child to its end and records the end.
func (c *Children) run(ctx context.Context, child Child, a tool.Agent, run *tool.AgentRun) error {
	m := &mirror{Children: c, child: child, running: map[string]bool{}, changed: map[string]bool{}, live: true}
	s, err := c.cfg.Parent.Open(ctx, child)
	ended := event.AgentEnded{Call: child.Of.Call, Child: child.ID, End: event.EndFailed}
	if err == nil {
		m.tree = s.Tree()
		var reply string
		var end event.Ended
		if reply, end, err = s.Run(ctx, a.Prompt, m.see); err == nil {
			run.Reply, ended.End, ended.Error = reply, end.End, end.Error
		}
		if all := s.Spent(); all.Unknown == 0 {
			run.USD = &all.USD
		}
		err = m.close(ctx, s, err)
		if t := m.tree; t != nil {
			run.Notes = append(run.Notes, t.tell())
			if t.Left {
				ended.Tree, run.Branch = &t.AgentTree, t.Branch
			}
		}
	}
	if err != nil {
		f := turn.Describe(err)
		ended.Error = &f
	}
	if ended.Error != nil {
		run.Error = ended.Error.Message
	}
	ended.Calls = m.calls
	run.End, run.Calls, run.Files = string(ended.End), m.calls, m.files
	if rerr := c.cfg.Log.Append(context.WithoutCancel(ctx), event.Draft{Body: ended}); rerr != nil {
		return rerr
	}
	if c.cfg.Log.Broken() == nil {
		return nil // how it ended is the result
	}
	return err
}
