package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// shownSessions is how many sessions are listed: the cost of each must be read from its
// events.
const shownSessions = 30

func resume() Command {
	return Command{Name: "resume", Args: "[ID]", Doc: "list this folder's sessions, or continue one", Run: func(ctx context.Context, h Host, args string) error {
		if args != "" {
			return h.Switch(ctx, Want{Resume: args})
		}
		rows, err := h.Sessions(ctx)
		if err != nil {
			return err
		}
		more := max(0, len(rows)-shownSessions)
		for _, r := range rows[:len(rows)-more] {
			here := ""
			if r.ID == h.Session().ID() {
				here = "  (this one)"
			}
			when, about := h.About(ctx, r)
			fmt.Fprintln(h.Out(), plain.Line(fmt.Sprintf("  %s  %9s  %s%s", r.ID, when, r.Title, here)))
			if about != "" {
				fmt.Fprintln(h.Out(), plain.Line("      "+about))
			}
		}
		if more > 0 {
			fmt.Fprintf(h.Out(), "  and %d older sessions; pawl sessions list --limit 0 lists all\n", more)
		}
		return nil
	}}
}
