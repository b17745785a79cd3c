package leases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Bank provides the money of workers: it is the swarm's account.
type Bank interface {
	Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error)
	Settle(ctx context.Context, grant int, cs ...event.Charged) error
}

// Config is the configuration of a Board.
type Config struct {
	Team    string // "": Team
	Swarm   string // letters, digits, - and _
	Version string // of pawl: workers must have the same
	Labels  []string
	Lease   time.Duration // how long a worker may be silent
	Bank    Bank
	// Say is called with messages for a person: who joined, what was refused.
	Say func(string)
	// Status, if set, returns the swarm as it is now, as JSON. Cancel, if set, ends it.
	// Order, if set, does what somebody decided about one task; an order may come twice.
	// They answer whoever the server lets administer swarms.
	Status func() json.RawMessage
	Cancel func()
	Order  func(ctx context.Context, order json.RawMessage) (said string, err error)
	Host   string // where this coordinator runs
}

// Times of a Board.
const (
	announceEvery = 2 * time.Second
	announceMost  = 100 * time.Millisecond // the least time between two
	patience      = 2 * time.Second        // how long a question waits for its answer
	serverTime    = 10 * time.Second       // how long a server may take
	setUpTime     = 30 * time.Second       // each step of setting up: a cluster may not be ready
	offerAgain    = 5 * time.Second        // when an offer that nobody took is repeated
)

// saidMost is how often one kind of refusal is reported, since a client that floods the
// Board must not flood the person.
const saidMost = 5

// subscribeTime is how long the server may take to confirm the subscriptions.
const subscribeTime = 10 * time.Second

// Board offers tasks to workers and receives their results. It is safe for concurrent
// use.
type Board struct {
	names
	cfg     Config
	nc      *nats.Conn
	js      jetstream.JetStream
	files   files
	epoch   string
	subs    []*nats.Subscription
	life    context.Context // ends with stop
	stop    context.CancelFunc
	running sync.WaitGroup
	// whoAsked, with a buffer of one, gets a value when a worker asks who has tasks.
	whoAsked chan struct{}

	mu      sync.Mutex // guards what follows
	members map[string]*member
	leases  map[int64]*lease
	said    map[string]int
	made    [2]time.Time     // the team's streams
	lost    bool             // once, what the server kept
	kept    map[string]*kept // what workers can fetch, by what it is
}

// kept is a file that workers can fetch, or will be able to.
type kept struct {
	name   string
	at     time.Time
	begun  chan struct{} // closed when there is something to fetch
	failed error         // why there is nothing, once begun is closed
	end    context.CancelFunc
}

// Offer is a task for any worker.
type Offer struct {
	Fence int64 // the number of the lease on this Board
	// Begin returns the task, when a worker takes the offer. If its error matches
	// ErrElsewhere or ErrAside, the offer goes to another worker. Any other error ends it.
	Begin func(by Taker) (Job, error)
	Saw   func(swarm.Call, *swarm.Failure) (tell []string)
}

// Taker is a worker that takes an offer.
type Taker struct {
	Machine string
	Labels  []string
	// Trees are git's names of trees of files that it has from earlier swarms, the newest
	// first.
	Trees []string
}

// lease is an offer and the worker that took it.
type lease struct {
	Offer
	Job    Job             // once it is taken
	ctx    context.Context // ends with the lease
	worker string          // "" until one takes it
	taken  chan struct{}   // closed when it is taken
	failed chan error      // gets the error of Begin
	life   chan struct{}   // gets a value for each message of the worker
	done   chan Result
	asked  map[uint64]*asked
	grants map[int]budget.Grant
	over   bool
}

// asked is a question with its answer, which is valid after ready is closed.
type asked struct {
	answer answer
	ready  chan struct{}
}

// Open opens the Board of a swarm. Data of an earlier run is removed from the server.
func Open(ctx context.Context, nc *nats.Conn, cfg Config) (_ *Board, err error) {
	named := names{teamOf(cfg.Team), cfg.Swarm}
	if !isName(cfg.Swarm) || !isName(named.team) {
		return nil, fmt.Errorf("a swarm or a team cannot be named %q, %q", cfg.Swarm, named.team)
	}
	if cfg.Say == nil {
		cfg.Say = func(string) {}
	}
	b := &Board{
		names: named, whoAsked: make(chan struct{}, 1), cfg: cfg, nc: nc,
		members: map[string]*member{}, leases: map[int64]*lease{}, said: map[string]int{}, kept: map[string]*kept{},
	}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	b.epoch = fmt.Sprintf("%x", key.PublicKey().Bytes()[:8])
	if b.js, err = jetstream.New(nc); err != nil {
		return nil, err
	}
	b.files = files{names: named, js: b.js, idle: cfg.Lease}
	// Each step is repeated on failure: its answer may be lost, or a cluster may be
	// choosing a leader. Every step may be done twice.
	for _, step := range []func(context.Context) error{
		func(ctx context.Context) error { return b.renew(ctx) },
		func(ctx context.Context) error { return named.clear(ctx, b.js, b.epoch) },
	} {
		c := files{idle: setUpTime}.clock()
		if _, err := again(ctx, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, step(ctx) }); err != nil {
			return nil, fmt.Errorf("set up the swarm on the NATS server: %w", err)
		}
	}
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	b.life = ctx
	for subject, f := range map[string]nats.MsgHandler{
		named.joinSubject(): b.join, named.askSubject(): b.ask, named.adminSubject(): b.admin, named.whoSubject(): func(*nats.Msg) { b.asked() },
	} {
		s, err := nc.Subscribe(subject, f)
		if err != nil {
			b.stop()
			return nil, err
		}
		b.subs = append(b.subs, s)
	}
	// A worker may ask as soon as this returns: the server must know who answers.
	if err := nc.FlushTimeout(subscribeTime); err != nil {
		b.stop()
		return nil, fmt.Errorf("set up the swarm on the NATS server: %w", err)
	}
	b.running.Go(func() { b.announces(ctx) })
	b.running.Go(func() { b.keeps(ctx) })
	return b, nil
}

