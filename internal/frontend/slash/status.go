package slash

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func status() Command {
	return Command{Name: "status", Anytime: true, Doc: "show the session: model, mode, cost, plan and changes", Run: func(_ context.Context, h Host, _ string) error {
		s := h.Session()
		fmt.Fprintf(h.Out(), "session %s, %d events\n%s\nmode %s\n", s.ID(), s.View().Last(), brief.Model(s.View().Info()), s.View().Mode())
		if line := brief.Route(s.View().Route()); line != "" {
			fmt.Fprintln(h.Out(), line)
		}
		all, _ := s.View().Spent()
		fmt.Fprintln(h.Out(), brief.Spending(all))
		for _, item := range s.View().Plan() {
			fmt.Fprintln(h.Out(), plain.Line(fmt.Sprintf("  [%s] %s", item.Status, item.Text)))
		}
		if lines := brief.PhaseList(s.View().Phases()); len(lines) > 0 {
			fmt.Fprintln(h.Out(), "phases:\n"+strings.Join(lines, "\n"))
		}
		for _, line := range brief.Evidence(s.View().Evidence()) {
			fmt.Fprintln(h.Out(), line)
		}
		return nil
	}}
}
