package slash

import (
	"context"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

func pause() Command {
	return Command{Name: "pause", Doc: "while a turn runs: pause before its next request", Run: func(ctx context.Context, h Host, _ string) error {
		_, err := h.Session().Submit(ctx, session.Pause{})
		return err
	}, Meanwhile: func(args string) session.Op {
		if args != "" {
			return nil
		}
		return session.Pause{}
	}}
}
