package leases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// purse is a Bank that counts.
type purse struct {
	mu       sync.Mutex
	last     int
	held     map[int]budget.Grant
	charged  []event.Charged
	limit    *budget.LimitError
	unpriced bool
	waits    chan chan struct{} // if set, a reservation waits for what it sends here
}

func (p *purse) Reserve(_ context.Context, a budget.Ask) (budget.Grant, error) {
	if p.waits != nil {
		goOn := make(chan struct{})
		p.waits <- goOn
		<-goOn
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.limit != nil {
		return budget.Grant{}, p.limit
	}
	p.last++
	g := budget.Grant{ID: p.last, MaxTokens: 1000, USD: new(0.5), Tokens: a.Input + 1000}
	if p.unpriced {
		g.USD = nil
	}
	if !a.Child {
		return g, errors.New("a step of the coordinator's own turn")
	}
	if p.held == nil {
		p.held = map[int]budget.Grant{}
	}
	p.held[g.ID] = g
	return g, nil
}

func (p *purse) Settle(ctx context.Context, grant int, cs ...event.Charged) error {
	if ctx.Err() != nil {
		return ctx.Err() // as the log of a real one
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.held[grant]; !ok {
		return fmt.Errorf("nothing is held under %d", grant)
	}
	delete(p.held, grant)
	p.charged = append(p.charged, cs...)
	return nil
}

// testBoard is a board on a server.
type testBoard struct {
	t     *testing.T
	url   string
	board *Board
	bank  *purse

	mu   sync.Mutex
	said []string
}

// here are the names of the swarm of a rig.
var here = names{Team, "s"}

const testLease = 400 * time.Millisecond

func newTestBoard(t *testing.T, url string) *testBoard {
	t.Helper()
	return newTestBoardFor(t, url, testLease)
}

func newTestBoardFor(t *testing.T, url string, lease time.Duration, labels ...string) *testBoard {
	t.Helper()
	r := &testBoard{t: t, url: url, bank: &purse{}}
	b := must.Get(Open(t.Context(), r.dial(), Config{Swarm: "s", Version: "1", Lease: lease, Labels: labels, Bank: r.bank, Say: r.say}))(t)
	r.board = b
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r *testBoard) say(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, line)
}

func (r *testBoard) heard(part string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.said, func(s string) bool { return strings.Contains(s, part) })
}

func (r *testBoard) refusals() int {
	r.board.mu.Lock()
	defer r.board.mu.Unlock()
	return r.board.said["join"]
}

func (r *testBoard) dial() *nats.Conn {
	r.t.Helper()
	nc, err := nats.Connect(r.url, nats.MaxReconnects(-1), nats.ReconnectWait(10*time.Millisecond))
	must.Do(r.t, err)
	r.t.Cleanup(nc.Close)
	return nc
}

// worker starts a worker, and returns what ends it.
func (r *testBoard) worker(cfg WorkerConfig) (end func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cfg.Version = "1"
	nc := r.dial()
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, nc, cfg) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			r.t.Error(err)
		}
		nc.Close()
	})
	r.t.Cleanup(end)
	return end
}

func (r *testBoard) do(fence int64) (Result, error) {
	ctx, cancel := context.WithTimeout(r.t.Context(), 3*time.Minute)
	defer cancel()
	return r.board.Do(ctx, Offer{Fence: fence, Begin: given(Job{Worker: fmt.Sprint("w", fence), Task: event.Task{ID: fmt.Sprint("t", fence)}})})
}

// SPEC 14.6: tasks reach workers, each one worker, and results come back.
func TestTasks(t *testing.T) {
	t.Parallel()
	tasks(t, natstest.Server(t).ClientURL())
}

// SPEC 14.6: the same on a cluster of three.
func TestTasksOnCluster(t *testing.T) {
	t.Parallel()
	var urls []string
	for _, s := range natstest.Cluster(t, 3) {
		urls = append(urls, s.ClientURL())
	}
	tasks(t, strings.Join(urls, ","))
}

