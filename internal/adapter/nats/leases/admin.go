package leases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// This file is for people who look after the swarms and workers of a server.

// ErrNoSwarm is matched by the error for a swarm of which a server knows nothing.
var ErrNoSwarm = errors.New("the NATS server has no such swarm")

// Running is a swarm that a server knows.
type Running struct {
	Swarm  string   `json:"swarm"`
	Host   string   `json:"host,omitempty"`
	Labels []string `json:"labels,omitempty"`
	Dead   bool     `json:"dead,omitempty"` // no coordinator answers; this is what it left
}

// Machine is what a worker's process says about itself.
type Machine struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Labels  []string  `json:"labels,omitempty"`
	Slots   int       `json:"slots"`
	Works   int       `json:"works"` // tasks that it works on
	Done    int       `json:"done"`
	Failed  int       `json:"failed"`
	Swarms  []string  `json:"swarms,omitempty"`
	Since   time.Time `json:"since"`
	Drains  bool      `json:"drains,omitempty"` // it takes no more, and ends after its tasks
}

// draining asks the workers of a machine to end after their tasks.
type draining struct {
	Drain string `json:"drain"` // the machine's name
}

// asked answers who asks for the workers; those of a machine that is drained begin to end.
func (w *server) asked(m *nats.Msg) {
	var d draining
	if json.Unmarshal(m.Data, &d) == nil && d.Drain == w.cfg.Name && d.Drain != "" {
		w.drain.Do(func() {
			w.cfg.Say("this machine is drained: its tasks are finished, and no more are taken")
			close(w.drained)
		})
	}
	_ = m.Respond(encode(w.info()))
}

func (w *server) drains() bool {
	select {
	case <-w.drained:
		return true
	default:
		return false
	}
}

// Drain makes the workers of a machine finish their tasks, take no new ones and end. It returns
// what they say about themselves; none means that there is no such machine.
func Drain(ctx context.Context, nc *nats.Conn, team, machine string) (out []Machine, err error) {
	all, err := machines(ctx, nc, team, encode(draining{machine}))
	for _, m := range all {
		if m.Name == machine && m.Drains {
			out = append(out, m)
		}
	}
	return out, err
}

// info returns what this worker tells about itself.
func (w *server) info() Machine {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := Machine{
		Name: w.cfg.Name, Version: w.cfg.Version, Labels: w.cfg.Labels, Slots: cap(w.slots),
		Works: int(w.works.Load()), Done: int(w.done.Load()), Failed: int(w.failed.Load()), Since: w.began, Drains: w.drains(),
	}
	for name := range w.live {
		m.Swarms = append(m.Swarms, name)
	}
	slices.Sort(m.Swarms)
	return m
}

// order is what somebody asks of a Board.
type order struct {
	Do   string          `json:"do"` // "status", "cancel" or "order"
	Body json.RawMessage `json:"body,omitempty"`
}

// ordered is the answer to an order.
type ordered struct {
	Refused string `json:"refused,omitempty"`
	Said    string `json:"said,omitempty"`
}

// admin answers those who look after swarms.
func (b *Board) admin(m *nats.Msg) {
	var o order
	if json.Unmarshal(m.Data, &o) != nil {
		return
	}
	switch {
	case o.Do == "status" && b.cfg.Status != nil:
		go func() { _ = m.Respond(b.cfg.Status()) }()
	case o.Do == "order" && b.cfg.Order != nil:
		go func() {
			ctx, cancel := context.WithTimeout(context.Background(), askFor)
			defer cancel()
			said, err := b.cfg.Order(ctx, o.Body)
			out := ordered{Said: said}
			if err != nil {
				if ctx.Err() != nil {
					return // it is asked again
				}
				out.Refused = err.Error()
			}
			_ = m.Respond(encode(out))
		}()
	case o.Do == "cancel" && b.cfg.Cancel != nil:
		b.cfg.Say("the swarm was cancelled over the NATS server")
		b.cfg.Cancel()
		_ = m.Respond([]byte("{}"))
	}
}

// hear is how long answers of several others are waited for.
const hear = time.Second