// announces announces the swarm at intervals, and to workers that ask. All workers
// receive each announcement, so one answers all workers that asked before it. Otherwise
// the number of messages would grow with the square of the number of workers.
func (b *Board) announces(ctx context.Context) {
	after := func(d time.Duration, sooner <-chan struct{}) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-sooner:
		case <-ctx.Done():
			return false
		}
		return true
	}
	for {
		b.announce()
		if !after(announceMost, nil) || !after(announceEvery, b.whoAsked) {
			return
		}
	}
}

// asked requests an announcement soon.
func (b *Board) asked() {
	select {
	case b.whoAsked <- struct{}{}:
	default: // the pending announcement answers this one too
	}
}

// renew makes what the swarm needs on the server, if it is not there. It reports, and
// forgets what it sent, if the server has lost it.
func (b *Board) renew(ctx context.Context) error {
	replicas := 1
	if b.nc.ConnectedClusterName() != "" {
		replicas = 3
	}
	made, err := b.streams(ctx, b.js, replicas)
	if err != nil {
		return err
	}
	_, err = b.js.Consumer(ctx, b.offersStream(), b.consumer(b.epoch))
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		_, err = b.js.CreateOrUpdateConsumer(ctx, b.offersStream(), jetstream.ConsumerConfig{
			Durable: b.consumer(b.epoch), FilterSubject: b.tasksSubject(b.epoch) + "*", AckPolicy: jetstream.AckExplicitPolicy,
			AckWait: max(b.cfg.Lease, time.Second), MaxAckPending: -1, InactiveThreshold: consumerLife,
		})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if made[1] != b.made[1] {
		for _, k := range b.kept {
			k.end() // what it sent is lost
		}
		clear(b.kept)
	}
	if b.made != [2]time.Time{} && b.made != made {
		b.lost = true
		go b.say("lost", "the NATS server lost what the swarm kept there: it is made again")
	}
	b.made = made
	return err
}

// keeps renews what the swarm needs on the server until ctx ends. If the server cannot be
// reached, it is tried again.
func (b *Board) keeps(ctx context.Context) {
	for ctx.Err() == nil {
		pause(ctx, announceEvery)
		one, cancel := context.WithTimeout(ctx, serverTime)
		_ = b.renew(one)
		cancel()
	}
}

func (b *Board) announce() {
	// If one is lost, the next one replaces it.
	_ = b.nc.Publish(b.openSubject(), encode(b.announcement()))
}

func (b *Board) announcement() announcement {
	return announcement{Swarm: b.cfg.Swarm, Epoch: b.epoch, Labels: b.cfg.Labels, Host: b.cfg.Host}
}

// Close closes the Board and removes its data from the server. All leases must have
// ended.
func (b *Board) Close(ctx context.Context) error {
	b.mu.Lock() // what begins under it begins before this, or not at all
	b.stop()
	b.mu.Unlock()
	for _, s := range b.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
	b.running.Wait()
	over := b.announcement()
	over.Over = true
	_ = b.nc.Publish(b.openSubject(), encode(over)) // if it is lost, workers notice after a lease
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	return b.clear(ctx, b.js, "")
}