func tasks(t *testing.T, url string) {
	r := newTestBoard(t, url)
	var mu sync.Mutex
	did := map[string]int{}
	for i := range 3 {
		r.worker(WorkerConfig{Name: fmt.Sprint("box", i), Slots: 4, Do: func(ctx context.Context, h *Held) Result {
			mu.Lock()
			did[h.Job.Task.ID]++
			mu.Unlock()
			if tell := h.Saw(ctx, swarm.Call{Worker: "somebody else", Key: "k"}, &swarm.Failure{Worker: "somebody else"}); len(tell) != 1 || tell[0] != "told "+h.Job.Worker {
				t.Errorf("told %q", tell)
			}
			return Result{Reply: "of " + h.Job.Task.ID, Tokens: h.Fence}
		}})
	}
	const n = 24
	var all sync.WaitGroup
	for fence := int64(1); fence <= n; fence++ {
		all.Go(func() {
			res, err := r.board.Do(t.Context(), Offer{
				Fence: fence, Begin: given(Job{Worker: fmt.Sprint("w", fence), Task: event.Task{ID: fmt.Sprint("t", fence)}}),
				Saw: func(c swarm.Call, f *swarm.Failure) []string {
					if f.Worker != c.Worker {
						t.Errorf("a failure in the name of %s", f.Worker)
					}
					return []string{"told " + c.Worker}
				},
			})
			if err != nil || res.Reply != fmt.Sprint("of t", fence) || res.Tokens != fence || !strings.HasPrefix(res.Machine, "box") {
				t.Errorf("lease %d: %+v, %v", fence, res, err)
			}
		})
	}
	all.Wait()
	for id, k := range did {
		if k != 1 {
			t.Errorf("%s was worked on %d times", id, k)
		}
	}
	if len(did) != n {
		t.Errorf("%d tasks were worked on", len(did))
	}
}

// SPEC 14.6: another protocol, another pawl, or what lacks a label is refused,
// with what to do.
func TestJoinRefused(t *testing.T) {
	t.Parallel()
	r := newTestBoardFor(t, natstest.Server(t).ClientURL(), testLease, "gpu")
	key := must.Get(newKey())(t)
	nc := r.dial()
	good := joinAsk{Protocol: Protocol, Version: "1", Name: "box", Labels: []string{"gpu", "linux"}, Public: key.PublicKey().Bytes()}
	for want, change := range map[string]func(*joinAsk){
		"":                   func(*joinAsk) {},
		"protocol 99":        func(a *joinAsk) { a.Protocol = 99 },
		"protocol 0":         func(a *joinAsk) { a.Protocol = 0 },
		"it is pawl 0.9":     func(a *joinAsk) { a.Version = "0.9" },
		"it is pawl ,":       func(a *joinAsk) { a.Version = "" },
		"labels":             func(a *joinAsk) { a.Labels = nil },
		"its public key":     func(a *joinAsk) { a.Public = []byte("short") },
		"its public key is ": func(a *joinAsk) { a.Public = make([]byte, 32) }, // a point of small order
	} {
		ask := good
		change(&ask)
		m := must.Get(nc.Request(here.joinSubject(), encode(ask), time.Minute))(t)
		var a joinAnswer
		must.Do(t, json.Unmarshal(m.Data, &a))
		if want == "" && (a.Refused != "" || a.Worker == "") || !strings.Contains(a.Refused, want) {
			t.Errorf("%q: %+v", want, a)
		}
		if a.Refused != "" && (a.Worker != "" || r.refusals() <= saidMost && !r.heard(a.Refused)) {
			t.Errorf("%q: %+v is not said", want, a)
		}
	}
	said := make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	nc = r.dial()
	go func() {
		_ = Serve(ctx, nc, WorkerConfig{Name: "old", Version: "0.9", Labels: []string{"gpu"}, Say: func(s string) { said <- s }})
	}()
	if s := <-said; !strings.Contains(s, "install the same") {
		t.Errorf("the worker says %q", s)
	}
}

// held joins as a worker by hand, and takes a lease that was offered.
func (r *testBoard) held(name string, fence int64) *Held {
	r.t.Helper()
	nc := r.dial()
	js, err := jetstream.New(nc)
	must.Do(r.t, err)
	w := &server{team: Team, cfg: WorkerConfig{Name: name, Version: "1", Mask: func(b []byte) []byte { return b }}, nc: nc, js: js}
	j, err := w.join(r.t.Context(), "s")
	must.Do(r.t, err)
	return &Held{joined: j, Fence: fence}
}

