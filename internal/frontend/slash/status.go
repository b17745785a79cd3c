package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func status() Command {
	return Command{Name: "status", Doc: "show the session, the model, the mode, the plan and what changed", Run: func(_ context.Context, h Host, _ string) error {
		s := h.Session()
		fmt.Fprintf(h.Out(), "session %s, %d events\n%s\nmode %s\n", s.ID(), s.Last(), brief.Model(s.Info()), s.Mode())
		if line := brief.Route(s.Route()); line != "" {
			fmt.Fprintln(h.Out(), line)
		}
		for _, item := range s.Plan() {
			fmt.Fprintln(h.Out(), plain.Line(fmt.Sprintf("  [%s] %s", item.Status, item.Text)))
		}
		if line := brief.Evidence(s.Evidence()); line != "" {
			fmt.Fprintln(h.Out(), line)
		}
		return nil
	}}
}
