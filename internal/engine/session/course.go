package session

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// course folds what is going on: the open turn, its open calls, the open
// operation, and the plan.
type course struct {
	began    int64 // the sequence number of the newest prompt or operation
	turnOpen bool
	op       string     // the operation that is open, "" for none
	open     []llm.Call // calls without a result, in the order asked
	plan     []tool.Item
	said     string // the newest words of the model
}

// Apply is part of event.Fold.
func (c *course) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Prompted:
		c.turnOpen, c.began = true, e.Seq
	case event.OpStarted:
		c.op, c.began = b.Op, e.Seq
	case event.OpDone:
		c.op = ""
	case event.Ended:
		c.turnOpen = false
	case event.Replied:
		c.open = append(c.open, b.Reply.Message.Calls()...)
		c.said = b.Reply.Message.Text()
	case event.CallDone:
		// By its place and not by its id: some models count from 0 in each step.
		if len(c.open) > 0 {
			c.open = c.open[1:]
		}
	case event.Planned:
		c.plan = b.Items
	}
}

// changesFiles reports whether something is open that may change files.
func (c *course) changesFiles() bool { return c.turnOpen || c.op == opCommand }

// bodyFold is a fold that needs no more of an event than its body.
type bodyFold func(event.Body)

// Apply is part of event.Fold.
func (f bodyFold) Apply(e event.Event) { f(e.Body) }
