package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// This file runs agents (SPEC 14.1): each is a session of its own with its own
// log. What it does to files, and what it ran, is recorded in this session's log
// too, as the doing of the call that started it: undo, evidence, what the model
// knows of files and the search for loops need nothing else. A change is in the
// child's log first; where a death comes between the two, opening the session
// again records what is missing (recoverAgents).

// delegations fold which agents run, and up to where what they did is recorded.
type delegations struct {
	running []event.AgentStarted
	told    map[string]int64 // by child session: the last sequence number there
}

func (d *delegations) apply(b event.Body) {
	at := func(e event.ChildEvent) {
		if d.told == nil {
			d.told = map[string]int64{}
		}
		d.told[e.Session] = max(d.told[e.Session], e.Seq)
	}
	switch b := b.(type) {
	case event.AgentStarted:
		d.running = append(d.running, b)
	case event.AgentEnded:
		d.running = slices.DeleteFunc(d.running, func(a event.AgentStarted) bool { return a.Child == b.Child })
		delete(d.told, b.Child)
	case event.AgentCalled:
		at(b.Child)
	case event.FileChanged:
		if b.Child != nil {
			at(*b.Child)
		}
	}
}

// noteOfAgent is Noted.Why of what came of an agent in the background.
const noteOfAgent = "agent"

// agents are those that run in the background.
type agents struct {
	mu      sync.Mutex
	cancels map[string]context.CancelCauseFunc // by child session
	ended   chan struct{}                      // closed when the next of them has ended
	all     sync.WaitGroup
}

// callAgents is tool.Agents for one call.
type callAgents struct {
	s    *Session
	call string
}

// Run is part of tool.Agents.
func (c callAgents) Run(ctx context.Context, a tool.Agent) (tool.AgentRun, error) {
	s := c.s
	cfg, notes := s.child(c.call, a)
	started := event.AgentStarted{Call: c.call, Child: cfg.ID, Agent: a.Kind, Title: a.Title, Background: a.Told != nil}
	if err := s.record(ctx, event.Draft{Body: started}); err != nil {
		return tool.AgentRun{}, err
	}
	run := tool.AgentRun{Session: cfg.ID, Notes: notes}
	if a.Told == nil {
		return run, s.runAgent(ctx, cfg, started, a, &run)
	}
	s.background(cfg, started, a, run)
	return run, nil
}

// background runs an agent beside the turn's other calls. The turn's end waits
// for it (drive), and its model is told what came of it.
func (s *Session) background(cfg Config, started event.AgentStarted, a tool.Agent, run tool.AgentRun) {
	ctx, cancel := context.WithCancelCause(s.ops.context())
	g := &s.delegated
	g.mu.Lock()
	if g.cancels == nil {
		g.cancels, g.ended = map[string]context.CancelCauseFunc{}, make(chan struct{})
	}
	g.cancels[cfg.ID] = cancel
	g.mu.Unlock()
	g.all.Go(func() {
		if err := s.runAgent(ctx, cfg, started, a, &run); err != nil && run.Error == "" {
			run.Error = err.Error()
		}
		s.ops.tellLater(event.Draft{Body: event.Noted{Why: noteOfAgent, Text: a.Told(run)}})
		g.mu.Lock()
		defer g.mu.Unlock()
		cancel(nil)
		delete(g.cancels, cfg.ID)
		close(g.ended)
		g.ended = make(chan struct{})
	})
}

// goesOn reports whether the model is to go on where it has ended the turn by
// itself: it is to be told of an agent that ran in the background. It waits for
// one to end, or for a prompt that joins the turn.
func (s *Session) goesOn(ctx context.Context) bool {
	g := &s.delegated
	for {
		g.mu.Lock()
		ended, running := g.ended, len(g.cancels)
		g.mu.Unlock()
		switch {
		case s.ops.tellsOf(noteOfAgent), ctx.Err() != nil && running > 0, s.ops.waiting() && running > 0:
			return true
		case running == 0:
			return false
		}
		select {
		case <-ended:
		case <-s.ops.queued:
		case <-ctx.Done():
		}
	}
}

// stop interrupts the agents that still run, and waits for their ends.
func (g *agents) stop(cause error) {
	g.mu.Lock()
	for _, cancel := range g.cancels {
		cancel(cause)
	}
	g.mu.Unlock()
	g.all.Wait()
}

// runAgent runs an agent to its end, which is recorded.
func (s *Session) runAgent(ctx context.Context, cfg Config, started event.AgentStarted, a tool.Agent, run *tool.AgentRun) error {
	began := s.cfg.Now()
	m := &mirror{s: s, call: started.Call, child: cfg.ID, running: map[string]bool{}, live: true}
	c, err := Open(ctx, cfg)
	ended := event.AgentEnded{Call: started.Call, Child: cfg.ID, End: event.EndFailed}
	if err == nil {
		var out Outcome
		out, err = c.RunPrompt(ctx, Prompt{Source: event.Parent, Text: a.Prompt}, Watch{See: m.see})
		if err == nil {
			run.Reply, ended.End, ended.Error = out.Reply, out.Ended.End, out.Ended.Error
		}
		if all, _ := c.spending.Spent(); all.Unknown == 0 {
			run.USD = &all.USD
		}
		err = m.close(ctx, c, err)
	}
	if err != nil {
		f := turn.Describe(err)
		ended.Error = &f
	}
	if ended.Error != nil {
		run.Error = ended.Error.Message
	}
	ended.Calls = m.calls
	run.End, run.Calls, run.Files, run.Took = string(ended.End), m.calls, m.files, s.cfg.Now().Sub(began)
	if rerr := s.record(context.WithoutCancel(ctx), event.Draft{Body: ended}); rerr != nil {
		return rerr
	}
	if s.log.Broken() == nil {
		return nil // how it ended is the result
	}
	return err
}

