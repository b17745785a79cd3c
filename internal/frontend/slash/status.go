package slash

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func status() Command {
	return Command{Name: "status", Anytime: true, Doc: "show the session: states, model, mode, plan and changes", Run: func(_ context.Context, h Host, _ string) error {
		s := h.Session()
		fmt.Fprintf(h.Out(), "session %s, %d events\n%s\nmode %s\n", s.ID(), s.View().Last(), brief.Model(s.View().Info()), s.View().Mode())
		if line := brief.Route(s.View().Route()); line != "" {
			fmt.Fprintln(h.Out(), line)
		}
		all, _ := s.View().Spent()
		fmt.Fprintln(h.Out(), brief.Spending(all))
		writeStates(h.Out(), s.View().States())
		for _, item := range s.View().Plan() {
			fmt.Fprintln(h.Out(), plain.Line(fmt.Sprintf("  [%s] %s", item.Status, item.Text)))
		}
		if lines := brief.PhaseList(s.View().Phases()); len(lines) > 0 {
			fmt.Fprintln(h.Out(), "phases:\n"+strings.Join(lines, "\n"))
		}
		if line := brief.Evidence(s.View().Evidence()); line != "" {
			fmt.Fprintln(h.Out(), line)
		}
		return nil
	}}
}

// shownPath is how many states of the path are shown.
const shownPath = 12

// writeStates shows the state of every machine, and the states before it in the
// run (SPEC 2.5).
func writeStates(out io.Writer, s session.States) {
	fmt.Fprintf(out, "agent %s, activity %s, application %s, window %s, log %s\n", s.Agent, s.Activity, s.Application, s.Window, s.Storage)
	var path []string
	for _, p := range s.Path {
		path = append(path, string(p))
	}
	if len(path) > shownPath {
		path = append([]string{"…"}, path[len(path)-shownPath:]...)
	}
	if len(path) > 1 {
		fmt.Fprintln(out, "path: "+strings.Join(path, " → "))
	}
	for _, c := range s.Calls {
		fmt.Fprintln(out, plain.Line(fmt.Sprintf("  call %s: %s", c.Tool, c.State)))
	}
	if len(s.Violations) > 0 {
		fmt.Fprintf(out, "%d events were not legal transitions, the first at %d: %v; please report this\n", len(s.Violations), s.Violations[0].Seq, s.Violations[0].Err)
	}
}