// Keep returns the name under which workers find what write writes. what says what it is:
// only if the server has none for it, write is called. Keep returns when there is
// something to fetch; the rest is sent for as long as the Board is open, also through an
// interruption of the network. A caller that fails, or whose workers cannot fetch it all,
// asks again.
func (b *Board) Keep(ctx context.Context, what string, write func(context.Context, io.Writer) error) (name string, err error) {
	b.mu.Lock()
	if err := b.life.Err(); err != nil {
		b.mu.Unlock()
		return "", err
	}
	k := b.kept[what]
	if k == nil || time.Since(k.at) > partLife/2 {
		k = &kept{name: newFile(), at: time.Now(), begun: make(chan struct{})}
		var sending context.Context
		sending, k.end = context.WithCancel(b.life)
		b.kept[what] = k
		b.running.Go(func() { b.send(sending, what, k, write) })
	}
	b.mu.Unlock()
	select {
	case <-k.begun:
		return k.name, k.failed
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (b *Board) send(ctx context.Context, what string, k *kept, write func(context.Context, io.Writer) error) {
	defer k.end()
	f := b.files
	f.idle, f.moved = partLife, telling("sent", b.cfg.Say)
	begun := sync.OnceFunc(func() { close(k.begun) })
	err := f.put(ctx, k.name, func(w io.Writer) error { return write(ctx, w) }, begun)
	if err == nil {
		return
	}
	b.mu.Lock()
	if b.kept[what] == k {
		delete(b.kept, what)
	}
	b.mu.Unlock()
	select {
	case <-k.begun:
		if ctx.Err() == nil {
			b.say("send", "files could not be sent to the workers: %v", err)
		}
	default:
		k.failed = err
		begun()
	}
}

// sayEvery is how often the progress of a transfer is told.
const sayEvery = 5 * time.Second

// telling returns what tells a person how far a large transfer is.
func telling(verb string, say func(string)) func(done int64) {
	var mu sync.Mutex
	last := time.Now()
	return func(done int64) {
		mu.Lock()
		defer mu.Unlock()
		if time.Since(last) > sayEvery {
			last = time.Now()
			say(fmt.Sprintf("%s %d MB of files so far", verb, done>>20))
		}
	}
}

// Get returns a file that a worker stored, of at most max bytes. The caller closes it. An
// error matches ErrNetwork if the worker may have stored it.
func (b *Board) Get(ctx context.Context, name string, max int64) (io.ReadCloser, error) {
	f := b.files
	f.explain = func(err error) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if transient(err) || b.lost && errors.Is(err, jetstream.ErrMsgNotFound) {
			err = fmt.Errorf("%w: %w", ErrNetwork, err)
		}
		return err
	}
	return f.get(ctx, name, "", max)
}

// say reports a message to the person, at most saidMost times for each kind.
func (b *Board) say(kind, format string, args ...any) {
	b.mu.Lock()
	b.said[kind]++
	n := b.said[kind]
	b.mu.Unlock()
	if n <= saidMost {
		b.cfg.Say(fmt.Sprintf(format, args...))
	}
}

// Do offers a task and returns the result that a worker sends. It returns ErrLost if
// nothing was received from the worker for the duration of the lease.
func (b *Board) Do(ctx context.Context, o Offer) (Result, error) {
	lctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &lease{
		Offer: o, ctx: lctx, taken: make(chan struct{}), failed: make(chan error, 1), life: make(chan struct{}, 1), done: make(chan Result, 1),
		asked: map[uint64]*asked{}, grants: map[int]budget.Grant{},
	}
	b.mu.Lock()
	b.leases[o.Fence] = l
	b.mu.Unlock()
	r, err := b.wait(ctx, l)
	cancel()
	return r, errors.Join(err, b.end(ctx, l))
}

func (b *Board) wait(ctx context.Context, l *lease) (Result, error) {
	b.offer(ctx, l)
	again := time.NewTicker(offerAgain)
	defer again.Stop()
	for taken := false; !taken; {
		select {
		case <-l.taken:
			taken = true
		case err := <-l.failed:
			return Result{}, err
		case <-again.C: // a server that stopped may have lost the offer
			b.offer(ctx, l)
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
	}
	silent := time.NewTimer(b.cfg.Lease)
	defer silent.Stop()
	for {
		select {
		case r := <-l.done:
			return r, nil
		case <-l.life:
			silent.Reset(b.cfg.Lease)
		case <-silent.C:
			return Result{}, fmt.Errorf("%w: %s, for %s", ErrLost, l.worker, b.cfg.Lease)
		case <-ctx.Done():
			return Result{}, context.Cause(ctx)
		}
	}
}

// offer puts the lease's number into the queue. If the server cannot be reached, wait
// offers it again later.
func (b *Board) offer(ctx context.Context, l *lease) {
	one, cancel := context.WithTimeout(ctx, offerAgain)
	defer cancel()
	if _, err := b.js.Publish(one, fmt.Sprintf("%s%d", b.tasksSubject(b.epoch), l.Fence), nil); err != nil && ctx.Err() == nil {
		b.say("offer", "the NATS server does not take a task: %v; it is tried again", err)
	}
}

// end ends a lease: later messages for it are ignored. Money that is reserved for
// requests whose cost was not reported counts as spent.
func (b *Board) end(ctx context.Context, l *lease) error {
	b.mu.Lock()
	l.over = true
	delete(b.leases, l.Fence)
	left := l.grants
	l.grants = nil
	b.mu.Unlock()
	var errs []error
	for _, g := range left {
		errs = append(errs, b.cfg.Bank.Settle(context.WithoutCancel(ctx), g.ID, unknownCost(l, g)))
	}
	return errors.Join(errs...)
}