// mirror records what a child session does in the log of its parent.
type mirror struct {
	s           *Session
	call, child string
	seq         int64           // of the child's last event that was seen
	running     map[string]bool // the child's calls
	live        bool            // its calls are shown while it runs
	calls       int
	files       []string
	reply       string // the last words of its model
}

// close closes the child, and takes in what came after its turn: what commands in
// the background did until they were killed.
func (m *mirror) close(ctx context.Context, c *Session, err error) error {
	if sh, ok := c.cfg.Shell.(*childShell); ok {
		sh.end()
	}
	if cerr := c.Close(); err == nil {
		err = cerr
	}
	if rerr := m.rest(context.WithoutCancel(ctx)); err == nil {
		err = rerr
	}
	return err
}

// rest takes in what the child's log has more.
func (m *mirror) rest(ctx context.Context) error {
	for e, err := range m.s.cfg.Store.Read(ctx, m.child, m.seq) {
		if err != nil {
			return err
		}
		if err := m.see(e); err != nil {
			return err
		}
	}
	return nil
}

// see is part of Watch.
func (m *mirror) see(e event.Event) error {
	if e.Seq == 0 {
		return nil
	}
	m.seq = e.Seq
	at := event.ChildEvent{Session: m.child, Seq: e.Seq}
	switch b := e.Body.(type) {
	case event.Replied:
		if t := b.Reply.Message.Text(); t != "" {
			m.reply = t
		}
	case event.CallAsked:
		if m.live {
			m.s.log.Publish(event.OutputDelta{Call: m.call, Text: b.Title + "\n"})
		}
	case event.CallStarted:
		m.running[b.ID] = true
	case event.CallDone:
		m.calls++
		delete(m.running, b.ID)
		if b.Does == tool.Exec {
			at.Call, b.Diff, b.Result.Images = b.ID, "", nil
			return m.record(event.AgentCalled{Call: m.call, Child: at, Done: b})
		}
	case event.AgentCalled: // of an agent of the agent
		at.Call = b.Child.Session + "/" + b.Child.Call
		return m.record(event.AgentCalled{Call: m.call, Child: at, Done: b.Done})
	case event.FileChanged:
		if !slices.Contains(m.files, b.Path) {
			m.files = append(m.files, b.Path)
		}
		switch {
		case b.Child != nil && b.Child.Call != "":
			at.Call = b.Child.Session + "/" + b.Child.Call
		case b.Child == nil && m.running[b.Call]:
			at.Call = b.Call
		}
		b.Call, b.Child = m.call, &at
		return m.record(b)
	case event.Blocked:
		if m.live && b.By != event.ByStuck {
			b.Call = m.call
			return m.record(b)
		}
	}
	return nil
}

// record records what is not recorded yet.
func (m *mirror) record(b event.Body) error {
	told := eventlog.Look(m.s.log, func() int64 { return m.s.delegations.told[m.child] })
	if m.seq <= told {
		return nil
	}
	return m.s.record(context.Background(), event.Draft{Body: b})
}

// recoverAgents closes the sessions of agents that ran when pawl died, and
// records what they had done. It returns what is to be told of each, by the
// calls that waited for them; "" has what is told of those in the background.
func (s *Session) recoverAgents(ctx context.Context) (map[string]string, error) {
	told := map[string]string{}
	for _, a := range slices.Clone(s.delegations.running) {
		row, err := s.cfg.Store.Session(ctx, a.Child)
		ended := event.AgentEnded{Call: a.Call, Child: a.Child, End: event.EndInterrupted, Error: &event.Fault{
			Category: string(fault.Cancellation), Message: "pawl was stopped while this agent ran",
		}}
		m := &mirror{s: s, call: a.Call, child: a.Child, running: map[string]bool{}}
		// A fork has the events of another session, whose agents are not its own.
		if err == nil && row.ID == a.Child && row.Parent != nil && row.Parent.Session == s.cfg.ID {
			if err := s.recoverAgent(ctx, a, m); err != nil {
				return nil, err
			}
			ended.Calls = m.calls
		}
		if err := s.record(ctx, event.Draft{Body: ended}); err != nil {
			return nil, err
		}
		line := m.had(a)
		if a.Background {
			told[""] += line + "\n"
		} else {
			told[a.Call] += line
		}
	}
	return told, nil
}

func (s *Session) recoverAgent(ctx context.Context, a event.AgentStarted, m *mirror) error {
	cfg, _ := s.child(a.Call, tool.Agent{Kind: a.Agent})
	cfg.ID, cfg.child.recovering = a.Child, true
	c, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	return m.close(ctx, c, nil)
}

// had words what an agent had done when pawl died.
func (m *mirror) had(a event.AgentStarted) string {
	var b strings.Builder
	fmt.Fprintf(&b, "[The agent %s (%s) was cut short when pawl was stopped. It had made %d calls", a.Agent, a.Title, m.calls)
	if len(m.files) > 0 {
		const most = 20
		fmt.Fprintf(&b, " and changed %s", strings.Join(m.files[:min(len(m.files), most)], ", "))
		if more := len(m.files) - most; more > 0 {
			fmt.Fprintf(&b, " and %d more files", more)
		}
	} else {
		b.WriteString(" and changed no file")
	}
	b.WriteString(".")
	if m.reply != "" {
		b.WriteString(" Its last words: " + strings.Join(strings.Fields(m.reply), " "))
	}
	b.WriteString("]")
	return b.String()
}