// begin offers a lease, and has a worker take it.
func (r *testBoard) begin(h *Held) (result chan error) {
	r.t.Helper()
	result = make(chan error, 1)
	go func() {
		_, err := r.do(h.Fence)
		result <- err
	}()
	for { // until it is offered
		_, err := h.ask(r.t.Context(), kindTake, nil)
		if err == nil {
			return result
		}
		if !errors.Is(err, ErrOver) {
			r.t.Fatal(err)
		}
	}
}

// SPEC 14.6: a worker cannot speak for another, an old message counts for
// nothing, and the end of a lease is the end.
func TestForgedAndReplayed(t *testing.T) {
	t.Parallel()
	r := newTestBoardFor(t, natstest.Server(t).ClientURL(), time.Minute)
	honest, other := r.held("honest", 1), r.held("other", 1)
	listens, sent := r.dial(), make(chan *nats.Msg, 1000) // all that the honest one sends
	spy, err := listens.ChanSubscribe(here.askSubject(), sent)
	if err == nil {
		err = listens.Flush()
	}
	must.Do(t, err)
	result := r.begin(honest)

	// Of another worker, signed by itself.
	if _, err := other.ask(t.Context(), kindTake, nil); !errors.Is(err, ErrOver) {
		t.Errorf("a lease was taken twice: %v", err)
	}
	if _, err := other.ask(t.Context(), kindDone, encode(Result{Reply: "forged"})); !errors.Is(err, ErrOver) {
		t.Errorf("a result of another worker was taken: %v", err)
	}
	// In the name of the honest one, with the other's key, and with none.
	nc := r.dial()
	// dealtWith returns when the board has dealt with all that was sent over nc: the
	// answer to what is asked after it has come.
	dealtWith := func() {
		t.Helper()
		must.Do(t, nc.Flush())
		if _, err := other.ask(t.Context(), kindBeat, nil); !errors.Is(err, ErrOver) {
			t.Errorf("a lease of another worker goes on: %v", err)
		}
	}
	for _, key := range [][]byte{other.key, nil} {
		q := question{Epoch: honest.epoch, Worker: honest.id, Fence: 1, N: 1 << 40, Kind: kindDone, Body: encode(Result{Reply: "forged"})}
		q.MAC = q.mac(key)
		if m, err := nc.Request(here.askSubject(), encode(q), 100*time.Millisecond); err == nil {
			t.Errorf("a forged result was answered: %s", m.Data)
		}
	}
	for what, text := range map[string]string{"no JSON": "{", "nobody": `{"epoch":"` + r.board.epoch + `","worker":"nobody","fence":1,"kind":"done"}`, "another run": `{"epoch":"x","worker":"nobody","fence":1,"kind":"done"}`, "nothing": ""} {
		if m, err := nc.Request(here.askSubject(), []byte(text), 50*time.Millisecond); err == nil {
			t.Errorf("%s was answered: %s", what, m.Data)
		}
	}
	dealtWith()
	for _, part := range []string{"not signed", "not this worker's", "not of a worker"} {
		if !r.heard(part) {
			t.Errorf("nobody is told %q", part)
		}
	}
	// A field that was changed on the way.
	q := question{Epoch: honest.epoch, Worker: honest.id, Fence: 1, N: 77, Kind: kindBeat}
	q.MAC = q.mac(honest.key)
	for _, change := range []func(*question){
		func(q *question) { q.Kind = kindDone }, func(q *question) { q.Fence = 2 }, func(q *question) { q.N++ },
		func(q *question) { q.Body = json.RawMessage(`{"reply":"x"}`) }, func(q *question) { q.Worker = other.id },
	} {
		changed := q
		change(&changed)
		if m, err := nc.Request(here.askSubject(), encode(changed), 50*time.Millisecond); err == nil {
			t.Errorf("%+v was answered: %s", changed, m.Data)
		}
	}
	must.Done(t)(honest.ask(t.Context(), kindDone, encode(Result{})))
	if err := <-result; err != nil {
		t.Fatalf("the honest result: %v", err)
	}
	must.Do(t, errors.Join(listens.Flush(), spy.Unsubscribe()))
	// What was said in the old lease is said again in the next, and changes nothing.
	honest.Fence = 2
	result = r.begin(honest)
	for len(sent) > 0 {
		_, _ = nc.Request(here.askSubject(), (<-sent).Data, 20*time.Millisecond)
	}
	dealtWith()
	select {
	case err := <-result:
		t.Errorf("an old result ended a new lease: %v", err)
	default:
	}
	if !r.heard("the lease is over") {
		t.Errorf("an old result is not told of")
	}
	must.Done(t)(honest.ask(t.Context(), kindDone, encode(Result{})))
	must.Do(t, <-result)
}

