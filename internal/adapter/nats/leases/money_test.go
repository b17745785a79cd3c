package leases

import (
	"context"
	"errors"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// SPEC 8.1, 14.6: money that is set aside while its lease ends is given back: nothing stays
// reserved for a worker that never got it.
func TestReservedWhileTheLeaseEnds(t *testing.T) {
	t.Parallel()
	r := newTestBoard(t, natstest.Server(t).ClientURL())
	r.bank.waits = make(chan chan struct{})
	h := r.held("box", 1)
	lost := r.begin(h)
	asked := make(chan error, 1)
	go func() {
		_, err := h.Reserve(t.Context(), budget.Ask{Input: 100, MaxOutput: 10})
		asked <- err
	}()
	goOn := <-r.bank.waits
	if err := <-lost; !errors.Is(err, ErrLost) { // it is silent meanwhile
		t.Fatal(err)
	}
	close(goOn)
	if err := <-asked; err == nil {
		t.Error("it got money of a lease that is over")
	}
	if err := r.board.Close(context.Background()); err != nil { // waits for what is under way
		t.Fatal(err)
	}
	r.bank.mu.Lock()
	defer r.bank.mu.Unlock()
	if len(r.bank.held) != 0 {
		t.Errorf("%d reservations are open", len(r.bank.held))
	}
}
