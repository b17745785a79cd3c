package leases

import (
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// WorkerConfig is the configuration of a worker.
type WorkerConfig struct {
	Name    string // for people; the Board makes it unique
	Team    string // "": Team
	Version string // of pawl
	Labels  []string
	Slots   int // how many tasks at once
	// Do runs a task. The end of ctx means that the lease has ended, and the result is
	// not needed any more.
	Do func(ctx context.Context, h *Held) Result
	// Mask masks secrets of this machine in sent data; nil masks nothing.
	Mask func([]byte) []byte
	// Trees, if set, returns what Taker.Trees is, at most MostTrees of them.
	Trees func(ctx context.Context) []string
	// Left, if set, is called with Held.Run after a run of a swarm has ended and no task
	// of it is in progress.
	Left func(run string)
	// Say is called with messages for a person.
	Say func(string)
	// Began, if set, is given a function that returns what the worker says about itself.
	Began func(info func() Machine)
}

// Times of a worker.
const (
	pullFor    = 2 * time.Second // one wait for an offer
	askFor     = 5 * time.Second // one wait for an answer
	askAgain   = 50 * time.Millisecond
	takeWithin = time.Minute
	lostAgain  = 500 * time.Millisecond // when a consumer that is not there is asked again
	elsewhere  = 300 * time.Millisecond // when an offer that is not for this worker comes again
	handBack   = 5 * time.Second        // how long a worker that was told to stop tries to say so
)

// Causes of the end of a worker's lease.
var (
	errSilence = fmt.Errorf("%w: the swarm was not reached while it lasted", ErrOver)
	errEnded   = errors.New("the worker ended")
	errAside   = errors.New("this machine gets no more tasks")

	errSwarmEnded = fmt.Errorf("%w: the swarm has ended, or its coordinator was started again", ErrOver)
)

// server is a worker for the swarms of a NATS server.
type server struct {
	team    string
	cfg     WorkerConfig
	began   time.Time
	works   atomic.Int64 // tasks
	done    atomic.Int64
	failed  atomic.Int64 // leases that ended otherwise
	drain   sync.Once
	drained chan struct{} // closed when this machine is to end
	nc      *nats.Conn
	js      jetstream.JetStream
	slots   chan struct{}
	n       atomic.Uint64 // numbers all questions

	mu    sync.Mutex
	known map[string]bool    // by epoch: those that were joined, or refused
	live  map[string]*joined // by swarm: the newest run
	rests time.Duration      // the length of the newest rest
	until time.Time          // no task is taken before this time
	here  sync.WaitGroup
}

// Serve works on the tasks of all swarms that are announced on the server, until ctx
// ends. It returns when no task is in progress.
func Serve(ctx context.Context, nc *nats.Conn, cfg WorkerConfig) error {
	w := &server{team: teamOf(cfg.Team), began: time.Now(), cfg: cfg, nc: nc, slots: make(chan struct{}, max(1, cfg.Slots)), known: map[string]bool{}, live: map[string]*joined{}, drained: make(chan struct{})}
	if w.cfg.Mask == nil {
		w.cfg.Mask = func(b []byte) []byte { return b }
	}
	if w.cfg.Say == nil {
		w.cfg.Say = func(string) {}
	}
	var err error
	if w.js, err = jetstream.New(nc); err != nil {
		return err
	}
	open := make(chan *nats.Msg, 64)
	team := names{team: w.team}
	sub, err := nc.ChanSubscribe(team.openSubject(), open)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }()
	told, err := nc.Subscribe(team.workersSubject(), w.asked)
	if err != nil {
		return err
	}
	defer func() { _ = told.Unsubscribe() }()
	defer w.here.Wait()
	if cfg.Began != nil {
		cfg.Began(w.info)
	}
	_ = nc.Publish(team.whoSubject(), nil) // if this is lost, the next announcement comes soon
	for {
		select {
		case m := <-open:
			w.hear(ctx, m.Data)
		case <-w.drained:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// hear joins a swarm that is not known yet.
func (w *server) hear(ctx context.Context, data []byte) {
	var a announcement
	if json.Unmarshal(data, &a) != nil || !isName(a.Swarm) || !covers(w.cfg.Labels, a.Labels) {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if j := w.live[a.Swarm]; j != nil && j.epoch == a.Epoch {
		if a.Over {
			j.end(errSwarmEnded)
		}
		j.heard()
		return
	}
	if w.known[a.Epoch] || a.Over {
		return
	}
	w.known[a.Epoch] = true
	w.here.Go(func() {
		again, err := w.serve(ctx, a.Swarm)
		if err != nil && ctx.Err() == nil {
			w.cfg.Say(fmt.Sprintf("swarm %s: %v", a.Swarm, err))
		}
		if again {
			w.mu.Lock()
			delete(w.known, a.Epoch)
			w.mu.Unlock()
		}
	})
}

// joined is a worker in one swarm.
type joined struct {
	*server
	names
	epoch string
	id    string
	key   []byte
	lease time.Duration
	alive atomic.Int64 // when something of this run was heard last
	jobs  sync.WaitGroup
	end   context.CancelCauseFunc
}

func (j *joined) heard() { j.alive.Store(time.Now().UnixNano()) }

// silent reports whether nothing was heard of the run for so long that its coordinator
// does not run any more.
func (j *joined) silent() bool {
	return time.Since(time.Unix(0, j.alive.Load())) > max(j.lease, 3*announceEvery)
}

func (j *joined) run() string { return j.swarm + "-" + j.epoch }

// serve works for one run of a swarm until the run ends. again means that the swarm may
// be joined again after a later announcement.
func (w *server) serve(ctx context.Context, name string) (again bool, err error) {
	j, err := w.join(ctx, name)
	if err != nil {
		return !errors.Is(err, ErrRefused), err
	}
	offers, err := w.js.Consumer(ctx, j.offersStream(), j.consumer(j.epoch))
	if err != nil {
		return true, err
	}
	w.cfg.Say(fmt.Sprintf("swarm %s: joined as %s", name, j.id))
	ctx, j.end = context.WithCancelCause(ctx)
	w.replace(j)
	defer func() {
		if w.drains() {
			j.jobs.Wait()
		}
		j.end(errSwarmEnded)
		j.jobs.Wait()
		w.mu.Lock()
		if w.live[name] == j {
			delete(w.live, name)
		}
		w.mu.Unlock()
		if w.cfg.Left != nil {
			w.cfg.Left(j.run())
		}
	}()
	for {
		if j.silent() {
			w.cfg.Say(fmt.Sprintf("swarm %s: its coordinator was silent for %s; the worker waits for it", name, max(j.lease, 3*announceEvery)))
			return true, nil
		}
		select {
		case w.slots <- struct{}{}:
		case <-w.drained:
			return false, nil
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), errSwarmEnded) {
				w.cfg.Say(fmt.Sprintf("swarm %s: it has ended", name))
			}
			return false, nil
		}
		w.rested(ctx)
		pull, cancel := context.WithTimeout(ctx, pullFor)
		m, err := offers.Next(jetstream.FetchContext(pull))
		cancel()
		switch {
		case err == nil && w.drains():
			_ = m.Nak() // for another one
		case err == nil:
			j.jobs.Go(func() {
				defer func() { <-w.slots }()
				j.offer(ctx, m)
			})
			continue
		case errors.Is(err, nats.ErrTimeout), errors.Is(err, jetstream.ErrNoMessages), errors.Is(err, context.DeadlineExceeded), ctx.Err() != nil:
		case errors.Is(err, nats.ErrConnectionClosed):
			<-w.slots
			return false, err
		default: // its Board makes it again, or has ended
			<-w.slots
			pause(ctx, lostAgain)
			continue
		}
		<-w.slots
	}
}

// replace ends the work for an earlier run of the same swarm: nobody needs it, and it
// occupies slots.
func (w *server) replace(j *joined) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.live[j.swarm]; old != nil && old.epoch != j.epoch {
		old.end(errSwarmEnded)
	}
	w.live[j.swarm] = j
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

func (w *server) join(ctx context.Context, name string) (*joined, error) {
	own, err := newKey()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	m, err := w.nc.RequestWithContext(ctx, names{w.team, name}.joinSubject(), encode(joinAsk{
		Protocol: Protocol, Version: w.cfg.Version, Name: w.cfg.Name, Labels: w.cfg.Labels, Public: own.PublicKey().Bytes(),
	}))
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	var a joinAnswer
	if err := json.Unmarshal(m.Data, &a); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	if a.Refused != "" {
		return nil, fmt.Errorf("this worker was %w: %s", ErrRefused, a.Refused)
	}
	key, err := agree(own, a.Public, a.Worker)
	if err != nil || a.Lease <= 0 || !isName(a.Epoch) {
		return nil, errors.Join(errors.New("join: the answer is not valid"), err)
	}
	j := &joined{server: w, names: names{w.team, name}, epoch: a.Epoch, id: a.Worker, key: key, lease: a.Lease}
	j.heard()
	return j, nil
}

// offer takes an offer, does its task and sends the result.
func (j *joined) offer(ctx context.Context, m jetstream.Msg) {
	fence, err := strconv.ParseInt(strings.TrimPrefix(m.Subject(), j.tasksSubject(j.epoch)), 10, 64)
	if err != nil {
		_ = m.Term() // no worker can do it
		return
	}
	h := &Held{joined: j, Fence: fence}
	taking, cancel := context.WithTimeout(ctx, takeWithin)
	began := time.Now()
	var trees []string
	if j.cfg.Trees != nil {
		trees = j.cfg.Trees(taking)
	}
	body, err := h.ask(taking, kindTake, encode(trees))
	cancel()
	if err == nil {
		err = json.Unmarshal(body, &h.Job)
	}
	switch {
	case err == nil, errors.Is(err, ErrOver):
	case errors.Is(err, ErrElsewhere):
		_ = m.NakWithDelay(elsewhere)
		return
	case errors.Is(err, ErrAside):
		_ = m.Nak()
		j.cfg.Say(fmt.Sprintf("swarm %s: %v", j.swarm, err))
		j.end(errAside)
		return
	default:
		_ = m.Nak() // another worker may reach the Board
		return
	}
	// An offer that is not acknowledged goes to another worker, which the Board then
	// refuses.
	_ = m.Ack()
	if err == nil {
		j.work(ctx, h, began)
	}
}

func (j *joined) work(ctx context.Context, h *Held, began time.Time) {
	task, end := context.WithCancelCause(ctx)
	defer end(nil)
	j.works.Add(1)
	defer j.works.Add(-1)
	var beating sync.WaitGroup
	beating.Go(func() { j.beat(task, h, began, end) })
	defer beating.Wait()
	defer end(errEnded)
	r := j.cfg.Do(task, h)
	why, telling := context.Cause(task), task
	if why != nil && !errors.Is(why, ErrOver) {
		// This worker was told to stop: the task goes to another one at once.
		if r.Error != "" {
			r = Result{Error: "the worker was told to stop", Fault: event.FaultDrained, Session: r.Session, Model: r.Model, USD: r.USD, Tokens: r.Tokens}
		}
		var cancel context.CancelFunc
		telling, cancel = context.WithTimeout(context.WithoutCancel(task), handBack)
		defer cancel()
	}
	if telling.Err() == nil {
		j.rest(h, r)
		if _, err := h.ask(telling, kindDone, encode(r)); err == nil {
			if r.Error == "" {
				j.done.Add(1)
			} else {
				j.failed.Add(1)
			}
			j.cfg.Say(fmt.Sprintf("swarm %s: sent the result of %s", j.swarm, h.Job.Task.ID))
			return
		}
	}
	j.cfg.Say(fmt.Sprintf("swarm %s: the result of %s is not wanted: %v", j.swarm, h.Job.Task.ID, cmp.Or(why, context.Cause(telling))))
}

// Rests of a worker whose machine is unable to work: each is twice as long as the one
// before.
const (
	restLeast = time.Second
	restMost  = 15 * time.Second
)

// rest makes the worker pause before its next task if its machine was unable to work on
// this one. Otherwise it would fail tasks that other workers could do.
func (w *server) rest(h *Held, r Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Fault != event.FaultMachine && r.Fault != event.FaultNetwork {
		w.rests = 0
		return
	}
	w.rests = min(max(2*w.rests, restLeast), restMost)
	w.until = time.Now().Add(w.rests)
	w.cfg.Say(fmt.Sprintf("swarm %s: this machine could not do %s, and takes nothing for %s: %s", h.swarm, h.Job.Task.ID, w.rests, r.Error))
}

// rested waits until the worker may take a task.
func (w *server) rested(ctx context.Context) {
	w.mu.Lock()
	left := time.Until(w.until)
	w.mu.Unlock()
	if left > 0 {
		pause(ctx, left)
	}
}

// beat sends signs of life. It ends the work if the Board was not reached for the
// duration of the lease: then another worker has the task.
func (j *joined) beat(ctx context.Context, h *Held, began time.Time, end context.CancelCauseFunc) {
	asked := time.Now()
	for reached := began; ; {
		// Counted from the question: its answer may come late over a narrow connection.
		pause(ctx, j.lease/3-time.Since(asked))
		if ctx.Err() != nil {
			return
		}
		asked = time.Now()
		one, cancel := context.WithDeadline(ctx, reached.Add(j.lease))
		_, err := h.ask(one, kindBeat, nil)
		cancel()
		switch {
		case err == nil:
			reached = asked
		case errors.Is(err, ErrOver):
			end(err)
			return
		case ctx.Err() == nil && time.Since(reached) >= j.lease:
			end(errSilence)
			return
		}
	}
}

// ask sends a question to the Board until it answers, and returns the answer. It returns
// ErrOver if the lease has ended.
func (h *Held) ask(ctx context.Context, k kind, body json.RawMessage) (json.RawMessage, error) {
	q := question{Epoch: h.epoch, Worker: h.id, Fence: h.Fence, N: h.n.Add(1), Kind: k, Body: h.cfg.Mask(body)}
	q.MAC = q.mac(h.key)
	data := encode(q)
	if most := h.nc.MaxPayload(); most > 0 && int64(len(data)) > most {
		return nil, fmt.Errorf("a message of %d bytes is over the %d that the NATS server takes", len(data), most)
	}
	for began := time.Now(); ; {
		one, cancel := context.WithTimeout(ctx, askFor)
		m, err := h.nc.RequestWithContext(one, h.askSubject(), data)
		cancel()
		var a answer
		if err == nil && json.Unmarshal(m.Data, &a) == nil && hmac.Equal(a.MAC, a.mac(h.key, &q)) {
			h.heard()
			switch a.State {
			case stateDone:
				return a.Body, nil
			case stateOver:
				return nil, fmt.Errorf("%w: %s", ErrOver, a.Why)
			case stateFail:
				return nil, errors.New(a.Why)
			case stateElsewhere:
				return nil, ErrElsewhere
			case stateAside:
				return nil, fmt.Errorf("%w: %s", ErrAside, a.Why)
			}
			continue // the Board needs more time
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: the swarm did not answer: %w", ErrNetwork, context.Cause(ctx))
		}
		switch {
		case errors.Is(err, nats.ErrConnectionClosed):
			return nil, err
		case k == kindTake && errors.Is(err, nats.ErrNoResponders) && time.Since(began) > askFor:
			return nil, err // of a coordinator that died: the slot is for others
		}
		pause(ctx, askAgain)
	}
}
