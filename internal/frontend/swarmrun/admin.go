package swarmrun

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// At is where somebody looks after swarms: at a NATS server or, without one, on this machine.
type At struct {
	*setup.Environment
	Dir    string // on this machine: whose newest swarm is meant where none is named
	Server Server
}

// log returns the log of a swarm of this machine, nil if it is at a server.
func (a At) log(ctx context.Context, id string) (*Log, error) {
	switch {
	case a.Server.URL == "":
		return Find(ctx, a.Environment, a.Dir, id)
	case id == "":
		return nil, setup.Usage("name the swarm; see: pawl swarm list --nats URL")
	}
	return nil, nil
}

func on[T any](a At, do func(nc *nats.Conn) (T, error)) (T, error) {
	if a.Server.URL == "" {
		return *new(T), setup.Usage("--nats is missing: name the NATS server, such as --nats tls://host:4222")
	}
	nc, err := a.Server.connect(a.Env, nil)
	if err != nil {
		return *new(T), err
	}
	defer nc.Close()
	v, err := do(nc)
	if errors.Is(err, leases.ErrNoSwarm) {
		err = fault.NewConfiguration("see: pawl swarm list --nats URL; also of another --team", "%v", err)
	}
	return v, err
}

// Swarms returns the swarms that the server knows.
func (a At) Swarms(ctx context.Context) ([]leases.Running, error) {
	return on(a, func(nc *nats.Conn) ([]leases.Running, error) { return leases.Swarms(ctx, nc, a.Server.Team) })
}

// Machines returns the workers at the server.
func (a At) Machines(ctx context.Context) ([]leases.Machine, error) {
	return on(a, func(nc *nats.Conn) ([]leases.Machine, error) { return leases.Machines(ctx, nc, a.Server.Team) })
}

// Drain makes a machine's workers end after their tasks, and returns them.
func (a At) Drain(ctx context.Context, machine string) ([]leases.Machine, error) {
	all, err := on(a, func(nc *nats.Conn) ([]leases.Machine, error) { return leases.Drain(ctx, nc, a.Server.Team, machine) })
	if err == nil && len(all) == 0 {
		err = fault.NewConfiguration("see: pawl swarm machines --nats URL; also of another --team", "no worker of a machine %q answers", machine)
	}
	return all, err
}

// Status returns a swarm as it is now.
func (a At) Status(ctx context.Context, id string) (r team.Report, err error) {
	l, err := a.log(ctx, id)
	if err != nil {
		return r, err
	}
	if l != nil {
		return l.Report(), nil
	}
	return on(a, func(nc *nats.Conn) (r team.Report, err error) {
		raw, err := leases.Status(ctx, nc, a.Server.Team, id)
		if err == nil {
			err = json.Unmarshal(raw, &r)
		}
		return r, err
	})
}

// remoteOrder is an order to a swarm that another machine runs, or a task whose changes are
// to be shown.
type remoteOrder struct {
	event.TaskSteered
	Diff string `json:"diff,omitempty"`
}

// mostSent is how much of a task's changes is sent: servers take messages of a megabyte.
const mostSent = 256 << 10

func (a At) order(ctx context.Context, id string, o remoteOrder) (said string, err error) {
	return on(a, func(nc *nats.Conn) (string, error) {
		raw, err := json.Marshal(o)
		if err != nil {
			return "", err
		}
		return leases.Order(ctx, nc, a.Server.Team, id, raw)
	})
}

// Steer gives an order about one task of a swarm, in whichever process it runs. later is
// what the person must do so that it is obeyed, "" for nothing.
func (a At) Steer(ctx context.Context, id, task string, do event.TaskOrder, text string) (later string, err error) {
	o := event.TaskSteered{ID: rand.Text(), Task: task, Do: do, Text: text}
	l, err := a.log(ctx, id)
	switch {
	case err != nil:
		return "", err
	case l == nil:
		_, err = a.order(ctx, id, remoteOrder{TaskSteered: o})
		return "", err
	}
	runs, err := steer(ctx, a.Environment, l, o)
	if err == nil && !runs {
		later = "no process runs the swarm: " + resume(l.ID)
	}
	return later, err
}

// Diff returns what the newest result of a task changes.
func (a At) Diff(ctx context.Context, id, task string) (string, error) {
	l, err := a.log(ctx, id)
	switch {
	case err != nil:
		return "", err
	case l == nil:
		return a.order(ctx, id, remoteOrder{Diff: task})
	}
	return diff(ctx, a.Environment, l, task)
}

// Cancel ends a swarm, in whichever process it runs, and returns a message for the
// person. If keep is set, its trees on this machine are not removed.
func (a At) Cancel(ctx context.Context, id string, keep bool) (done string, err error) {
	l, err := a.log(ctx, id)
	if err != nil {
		return "", err
	}
	if l != nil {
		return cancel(ctx, a.Environment, l, keep)
	}
	return on(a, func(nc *nats.Conn) (string, error) {
		dead, err := leases.Cancel(ctx, nc, a.Server.Team, id)
		if dead {
			return fmt.Sprintf("no process that runs swarm %s answers: what it left on the NATS server is removed; its log and trees are on the machine where it ran: pawl swarm cancel %s", id, id), err
		}
		return fmt.Sprintf("swarm %s ends now; its result is not written", id), err
	})
}
