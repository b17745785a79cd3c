package slash

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

func mode() Command {
	return Command{Name: "mode", Anytime: true, Args: "[MODE]", Doc: "show or set the permission mode: " + permission.ModeNames(), Run: func(ctx context.Context, h Host, args string) error {
		if args != "" {
			if _, err := h.Session().Submit(ctx, session.SetMode{Mode: args}); err != nil {
				return err
			}
		}
		fmt.Fprintf(h.Out(), "mode %s\n", h.Session().View().Mode())
		return nil
	}}
}
