package leases

import (
	"context"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.6: a machine that is drained finishes its task, takes no more and ends; another
// machine goes on.
func TestDrain(t *testing.T) {
	t.Parallel()
	r := &testBoard{t: t, url: natstest.Server(t).ClientURL(), bank: &purse{}}
	var err error
	r.board = must.Get(Open(t.Context(), r.dial(), Config{Swarm: "s", Version: "1", Lease: time.Minute, Say: r.say}))(t)
	defer func() { _ = r.board.Close(context.Background()) }()
	began, goOn := make(chan struct{}), make(chan struct{})
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(t.Context(), r.dial(), WorkerConfig{Name: "box", Version: "1", Slots: 2, Say: r.say, Do: func(context.Context, *Held) Result {
			close(began)
			<-goOn
			return Result{Reply: "of box"}
		}})
	}()
	result := make(chan Result, 1)
	go func() {
		res, err := r.do(1)
		if err != nil {
			t.Error(err)
		}
		result <- res
	}()
	<-began
	nc := r.dial()
	if all, err := Drain(t.Context(), nc, "", "bax"); err != nil || len(all) != 0 {
		t.Errorf("%+v, %v", all, err)
	}
	all, err := Drain(t.Context(), nc, "", "box")
	if err != nil || len(all) != 1 || !all[0].Drains || all[0].Works != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	r.worker(WorkerConfig{Name: "other", Slots: 1, Do: func(context.Context, *Held) Result { return Result{Reply: "of other"} }})
	if res, err := r.do(2); err != nil || res.Reply != "of other" { // box has a free slot
		t.Errorf("%+v, %v", res, err)
	}
	close(goOn)
	if res := <-result; res.Reply != "of box" {
		t.Errorf("%+v", res)
	}
	must.Do(t, <-ended)
}
