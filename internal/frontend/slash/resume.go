package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func resume() Command {
	return Command{Name: "resume", Args: "[ID]", Doc: "list this folder's sessions, or go on with one", Run: func(ctx context.Context, h Host, args string) error {
		if args != "" {
			return h.Switch(ctx, Want{Resume: args})
		}
		rows, err := h.Sessions(ctx)
		if err != nil {
			return err
		}
		for _, r := range rows {
			here := ""
			if r.ID == h.Session().ID() {
				here = "  (this one)"
			}
			fmt.Fprintln(h.Out(), plain.Line(fmt.Sprintf("  %s  %s  %s%s", r.ID, r.Updated.Local().Format("2006-01-02 15:04"), r.Title, here)))
		}
		return nil
	}}
}
