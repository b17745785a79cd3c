package machines

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	judge "github.com/pawl-agent/pawl/internal/policy/swarm"
)

// BenchmarkLease is what a lease costs that does no work: Board, server and
// worker on one machine. doc/swarm.md calculates with it.
func BenchmarkLease(b *testing.B) {
	s := natstest.Server(b)
	bank := &purse{held: map[int]bool{}}
	nc := dial(b, s.ClientURL())
	board := must.Get(leases.Open(b.Context(), nc, leases.Config{Swarm: "s", Version: "1", Lease: time.Minute, Bank: bank}))(b)
	defer func() { _ = board.Close(context.Background()) }()
	const calls, requests = 20, 20
	for i := range 8 {
		go func() {
			_ = leases.Serve(b.Context(), dial(b, s.ClientURL()), leases.WorkerConfig{Name: fmt.Sprint("w", i), Version: "1", Slots: 8, Do: func(ctx context.Context, h *leases.Held) leases.Result {
				for range calls {
					h.Saw(ctx, judge.Call{Key: "k", What: "go test ./..."}, nil)
				}
				for range requests {
					g, err := h.Reserve(ctx, budget.Ask{Input: 1})
					if err == nil {
						err = h.Settle(ctx, g.ID, event.Charged{})
					}
					if err != nil {
						b.Error(err)
					}
				}
				return leases.Result{}
			}})
		}()
	}
	do := func(n int64) {
		_, err := board.Do(b.Context(), leases.Offer{Fence: n, Begin: given(leases.Job{Worker: "w", Prompt: string(make([]byte, 4000)), Task: makes("t")})})
		if err != nil {
			b.Error(err)
		}
	}
	do(1)
	before := must.Get(s.Varz(nil))(b)
	b.ResetTimer()
	var all sync.WaitGroup
	slots := make(chan struct{}, 64)
	for n := range b.N {
		slots <- struct{}{}
		all.Go(func() { do(int64(n + 2)); <-slots })
	}
	all.Wait()
	b.StopTimer()
	after := must.Get(s.Varz(nil))(b)
	b.ReportMetric(float64(after.InMsgs-before.InMsgs)/float64(b.N), "messages/op")
	b.ReportMetric(float64(after.InBytes-before.InBytes)/float64(b.N), "bytes/op")
}

// given is an Offer.Begin that gives a job to whoever asks.
func given(j leases.Job) func(leases.Taker) (leases.Job, error) {
	return func(leases.Taker) (leases.Job, error) { return j, nil }
}