// gather returns the messages that come to a subject within a second of asking.
func gather(ctx context.Context, nc *nats.Conn, listen, ask string, text []byte) ([]*nats.Msg, error) {
	in := make(chan *nats.Msg, 10_000)
	sub, err := nc.ChanSubscribe(listen, in)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }()
	if err := errors.Join(nc.PublishRequest(ask, listen, text), nc.FlushTimeout(serverTime)); err != nil {
		return nil, err
	}
	var out []*nats.Msg
	for over := time.After(hear); ; {
		select {
		case m := <-in:
			out = append(out, m)
		case <-over:
			return out, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Swarms returns the swarms of a team that a server knows.
func Swarms(ctx context.Context, nc *nats.Conn, team string) ([]Running, error) {
	n := names{team: teamOf(team)}
	all, err := gather(ctx, nc, n.openSubject(), n.whoSubject(), nil)
	if err != nil {
		return nil, err
	}
	known := map[string]Running{}
	for _, m := range all {
		var a announcement
		if json.Unmarshal(m.Data, &a) == nil && isName(a.Swarm) && !a.Over {
			known[a.Swarm] = Running{Swarm: a.Swarm, Host: a.Host, Labels: a.Labels}
		}
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	left, err := consumersOn(ctx, js, n.team)
	if err != nil {
		return nil, err
	}
	for _, c := range left {
		if _, runs := known[c.swarm]; !runs {
			known[c.swarm] = Running{Swarm: c.swarm, Dead: true}
		}
	}
	out := make([]Running, 0, len(known))
	for _, r := range known {
		out = append(out, r)
	}
	sorting.By(out, func(a, b Running) int { return strings.Compare(a.Swarm, b.Swarm) })
	return out, nil
}

type run struct{ swarm, epoch string }

// consumersOn returns the runs of a team's swarms that have a consumer on the server.
func consumersOn(ctx context.Context, js jetstream.JetStream, team string) (all []run, err error) {
	s, err := js.Stream(ctx, names{team: team}.offersStream())
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	list := s.ConsumerNames(ctx)
	for name := range list.Name() {
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			all = append(all, run{name[:i], name[i+1:]})
		}
	}
	return all, list.Err()
}

// Machines returns what the workers of a team say about themselves.
func Machines(ctx context.Context, nc *nats.Conn, team string) ([]Machine, error) {
	return machines(ctx, nc, team, nil)
}

func machines(ctx context.Context, nc *nats.Conn, team string, text []byte) ([]Machine, error) {
	all, err := gather(ctx, nc, nc.NewInbox(), names{team: teamOf(team)}.workersSubject(), text)
	if err != nil {
		return nil, err
	}
	var out []Machine
	for _, m := range all {
		var one Machine
		if json.Unmarshal(m.Data, &one) == nil && one.Name != "" {
			out = append(out, one)
		}
	}
	sorting.By(out, func(a, b Machine) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Status returns a swarm as its coordinator sees it, as JSON.
func Status(ctx context.Context, nc *nats.Conn, team, swarm string) (json.RawMessage, error) {
	return tell(ctx, nc, team, swarm, order{Do: "status"})
}

// Order gives an order about one task to a swarm, and returns what it says. It is repeated
// until it is answered: its coordinator may be busy.
func Order(ctx context.Context, nc *nats.Conn, team, swarm string, body json.RawMessage) (said string, err error) {
	for try := 1; ; try++ {
		raw, err := tell(ctx, nc, team, swarm, order{"order", body})
		if err != nil && ctx.Err() == nil && try < orderTries && !errors.Is(err, ErrNoSwarm) {
			continue
		}
		var out ordered
		if err == nil {
			err = json.Unmarshal(raw, &out)
		}
		if err == nil && out.Refused != "" {
			err = fmt.Errorf("%w: %s", ErrRefused, out.Refused)
		}
		return out.Said, err
	}
}

// orderTries is how often an order is given, askFor each.
const orderTries = 6

func tell(ctx context.Context, nc *nats.Conn, team, swarm string, what order) (json.RawMessage, error) {
	if !isName(swarm) {
		return nil, fmt.Errorf("%w: %q", ErrNoSwarm, swarm)
	}
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	m, err := nc.RequestWithContext(ctx, names{teamOf(team), swarm}.adminSubject(), encode(what))
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("%w: no coordinator of %s answers", ErrNoSwarm, swarm)
	}
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

// Cancel ends a swarm. If no coordinator of it answers, what it left on the server is
// removed, and dead is true.
func Cancel(ctx context.Context, nc *nats.Conn, team, swarm string) (dead bool, err error) {
	_, err = tell(ctx, nc, team, swarm, order{Do: "cancel"})
	if !errors.Is(err, ErrNoSwarm) || !isName(swarm) {
		return false, err
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return false, err
	}
	return true, names{teamOf(team), swarm}.clear(ctx, js, "")
}
