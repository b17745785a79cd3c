package lifecycle

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
)

// Calls is the state of each call that has no result yet (SPEC 2.4). The zero
// value has none. Finished calls are forgotten, so the cost does not grow with
// the session.
type Calls struct {
	open       []*call
	violations replayed
}

type call struct {
	id, tool string
	m        *fsm.Machine
}

// CallState is one call's.
type CallState struct {
	ID, Tool string
	State    fsm.State
}

// Open lists the calls without a result, in the order of the calls.
func (c *Calls) Open() []CallState {
	out := make([]CallState, len(c.open))
	for i, o := range c.open {
		out[i] = CallState{ID: o.id, Tool: o.tool, State: o.m.State()}
	}
	return out
}

// Violations lists the first 100 events without a legal transition.
func (c *Calls) Violations() []Violation { return slices.Clone(c.violations.violations) }

func (c *Calls) Apply(e event.Event) {
	if e.Seq == 0 {
		return
	}
	switch b := e.Body.(type) {
	case event.CallAsked:
		o := &call{id: b.ID, tool: b.Tool, m: fsm.NewMachine(&callTable)}
		c.open = append(c.open, o)
		c.move(e, o, Validating)
	case event.Asked:
		for _, q := range b.Questions {
			// A running call stays in its state while a person is asked about
			// what the sandbox refused it.
			if o := c.find(q.Call); o != nil && o.m.State() != Executing {
				c.move(e, o, RequestingPermission)
			}
		}
	case event.CallStarted:
		if o := c.find(b.ID); o != nil {
			c.move(e, o, Executing)
		}
	case event.CallDone:
		o := c.find(b.ID)
		if o == nil {
			return
		}
		if b.Outcome == event.OK {
			c.move(e, o, ProcessingResult)
		} else {
			c.move(e, o, Failed)
		}
		c.move(e, o, Completed)
		c.open = slices.DeleteFunc(c.open, func(p *call) bool { return p == o })
	case event.Ended:
		c.open = nil
	}
}

// find returns the first call with an id, since results come in the order of the calls.
func (c *Calls) find(id string) *call {
	for _, o := range c.open {
		if o.id == id {
			return o
		}
	}
	return nil
}

func (c *Calls) move(e event.Event, o *call, target fsm.State) {
	c.violations.check(e, o.m.To(target, meta(o.m, e)))
}
