package leases

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.6: a file that takes longer than a lease, over a narrow connection, comes through
// as long as it moves, and the lease lives on.
func TestNarrowConnection(t *testing.T) {
	t.Parallel()
	const size, lease = 3 << 20, 2 * time.Second // it takes 1.5 s each way, and more where the machine is busy
	s := natstest.Server(t)
	r := newTestBoardFor(t, s.ClientURL(), lease)
	link := natstest.NewProxy(t, strings.TrimPrefix(s.ClientURL(), "nats://"))
	data := bytes.Repeat([]byte("0123456789abcde\n"), size/16)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	nc := must.Get(nats.Connect("nats://" + link.Addr()))(t)
	t.Cleanup(nc.Close)
	served := make(chan error, 1)
	go func() {
		served <- Serve(ctx, nc, WorkerConfig{Name: "far", Version: "1", Slots: 1, Do: func(ctx context.Context, h *Held) Result {
			link.Narrow(time.Millisecond / 2)
			in, err := h.Get(ctx, h.Job.RootPack, 2*size)
			if err != nil {
				return Result{Error: err.Error()}
			}
			got, err := io.ReadAll(in)
			if err != nil || !bytes.Equal(got, data) {
				return Result{Error: "it is not the file"}
			}
			name, err := h.Put(ctx, func(w io.Writer) error { return text(string(got)+"done")(ctx, w) })
			if err != nil {
				return Result{Error: err.Error()}
			}
			return Result{Pack: name}
		}})
	}()
	res, err := r.board.Do(t.Context(), Offer{Fence: 1, Begin: func(Taker) (Job, error) {
		name, err := r.board.Keep(t.Context(), "x", text(string(data)))
		return Job{Task: event.Task{ID: "a"}, RootPack: name}, err
	}})
	if err != nil || res.Error != "" || res.Pack == "" {
		t.Errorf("%+v, %v", res, err)
	}
	stop()
	must.Do(t, <-served)
}

// SPEC 14.6: accounts of the server keep swarms apart that have the same team and name.
func TestAccounts(t *testing.T) {
	t.Parallel()
	conf := filepath.Join(t.TempDir(), "nats.conf")
	if err := os.WriteFile(conf, []byte(`accounts {
		RED { jetstream: enabled, users: [ { user: red, password: red } ] }
		BLUE { jetstream: enabled, users: [ { user: blue, password: blue } ] }
	}`), 0o600); err != nil {
		t.Fatal(err)
	}
	parsed, err := natsserver.ProcessConfigFile(conf)
	must.Do(t, err)
	s := natstest.Server(t, func(o *natsserver.Options) { o.Accounts, o.Users, o.NoAuthUser = parsed.Accounts, parsed.Users, "" })
	as := func(user string) *nats.Conn {
		nc := must.Get(nats.Connect(s.ClientURL(), nats.UserInfo(user, user)))(t)
		t.Cleanup(nc.Close)
		return nc
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 2)
	boards := map[string]*Board{}
	for _, account := range []string{"red", "blue"} {
		if boards[account], err = Open(t.Context(), as(account), Config{Swarm: "s", Version: "1", Lease: time.Minute}); err != nil {
			t.Fatal(err)
		}
		go func() {
			served <- Serve(ctx, as(account), WorkerConfig{Name: account, Version: "1", Slots: 1, Do: func(context.Context, *Held) Result { return Result{Reply: "of " + account} }})
		}()
	}
	for account, b := range boards {
		for fence := range int64(3) {
			res, err := b.Do(t.Context(), Offer{Fence: fence + 1, Begin: given(Job{Task: event.Task{ID: "a"}})})
			if err != nil || res.Reply != "of "+account {
				t.Errorf("%s: %+v, %v", account, res, err)
			}
		}
		if all, err := Machines(t.Context(), as(account), ""); err != nil || len(all) != 1 || all[0].Name != account {
			t.Errorf("%s: %+v, %v", account, all, err)
		}
	}
	must.Do(t, boards["red"].Close(t.Context()))
	if res, err := boards["blue"].Do(t.Context(), Offer{Fence: 9, Begin: given(Job{Task: event.Task{ID: "a"}})}); err != nil || res.Reply != "of blue" {
		t.Errorf("after the end of the other one: %+v, %v", res, err)
	}
	must.Do(t, boards["blue"].Close(t.Context()))
	stop()
	for range 2 {
		if err := <-served; err != nil {
			t.Error(err)
		}
	}
}
