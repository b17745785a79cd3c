package slash

import (
	"context"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/policy/stats"
)

func statistics() Command {
	return Command{Name: "stats", Anytime: true, Doc: "count this session's calls, tokens and costs per tool and model", Run: func(ctx context.Context, h Host, _ string) error {
		fold := stats.Fold{Zone: time.Local}
		if err := h.Session().View().Fold(ctx, &fold); err != nil {
			return err
		}
		brief.Stats(h.Out(), fold.Report(), nil)
		return nil
	}}
}
