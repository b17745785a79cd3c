package swarm

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Cancel ends a swarm whose coordinator does not run: it ends the open leases and all
// tasks. A swarm that has ended stays unchanged.
func Cancel(ctx context.Context, log Log, s *swarm.Schedule) error {
	var ds []event.Draft
	log.View(func() {
		if s.Ended != nil {
			return
		}
		for _, t := range s.Taken() {
			ds = append(ds, event.Draft{Body: event.TaskReturned{
				Task: t.ID, Worker: t.Lease.Worker, Fence: t.Lease.Fence, Outcome: event.TaskReleased, Error: "the swarm was cancelled",
			}})
		}
		ds = append(ds, event.Draft{Body: event.SwarmEnded{Outcome: event.SwarmCancelled, Commit: s.Tip(), Error: "it was cancelled"}})
	})
	if len(ds) == 0 {
		return nil
	}
	return log.Append(ctx, ds...)
}
