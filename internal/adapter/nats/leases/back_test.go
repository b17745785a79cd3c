package leases

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 14.6: a worker that is told to stop hands its task back at once, and says why: the
// swarm need not wait for the end of the lease.
func TestWorkerToldToStopHandsBack(t *testing.T) {
	t.Parallel()
	r := newTestBoardFor(t, natstest.Server(t).ClientURL(), time.Hour)
	began := make(chan struct{})
	end := r.worker(WorkerConfig{Name: "box", Do: func(ctx context.Context, _ *Held) Result {
		close(began)
		<-ctx.Done()
		return Result{Error: context.Cause(ctx).Error(), Session: "log", Tokens: 7}
	}})
	type back struct {
		Result
		err error
	}
	results := make(chan back, 1)
	go func() {
		res, err := r.do(1)
		results <- back{res, err}
	}()
	<-began
	end()
	if b := <-results; b.err != nil || b.Fault != event.FaultDrained || b.Session != "log" || b.Tokens != 7 {
		t.Errorf("%+v, %v", b.Result, b.err)
	}
}

// SPEC 14.6: a machine that is set aside leaves the swarm, and one for which a task is not
// meant leaves it to others.
func TestOfferGoesToAnother(t *testing.T) {
	t.Parallel()
	for _, why := range []error{fmt.Errorf("%w: it fails what others can do", ErrAside), ErrElsewhere} {
		r := newTestBoardFor(t, natstest.Server(t).ClientURL(), time.Minute)
		asked := make(chan struct{}, 100)
		results := make(chan Result, 1)
		go func() {
			res, _ := r.board.Do(t.Context(), Offer{Fence: 1, Begin: func(by Taker) (Job, error) {
				if strings.HasPrefix(by.Machine, "bad") {
					asked <- struct{}{}
					return Job{}, why
				}
				return Job{Task: event.Task{ID: "a"}}, nil
			}})
			results <- res
		}()
		do := func(_ context.Context, h *Held) Result { return Result{Reply: h.Job.Task.ID} }
		r.worker(WorkerConfig{Name: "bad", Do: do})
		<-asked
		r.worker(WorkerConfig{Name: "good", Do: do})
		if res := <-results; !strings.HasPrefix(res.Machine, "good") || res.Reply != "a" {
			t.Errorf("%v: %+v", why, res)
		}
	}
}
