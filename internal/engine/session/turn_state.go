package session

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// turnState folds the state of a turn: its open calls, the plan, and the model's text.
type turnState struct {
	open []llm.Call // calls without a result, in the order asked
	plan []tool.Item
	said string // the newest words of the model
}

// Apply implements event.Fold.
func (c *turnState) Apply(e event.Event) {
	switch b := e.Body.(type) {
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