// A repeated heartbeat, such as one that was recorded, keeps no lease alive.
func TestReplayIsNoLife(t *testing.T) {
	t.Parallel()
	r := newTestBoard(t, natstest.Server(t).ClientURL())
	h := r.held("box", 1)
	result := r.begin(h)
	q := question{Epoch: h.epoch, Worker: h.id, Fence: 1, N: 1000, Kind: kindBeat}
	q.MAC = q.mac(h.key)
	nc := r.dial()
	for {
		select {
		case err := <-result:
			if !errors.Is(err, ErrLost) {
				t.Errorf("%v", err)
			}
			return
		default:
			must.Done(t)(nc.Request(here.askSubject(), encode(q), time.Minute))
		}
	}
}

// SPEC 14.6: a worker that is gone costs one lease and not the task; what it had
// set aside counts as spent, once.
func TestLost(t *testing.T) {
	t.Parallel()
	r := newTestBoard(t, natstest.Server(t).ClientURL())
	h := r.held("dies", 1)
	result := r.begin(h)
	paid := must.Get(h.Reserve(t.Context(), budget.Ask{Input: 10}))(t)
	must.Do(t, h.Settle(t.Context(), paid.ID, event.Charged{Usage: llm.Usage{Input: 10, Known: true}}))
	open := must.Get(h.Reserve(t.Context(), budget.Ask{Input: 20}))(t)
	if err := <-result; !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "dies-") {
		t.Errorf("%v", err)
	}
	if len(r.bank.held) != 0 || len(r.bank.charged) != 2 {
		t.Fatalf("held %v, charged %+v", r.bank.held, r.bank.charged)
	}
	if c := r.bank.charged[1]; !c.Guess || !c.Unknown || c.USD == nil || *c.USD != 0.5 || !c.Child || c.Usage.Input != open.Tokens || c.Requests != 1 {
		t.Errorf("what was lost is charged as %+v", c)
	}
	// It comes back too late.
	if err := h.Settle(t.Context(), open.ID); !errors.Is(err, ErrOver) {
		t.Errorf("settled after the end: %v", err)
	}
	if _, err := h.ask(t.Context(), kindDone, encode(Result{})); !errors.Is(err, ErrOver) {
		t.Errorf("a result after the end: %v", err)
	}
	r.worker(WorkerConfig{Name: "lives", Do: func(context.Context, *Held) Result { return Result{} }})
	if _, err := r.do(2); err != nil {
		t.Errorf("the task is not done by another: %v", err)
	}
}

// A worker that cannot reach the swarm stops by itself.
func TestWorkerStopsItself(t *testing.T) {
	t.Parallel()
	r := newTestBoard(t, natstest.Server(t).ClientURL())
	began, ended := make(chan struct{}), make(chan error, 1)
	leave := r.worker(WorkerConfig{Name: "box", Do: func(ctx context.Context, _ *Held) Result {
		close(began)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return Result{}
	}})
	ctx, stop := context.WithCancelCause(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := r.board.Do(ctx, Offer{Fence: 1, Begin: given(Job{})})
		result <- err
	}()
	<-began
	stop(errors.New("ctrl-c"))
	if err := <-result; err == nil || !strings.Contains(err.Error(), "ctrl-c") {
		t.Errorf("%v", err)
	}
	if err := <-ended; !errors.Is(err, ErrOver) {
		t.Errorf("the worker ended because of %v", err)
	}

	leave() // or it takes the next offer
	// Nobody answers any more.
	h := r.held("far", 2)
	result = r.begin(h)
	h.nc.Close()
	ctx2, end := context.WithCancelCause(t.Context())
	h.beat(ctx2, h, time.Now(), end)
	if err := context.Cause(ctx2); !errors.Is(err, ErrOver) {
		t.Errorf("it ended because of %v", err)
	}
	<-result
}

