package slash

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func fork() Command {
	return Command{Name: "fork", Doc: "continue in a copy of this session", Run: func(ctx context.Context, h Host, _ string) error {
		old := h.Session().ID()
		if err := h.Switch(ctx, Want{Resume: old, Fork: true}); err != nil {
			return err
		}
		of := ""
		if rows, err := h.Sessions(ctx); err == nil {
			if i := slices.IndexFunc(rows, func(r event.Row) bool { return r.ID == old && r.Title != "" }); i >= 0 {
				of = " of “" + rows[i].Title + "”"
			}
		}
		fmt.Fprintln(h.Out(), plain.Line(fmt.Sprintf("this is a copy%s, session %s; /resume %s goes back", of, h.Session().ID(), old)))
		return nil
	}}
}
