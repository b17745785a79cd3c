package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func todo() Command {
	return Command{Name: "todo", Anytime: true, Doc: "show the model's list of steps, and the phases", Run: func(_ context.Context, h Host, args string) error {
		if err := noArguments(args); err != nil {
			return err
		}
		v := h.Session().View()
		items, phases := v.Plan(), brief.PhaseList(v.Phases())
		if len(items) == 0 && len(phases) == 0 {
			fmt.Fprintln(h.Out(), "there is no list of steps yet, and no phase was started")
		}
		for _, it := range items {
			fmt.Fprintln(h.Out(), plain.Line("  "+tick(it)+" "+it.Text))
		}
		for i, l := range phases {
			if i == 0 {
				fmt.Fprintln(h.Out(), "phases:")
			}
			fmt.Fprintln(h.Out(), l)
		}
		return nil
	}}
}

// tick returns the mark of a step.
func tick(it tool.Item) string {
	switch it.Status {
	case "completed", "done":
		return "[x]"
	case "in_progress", "active":
		return "[>]"
	}
	return "[ ]"
}
