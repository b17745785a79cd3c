package chat

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Crew is a swarm with its tasks and workers, or an agent of the session. It is open while
// one of them works.
type Crew struct {
	Goal    string // of a swarm, "" for an agent
	Members []Member
	// Machines are the other machines of a swarm, each with its tasks, or with why it gets
	// no more.
	Machines []string
	// Outcome is how a swarm ended, "" while it runs.
	Outcome string
	USD     float64 // what its results cost
	Known   bool    // the cost of all of them is known
	// Background: no call waits for the agent, so no other block shows its end.
	Background bool
}

// Member is an agent, or a task of a swarm with its worker.
type Member struct {
	ID, Title    string
	Worker       string // the worker, or the kind of agent; "" for nobody
	State        string // waiting, ready, taken, returned, conflicted, merged, failed, skipped; of an agent: works, done, …
	LastAction   string // what it did last, "" if that is not known
	Calls        int
	Began        time.Time
	USD          *float64 // nil: not known, or nothing yet
	Done, Failed bool
}

func (Crew) body() {}

// Count returns how many members are done, and how many there are.
func (c Crew) Count() (over, all int) {
	for _, m := range c.Members {
		if m.Done {
			over++
		}
	}
	return over, len(c.Members)
}

var isCrew = is[Crew]

// swarmed handles the events of a swarm's log, which are one block.
func (t *Timeline) swarmed(e event.Event) {
	t.swarm.Apply(e)
	p := t.find(func(p *part) bool { return isCrew(p) && p.call == "" })
	if p == nil {
		p = &part{Block: Block{ID: id("swarm", e.Seq), Began: e.Time, Body: Crew{}}}
		t.add(p)
	}
	c := Crew{Goal: plain.Text(t.swarm.Goal)}
	c.USD, _, c.Known = t.swarm.Spent()
	for _, s := range t.swarm.Tasks() {
		c.Members = append(c.Members, t.withLastAction(worker(s)))
	}
	for _, m := range t.swarm.Machines() {
		text := fmt.Sprintf("%s  works on %d, did %d", m.Name, m.Works, m.Done)
		if m.Failed > 0 {
			text += fmt.Sprintf(", failed %d", m.Failed)
		}
		c.Machines = append(c.Machines, plain.Line(cmp.Or(m.Aside, text)))
	}
	if t.swarm.Ended != nil {
		c.Outcome = string(t.swarm.Ended.Outcome)
		if t.swarm.Ended.Error != "" {
			c.Outcome += ": " + plain.Line(t.swarm.Ended.Error)
		}
	}
	p.Body = c
	if c.Outcome != "" {
		t.finish(e, p, "", false)
		return
	}
	t.change(Changed, p, "")
}

// workerCalled records the last call of a swarm's worker.
func (t *Timeline) workerCalled(b event.TaskCalled) {
	p := t.find(func(p *part) bool { return isCrew(p) && p.call == "" })
	if p == nil {
		return // the swarm has ended
	}
	if t.workers == nil {
		t.workers = map[string]workerCalls{}
	}
	t.workers[plain.Line(b.Worker)] = workerCalls{t.workers[plain.Line(b.Worker)].n + 1, plain.Line(cut.Runes(b.What, 160))}
	c := p.Body.(Crew)
	c.Members = slices.Clone(c.Members)
	for i, m := range c.Members {
		c.Members[i] = t.withLastAction(m)
	}
	p.Body = c
	t.change(Changed, p, "")
}

// workerCalls is how many calls of a worker were seen, and the last one.
type workerCalls struct {
	n    int
	last string
}

// withLastAction returns a member with its calls and its last action.
func (t *Timeline) withLastAction(m Member) Member {
	if w, ok := t.workers[m.Worker]; ok && m.State == string(swarm.Taken) {
		m.Calls, m.LastAction = w.n, w.last
	}
	return m
}

func worker(s swarm.TaskProgress) Member {
	m := Member{
		ID: plain.Line(s.ID), Title: plain.Line(s.Title), State: string(s.State), USD: s.Result.USD,
		Done: s.State.Final(), Failed: s.State == swarm.Failed || s.State == swarm.Skipped,
	}
	switch s.State {
	case swarm.Taken:
		m.Worker, m.USD = plain.Line(s.Lease.Worker), nil
	case swarm.Conflicted:
		m.LastAction = plain.Line("merged by hand: " + s.By)
	case swarm.Merged, swarm.Returned:
		m.Worker = plain.Line(s.Result.Worker)
	}
	if s.InReview() {
		m.LastAction = plain.Line("waits for you: pawl swarm diff, accept or retry " + s.ID)
	}
	if s.Tries > 0 && !s.State.Final() {
		m.LastAction = fmt.Sprintf("try %d of %d", s.Tries+1, swarm.Tries)
	}
	if s.State == swarm.Failed && s.Result.Error != "" {
		m.LastAction = plain.Line(cut.Runes(s.Result.Error, 160))
	}
	return m
}

// agent handles the events of agents of this session: each agent is a block.
func (t *Timeline) agent(e event.Event) {
	switch b := e.Body.(type) {
	case event.AgentStarted:
		t.add(&part{call: "agent " + b.Child, Block: Block{ID: id("agent", e.Seq), Began: e.Time, Body: Crew{Background: b.Background, Members: []Member{{
			ID: plain.Line(b.Child), Title: plain.Line(b.Title), Worker: plain.Line(b.Agent), State: "works", Began: e.Time,
		}}}}})
	case event.AgentCalled:
		t.updateMember(b.Child.Session, func(m *Member) {
			m.Calls++
			if m.LastAction = plain.Line(b.Done.Tool); b.Done.Command != "" {
				m.LastAction += " " + plain.Line(cut.Runes(b.Done.Command, 160))
			}
			if said := outcomeWords(b.Done); said != "" {
				m.LastAction += "  " + said
			}
		})
		if p := t.crewOf(b.Child.Session); p != nil {
			t.change(Changed, p, "")
		}
	case event.AgentEnded:
		t.updateMember(b.Child, func(m *Member) {
			m.State, m.Done, m.Failed, m.Calls = string(b.End), true, b.End != event.EndDone, max(m.Calls, b.Calls)
			if b.Error != nil {
				m.LastAction = plain.Line(cut.Runes(b.Error.Message, 160))
			}
		})
		if p := t.crewOf(b.Child); p != nil {
			t.finish(e, p, "", false)
		}
	}
}

// updateMember changes an agent in its block. Blocks that were returned before stay as they
// were.
func (t *Timeline) updateMember(child string, do func(*Member)) {
	p := t.crewOf(child)
	if p == nil {
		return
	}
	c := p.Body.(Crew)
	m := c.Members[0]
	do(&m)
	c.Members = []Member{m}
	p.Body = c
}

func (t *Timeline) crewOf(child string) *part {
	return t.find(func(p *part) bool { return isCrew(p) && p.call == "agent "+child })
}
