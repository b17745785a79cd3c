package leases

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.6: a server that loses all that it stored, in the middle of a swarm, stops
// nothing: what is offered is offered again, and files are sent again. A task that is
// worked on goes on.
func TestServerLosesItsStore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var second *natsserver.Server
	t.Cleanup(func() { second.Shutdown(); second.WaitForShutdown() })
	first := must.Get(natstest.New(filepath.Join(dir, "a")))(t)
	if !first.ReadyForConnections(time.Minute) {
		t.Fatal("not ready")
	}
	r := newTestBoardFor(t, first.ClientURL(), time.Minute)
	job := func(Taker) (Job, error) {
		name, err := r.board.Keep(t.Context(), "files", text("files of the task"))
		return Job{Task: event.Task{ID: "a"}, RootPack: name}, err
	}
	began, goOn := make(chan struct{}, 2), make(chan struct{})
	end := r.worker(WorkerConfig{Name: "box", Slots: 1, Do: func(ctx context.Context, h *Held) Result {
		began <- struct{}{}
		select {
		case <-goOn:
		case <-ctx.Done():
			return Result{Error: context.Cause(ctx).Error()}
		}
		in, err := h.Get(ctx, h.Job.RootPack, 1000)
		if err != nil {
			return Result{Error: err.Error(), Fault: event.FaultNetwork}
		}
		text, err := io.ReadAll(in)
		if err != nil {
			return Result{Error: err.Error(), Fault: event.FaultNetwork}
		}
		return Result{Reply: string(text)}
	}})
	defer end()
	results := make(chan Result, 2)
	do := func(fence int64) {
		res, err := r.board.Do(t.Context(), Offer{Fence: fence, Begin: job})
		if err != nil {
			t.Error(err)
		}
		results <- res
	}
	go do(1)
	<-began
	go do(2) // it waits for the slot, and its offer is lost with the store

	port := first.Addr().(*net.TCPAddr).Port
	first.Shutdown()
	first.WaitForShutdown()
	second = must.Get(natstest.New(filepath.Join(dir, "b"), func(o *natsserver.Options) { o.Port = port }))(t)
	close(goOn)
	if res := <-results; res.Fault != event.FaultNetwork && res.Reply != "files of the task" {
		t.Errorf("the task that was worked on: %+v", res)
	}
	if res := <-results; res.Reply != "files of the task" {
		t.Errorf("the task that was offered: %+v", res)
	}
	if !r.heard("the NATS server lost what the swarm kept there") {
		t.Errorf("nobody is told: %q", r.said)
	}
}

