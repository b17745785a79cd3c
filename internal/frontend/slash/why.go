package slash

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	policy "github.com/pawl-agent/pawl/internal/policy/why"
)

func why() Command {
	return Command{Name: "why", Anytime: true, Doc: "explain the last halt, denial, block, loop and retry, and what cost most", Run: func(ctx context.Context, h Host, _ string) error {
		fold := policy.Fold{}
		if err := eachEvent(ctx, h, fold.Apply); err != nil {
			return err
		}
		brief.Why(h.Out(), fold.Findings())
		return nil
	}}
}

// eachEvent returns what is stored of the open session, in order.
func eachEvent(ctx context.Context, h Host, apply func(event.Event)) error {
	s := h.Session()
	last := s.View().Last()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for e, err := range s.Events(ctx, 0) {
		if err != nil {
			return err
		}
		if e.Seq == 0 {
			continue
		}
		if e.Seq <= last {
			apply(e)
		}
		if e.Seq >= last {
			break
		}
	}
	return nil
}