// SPEC 8.1: money is set aside with the swarm, each time once, and what makes no
// sense is refused.
func TestMoney(t *testing.T) {
	t.Parallel()
	r := newTestBoard(t, natstest.Server(t).ClientURL())
	h := r.held("box", 1)
	result := r.begin(h)
	g, err := h.Reserve(t.Context(), budget.Ask{Input: 10})
	if err != nil || g.MaxTokens != 1000 || g.USD == nil {
		t.Fatalf("%+v, %v", g, err)
	}
	for what, err := range map[string]error{
		"another grant":             h.Settle(t.Context(), g.ID+100),
		"negative USD":              h.Settle(t.Context(), g.ID, event.Charged{USD: new(-1.0)}),
		"a huge cost":               h.Settle(t.Context(), g.ID, event.Charged{USD: new(1e12)}),
		"above the grant, in parts": h.Settle(t.Context(), g.ID, event.Charged{USD: new(1.01)}, event.Charged{USD: new(float64)}),
		"a huge use":                h.Settle(t.Context(), g.ID, event.Charged{Usage: llm.Usage{Output: math.MaxInt64, CacheRead: math.MaxInt64}}),
		"negative use":              h.Settle(t.Context(), g.ID, event.Charged{Usage: llm.Usage{Input: -5}}),
		"negative ask":              func() error { _, err := h.Reserve(t.Context(), budget.Ask{Input: -1}); return err }(),
		"negative price": func() error {
			_, err := h.Reserve(t.Context(), budget.Ask{Price: &llm.Price{Input: -1}})
			return err
		}(),
	} {
		if err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", what, err)
		}
	}
	// The size of a request is guessed: it may be twice what was reserved.
	must.Do(t, h.Settle(t.Context(), g.ID, event.Charged{By: "x", USD: new(0.9), Usage: llm.Usage{Known: true, Input: 1900}}))
	if err := h.Settle(t.Context(), g.ID); err == nil {
		t.Error("it was settled twice")
	}
	r.bank.mu.Lock()
	r.bank.unpriced = true
	r.bank.mu.Unlock()
	g = must.Get(h.Reserve(t.Context(), budget.Ask{Input: 10}))(t)
	if h.Settle(t.Context(), g.ID, event.Charged{USD: new(100.0)}) == nil {
		t.Error("any cost is taken where no price is known")
	}
	must.Do(t, h.Settle(t.Context(), g.ID, event.Charged{USD: new(1.0)}))
	r.bank.mu.Lock()
	r.bank.limit = &budget.LimitError{Kind: budget.USD, Limit: 1, Used: 1}
	r.bank.mu.Unlock()
	var limit *budget.LimitError
	if _, err := h.Reserve(t.Context(), budget.Ask{}); !errors.As(err, &limit) || limit.Limit != 1 {
		t.Errorf("the limit came as %v", err)
	}
	must.Done(t)(h.ask(t.Context(), kindDone, encode(Result{})))
	must.Do(t, <-result)
	if len(r.bank.held) != 0 || len(r.bank.charged) != 2 {
		t.Errorf("held %v, charged %v", r.bank.held, r.bank.charged)
	}
}

// An offer that comes twice, or whose acknowledgement is lost, is worked on once.
func TestDoubleDelivery(t *testing.T) {
	t.Parallel()
	r := newTestBoard(t, natstest.Server(t).ClientURL())
	var n atomic.Int32
	release := make(chan struct{})
	for i := range 2 {
		r.worker(WorkerConfig{Name: fmt.Sprint("box", i), Slots: 2, Do: func(ctx context.Context, _ *Held) Result {
			n.Add(1)
			select {
			case <-release:
			case <-ctx.Done():
			}
			return Result{}
		}})
	}
	result := make(chan error, 1)
	go func() {
		_, err := r.do(7)
		result <- err
	}()
	js := must.Get(jetstream.New(r.dial()))(t)
	for range 5 {
		must.Done(t)(js.Publish(t.Context(), r.board.tasksSubject(r.board.epoch)+"7", nil))
	}
	must.Done(t)(js.Publish(t.Context(), r.board.tasksSubject(r.board.epoch)+"nonsense", nil))
	for { // all offers are gone
		s := must.Get(js.Stream(t.Context(), here.offersStream()))(t)
		if s.CachedInfo().State.Msgs == 0 {
			break
		}
	}
	close(release)
	must.Do(t, <-result)
	if n.Load() != 1 {
		t.Errorf("it was worked on %d times", n.Load())
	}
}

// given is an Offer.Begin that gives a job to whoever asks.
func given(j Job) func(Taker) (Job, error) {
	return func(Taker) (Job, error) { return j, nil }
}
