package leases

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 14.6, 16.2: with the users of doc/examples a swarm runs, a worker can do what it
// must and no more, and a team reaches nothing of another one.
func TestRights(t *testing.T) {
	t.Parallel()
	parsed := must.Get(natsserver.ProcessConfigFile("../../../../doc/examples/nats-users.conf"))(t)
	for _, u := range parsed.Users {
		u.Password = u.Username[:1]
	}
	s := natstest.Server(t, func(o *natsserver.Options) { o.Users, o.NoAuthUser = parsed.Users, "" })
	refused := make(chan string, 1000)
	as := func(user string) *nats.Conn {
		t.Helper()
		nc := must.Get(nats.Connect(s.ClientURL(), nats.UserInfo(user, user[:1]), nats.CustomInboxPrefix(Inbox("red")),
			nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- user + ": " + err.Error() })))(t)
		t.Cleanup(nc.Close)
		return nc
	}
	cancelled := make(chan struct{})
	r := &testBoard{t: t, bank: &purse{}}
	r.board = must.Get(Open(t.Context(), as("coordinator"), Config{Team: "red", Swarm: "s", Version: "1", Lease: time.Minute, Bank: r.bank, Say: r.say, Cancel: func() { close(cancelled) }}))(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	served := make(chan error, 1)
	go func() {
		served <- Serve(ctx, as("worker"), WorkerConfig{Name: "box", Team: "red", Version: "1", Slots: 1, Do: func(ctx context.Context, h *Held) Result {
			in, err := h.Get(ctx, h.Job.RootPack, 100)
			if err != nil {
				return Result{Error: err.Error()}
			}
			got, err := io.ReadAll(in)
			if err != nil {
				return Result{Error: err.Error()}
			}
			name, err := h.Put(ctx, func(w io.Writer) error { return text(string(got)+" done")(ctx, w) })
			if err != nil {
				return Result{Error: err.Error()}
			}
			return Result{Pack: name}
		}})
	}()
	res, err := r.board.Do(t.Context(), Offer{Fence: 1, Begin: func(Taker) (Job, error) {
		name, err := r.board.Keep(t.Context(), "x", text("files"))
		return Job{Task: event.Task{ID: "a"}, RootPack: name}, err
	}})
	if err != nil || res.Error != "" {
		t.Fatalf("%+v, %v", res, err)
	}
	in := must.Get(r.board.Get(t.Context(), res.Pack, 100))(t)
	if text, err := io.ReadAll(in); err != nil || string(text) != "files done" {
		t.Errorf("%q, %v", text, err)
	}
	admin := as("coordinator")
	if all, err := Swarms(t.Context(), admin, "red"); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if all, err := Machines(t.Context(), admin, "red"); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if dead, err := Cancel(t.Context(), admin, "red", "s"); err != nil || dead {
		t.Errorf("%v, %v", dead, err)
	}
	<-cancelled
	stop()
	must.Do(t, <-served)
	must.Do(t, r.board.Close(context.Background()))
	select {
	case what := <-refused:
		t.Errorf("what must be allowed is refused: %s", what)
	default:
	}

	// What a hostile worker tries.
	hostile := as("worker")
	for _, subject := range []string{
		names{"red", "s"}.adminSubject(), names{team: "red"}.openSubject(), names{"red", "s"}.tasksSubject("x") + "1",
		names{"blue", "s"}.askSubject(), names{"blue", "s"}.partsSubject("x") + "1", names{team: "blue"}.whoSubject(),
		"$JS.API.STREAM.DELETE.pawl-red-files", "$JS.API.STREAM.PURGE.pawl-red-tasks", "$JS.API.STREAM.CREATE.x",
		"$JS.API.STREAM.MSG.GET.pawl-blue-files", "$JS.API.DIRECT.GET.pawl-blue-files.pawl.blue.s.part.x.0", "$JS.API.CONSUMER.CREATE.pawl-red-files",
		"$JS.API.CONSUMER.MSG.NEXT.pawl-blue-tasks.s-1",
	} {
		must.Do(t, errors.Join(hostile.Publish(subject, []byte("{}")), hostile.Flush()))
		select {
		case what := <-refused:
			if !strings.Contains(what, "worker") || !strings.Contains(strings.ToLower(what), strings.ToLower(subject)) {
				t.Errorf("%s: %s", subject, what)
			}
		case <-time.After(time.Minute):
			t.Errorf("a worker may publish to %s", subject)
		}
	}
	for _, subject := range []string{"pawl.red.*.ask", "pawl.red.*.join", "pawl.blue.open", "_INBOX.pawl.blue.>", ">"} {
		must.Done(t)(hostile.SubscribeSync(subject))
		must.Do(t, hostile.Flush())
		select {
		case <-refused:
		case <-time.After(time.Minute):
			t.Errorf("a worker may listen to %s", subject)
		}
	}
	js := must.Get(jetstream.New(as("coordinator")))(t)
	if _, err := js.Stream(t.Context(), "pawl-blue-files"); err == nil || errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("a coordinator looks into another team's stream: %v", err)
	}
}
