package leases

import (
	"context"
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
	Swarm   string // letters, digits, - and _
	Version string // of pawl: workers must have the same
	Labels  []string
	Lease   time.Duration // how long a worker may be silent
	Bank    Bank
	// Say is called with messages for a person: who joined, what was refused.
	Say func(string)
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
	cfg     Config
	nc      *nats.Conn
	js      jetstream.JetStream
	objects jetstream.ObjectStore
	epoch   string
	subs    []*nats.Subscription
	stop    context.CancelFunc
	running sync.WaitGroup
	// whoAsked, with a buffer of one, gets a value when a worker asks who has tasks.
	whoAsked chan struct{}

	mu      sync.Mutex // guards what follows
	members map[string]*member
	leases  map[int64]*lease
	said    map[string]int
}

// Offer is a task for any worker.
type Offer struct {
	Fence int64 // the number of the lease on this Board
	// Begin returns the task, when a worker takes the offer. If its error matches
	// ErrElsewhere or ErrAside, the offer goes to another worker. Any other error ends it.
	Begin func(machine string) (Job, error)
	Saw   func(swarm.Call, *swarm.Failure) (tell string)
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
	if !isName(cfg.Swarm) {
		return nil, fmt.Errorf("a swarm cannot be named %q", cfg.Swarm)
	}
	if cfg.Say == nil {
		cfg.Say = func(string) {}
	}
	b := &Board{whoAsked: make(chan struct{}, 1), cfg: cfg, nc: nc, members: map[string]*member{}, leases: map[int64]*lease{}, said: map[string]int{}}
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	b.epoch = fmt.Sprintf("%x", key.PublicKey().Bytes()[:8])
	if b.js, err = jetstream.New(nc); err != nil {
		return nil, err
	}
	if err := b.makeStreams(ctx); err != nil {
		return nil, fmt.Errorf("set up the swarm on the NATS server: %w", err)
	}
	ctx, b.stop = context.WithCancel(context.WithoutCancel(ctx))
	for subject, f := range map[string]nats.MsgHandler{
		joinSubject(cfg.Swarm): b.join, askSubject(cfg.Swarm): b.ask, whoSubject: func(*nats.Msg) { b.asked() },
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

func (b *Board) makeStreams(ctx context.Context) error {
	replicas := 1
	if b.nc.ConnectedClusterName() != "" {
		replicas = 3
	}
	// Each step is repeated on failure: its answer may be lost, or a cluster may be
	// choosing a leader. Every step may be done twice.
	for _, step := range []func(context.Context) error{
		b.removeStreams,
		func(ctx context.Context) error {
			_, err := b.js.CreateStream(ctx, jetstream.StreamConfig{
				Name: stream(b.cfg.Swarm), Description: "tasks of a swarm of pawl", Subjects: []string{taskSubject(b.cfg.Swarm) + ">"},
				Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, Replicas: replicas,
			})
			return err
		},
		func(ctx context.Context) error {
			_, err := b.js.CreateConsumer(ctx, stream(b.cfg.Swarm), jetstream.ConsumerConfig{
				Durable: consumer(b.epoch), AckPolicy: jetstream.AckExplicitPolicy, AckWait: max(b.cfg.Lease, time.Second), MaxAckPending: -1,
			})
			return err
		},
		func(ctx context.Context) (err error) {
			b.objects, err = b.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: stream(b.cfg.Swarm), Description: "bundles of a swarm of pawl", Replicas: replicas})
			return err
		},
	} {
		_, err := again(ctx, setUpTime, func() (struct{}, error) {
			one, cancel := context.WithTimeout(ctx, serverTime/2)
			defer cancel()
			return struct{}{}, step(one)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Board) removeStreams(ctx context.Context) error {
	err := b.js.DeleteStream(ctx, stream(b.cfg.Swarm))
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		err = nil
	}
	other := b.js.DeleteObjectStore(ctx, stream(b.cfg.Swarm))
	if errors.Is(other, jetstream.ErrBucketNotFound) || errors.Is(other, jetstream.ErrStreamNotFound) {
		other = nil
	}
	return errors.Join(err, other)
}

func (b *Board) announce() {
	// If one is lost, the next one replaces it.
	_ = b.nc.Publish(openSubject, encode(announcement{Swarm: b.cfg.Swarm, Epoch: b.epoch, Labels: b.cfg.Labels}))
}

// Close closes the Board and removes its data from the server. All leases must have
// ended.
func (b *Board) Close(ctx context.Context) error {
	b.stop()
	for _, s := range b.subs {
		_ = s.Unsubscribe() // the connection may be gone
	}
	b.running.Wait()
	ctx, cancel := context.WithTimeout(ctx, serverTime)
	defer cancel()
	return b.removeStreams(ctx)
}

// Put stores a file for the workers and returns its name.
func (b *Board) Put(ctx context.Context, path string) (string, error) {
	return again(ctx, b.cfg.Lease, func() (string, error) { return put(ctx, b.objects, path) })
}

// Get returns a file that a worker stored, of at most max bytes. The caller closes it.
func (b *Board) Get(ctx context.Context, name string, max int64) (io.ReadCloser, error) {
	return again(ctx, b.cfg.Lease, func() (io.ReadCloser, error) { return get(ctx, b.objects, name, max) })
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
	if _, err := b.js.Publish(one, fmt.Sprintf("%s%d", taskSubject(b.cfg.Swarm), l.Fence), nil); err != nil && ctx.Err() == nil {
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
