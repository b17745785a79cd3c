package leases

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.6: a worker that outlives its coordinator drops the tasks it had from it and
// works for the next one, even if that came before the worker missed the first.
func TestCoordinatorStartedAgain(t *testing.T) {
	t.Parallel()
	r := &testBoard{t: t, url: natstest.Server(t).ClientURL(), bank: &purse{}}
	first := r.dial()
	cfg := Config{Swarm: "s", Version: "1", Lease: time.Minute, Bank: r.bank, Say: r.say}
	dead := must.Get(Open(t.Context(), first, cfg))(t)
	defer dead.stop()
	var mu sync.Mutex
	var runs, left []string
	began := make(chan struct{})
	r.worker(WorkerConfig{Name: "box", Slots: 1, Do: func(ctx context.Context, h *Held) Result {
		mu.Lock()
		runs = append(runs, h.Run())
		n := len(runs)
		mu.Unlock()
		if n == 1 {
			close(began)
			<-ctx.Done()
			return Result{}
		}
		return Result{Reply: "done"}
	}, Left: func(run string) {
		mu.Lock()
		defer mu.Unlock()
		left = append(left, run)
	}})
	go func() { _, _ = dead.Do(t.Context(), Offer{Fence: 1, Begin: given(Job{Task: event.Task{ID: "a"}})}) }()
	<-began
	first.Close() // kill -9
	r.board = must.Get(Open(t.Context(), r.dial(), cfg))(t)
	defer func() { _ = r.board.Close(context.Background()) }()
	res, err := r.do(2)
	if err != nil || res.Reply != "done" {
		t.Errorf("%+v, %v: %q", res, err, r.said)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(runs) != 2 || runs[0] == runs[1] || strings.Join(left, " ") != runs[0] {
		t.Errorf("worked for %v, left %v", runs, left)
	}
}