// SPEC 14.6: a coordinator that was killed keeps no worker from other swarms, and what it
// left is listed and can be removed.
func TestDeadCoordinator(t *testing.T) {
	t.Parallel()
	url := natstest.Server(t).ClientURL()
	r := &testBoard{t: t, url: url, bank: &purse{}}
	nc := r.dial()
	dead := must.Get(Open(t.Context(), nc, Config{Swarm: "dead", Version: "1", Lease: testLease, Bank: r.bank, Say: r.say}))(t)
	defer dead.stop()
	must.Done(t)(dead.Keep(t.Context(), "x", text("source")))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	for fence := range int64(20) {
		go func() {
			_, _ = dead.Do(ctx, Offer{Fence: fence + 1, Begin: func(Taker) (Job, error) { return Job{}, ErrElsewhere }})
		}()
	}
	nc2 := r.dial()
	js := must.Get(jetstream.New(nc2))(t)
	stream := must.Get(js.Stream(t.Context(), dead.offersStream()))(t)
	messages := func(stream jetstream.Stream) uint64 {
		t.Helper()
		info := must.Get(stream.Info(t.Context()))(t)
		return info.State.Msgs
	}
	for messages(stream) < 20 {
		pause(t.Context(), askAgain)
	}
	if all, err := Swarms(t.Context(), nc2, ""); err != nil || len(all) != 1 || all[0].Dead {
		t.Errorf("%+v, %v", all, err)
	}
	nc.Close() // kill -9
	if age := stream.CachedInfo().Config.MaxAge; age != offerLife {
		t.Errorf("offers stay for %s", age)
	}
	r.worker(WorkerConfig{Name: "box", Slots: 1, Do: func(context.Context, *Held) Result { return Result{Reply: "done"} }})
	alive := must.Get(Open(t.Context(), r.dial(), Config{Swarm: "s", Version: "1", Lease: testLease, Bank: r.bank, Say: r.say}))(t)
	r.board = alive
	defer func() { _ = alive.Close(context.Background()) }()
	if res, err := r.do(1); err != nil || res.Reply != "done" {
		t.Errorf("%+v, %v", res, err)
	}
	all, err := Swarms(t.Context(), nc2, "")
	if err != nil || len(all) != 2 || !all[0].Dead || all[1].Dead {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := Status(t.Context(), nc2, "", "dead"); !errors.Is(err, ErrNoSwarm) {
		t.Errorf("%v", err)
	}
	if gone, err := Cancel(t.Context(), nc2, "", "dead"); err != nil || !gone {
		t.Errorf("%v, %v", gone, err)
	}
	files := must.Get(js.Stream(t.Context(), dead.filesStream()))(t)
	if n, m := messages(stream), messages(files); n+m != 0 {
		t.Errorf("%d offers and %d parts are left", n, m)
	}
}

// SPEC 14.6: people ask the server for a swarm's state and its machines, and cancel it.
func TestAdmin(t *testing.T) {
	t.Parallel()
	r := &testBoard{t: t, url: natstest.Server(t).ClientURL(), bank: &purse{}}
	cancelled := make(chan struct{})
	var err error
	r.board = must.Get(Open(t.Context(), r.dial(), Config{
		Team: "red", Swarm: "s", Version: "1", Lease: time.Minute, Say: r.say,
		Status: func() json.RawMessage { return json.RawMessage(`{"goal":"all"}`) }, Cancel: func() { close(cancelled) },
		Order: func(_ context.Context, raw json.RawMessage) (string, error) {
			if string(raw) != `{"do":"retry"}` {
				return "", errors.New("there is no such task")
			}
			return "its changes", nil
		},
	}))(t)
	defer func() { _ = r.board.Close(context.Background()) }()
	began, goOn := make(chan struct{}), make(chan struct{})
	r.worker(WorkerConfig{Name: "box", Team: "red", Slots: 3, Labels: []string{"gpu"}, Do: func(context.Context, *Held) Result {
		close(began)
		<-goOn
		return Result{}
	}})
	r.worker(WorkerConfig{Name: "other", Team: "blue", Slots: 1})
	result := make(chan error, 1)
	go func() {
		_, err := r.do(1)
		result <- err
	}()
	<-began
	nc := r.dial()
	all, err := Machines(t.Context(), nc, "red")
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	all[0].Since = time.Time{}
	if want := (Machine{Name: "box", Version: "1", Labels: []string{"gpu"}, Slots: 3, Works: 1, Swarms: []string{"s"}}); !reflect.DeepEqual(all[0], want) {
		t.Errorf("%+v", all[0])
	}
	close(goOn)
	must.Do(t, <-result)
	if raw, err := Status(t.Context(), nc, "red", "s"); err != nil || string(raw) != `{"goal":"all"}` {
		t.Errorf("%s, %v", raw, err)
	}
	if _, err := Status(t.Context(), nc, "blue", "s"); !errors.Is(err, ErrNoSwarm) {
		t.Errorf("the swarm of another team: %v", err)
	}
	if said, err := Order(t.Context(), nc, "red", "s", json.RawMessage(`{"do":"retry"}`)); err != nil || said != "its changes" {
		t.Error(said, err)
	}
	if _, err := Order(t.Context(), nc, "red", "s", json.RawMessage(`{"do":"x"}`)); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "no such task") {
		t.Errorf("%v", err)
	}
	if dead, err := Cancel(t.Context(), nc, "red", "s"); err != nil || dead {
		t.Errorf("%v, %v", dead, err)
	}
	<-cancelled
}

// SPEC 14.2: a question that nobody answers is the network's fault, and says so.
func TestUnanswered(t *testing.T) {
	t.Parallel()
	r := &testBoard{t: t, url: natstest.Server(t).ClientURL(), bank: &purse{}}
	r.board = must.Get(Open(t.Context(), r.dial(), Config{Swarm: "s", Version: "1", Lease: testLease, Say: r.say}))(t)
	h := r.held("box", 1)
	must.Do(t, r.board.Close(t.Context()))
	if err := h.Settle(t.Context(), 1); !errors.Is(err, ErrNetwork) {
		t.Errorf("%v", err)
	}
}
