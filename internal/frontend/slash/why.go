package slash

import (
	"context"

	"github.com/pawl-agent/pawl/internal/frontend/brief"
	policy "github.com/pawl-agent/pawl/internal/policy/why"
)

func why() Command {
	return Command{Name: "why", Anytime: true, Doc: "explain the last halt, denial, block, loop and retry, and what cost most", Run: func(ctx context.Context, h Host, _ string) error {
		fold := policy.Fold{}
		if err := h.Session().View().Fold(ctx, &fold); err != nil {
			return err
		}
		brief.Why(h.Out(), fold.Findings())
		return nil
	}}
}
