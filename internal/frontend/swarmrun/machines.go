package swarmrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/nats/dial"
	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/team/machines"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// This file connects the machines of a swarm by a NATS server: the coordinator, and a
// machine whose workers do other swarms' tasks.

const (
	natsLease = 30 * time.Second
	// natsToken is the variable with a token: on a command line other users would see
	// it.
	natsToken = "PAWL_NATS_TOKEN"
)

// Server is the NATS server that connects machines.
type Server struct {
	dial.Options
	Labels []string // of a worker's machine, or required by a swarm
}

func (s Server) connect(env func(string) string, say func(string)) (*nats.Conn, error) {
	o := s.Options
	o.Token, o.Say = env(natsToken), say
	return dial.Connect(o)
}

// otherMachines returns workers that have the tasks done through the server; nil if the
// person named no server. closeBoard ends that.
func (r *run) otherMachines(ctx context.Context) (_ team.Workers, closeBoard func(), err error) {
	if r.Server.URL == "" {
		return nil, func() {}, nil
	}
	nc, err := r.Server.connect(r.Env, r.say)
	if err != nil {
		return nil, nil, err
	}
	board, err := leases.Open(ctx, nc, leases.Config{
		Swarm: r.log.ID, Version: r.Version, Labels: r.Server.Labels, Lease: cmp.Or(r.Lease, natsLease), Bank: r.here.bank, Say: r.say,
	})
	if err != nil {
		nc.Close()
		if ctx.Err() == nil { // not ended by a person
			err = fault.NewConfiguration("start it with JetStream (-js), and most servers of its cluster, then: pawl swarm resume", "%v", err)
		}
		return nil, nil, err
	}
	remote := &machines.RemoteWorkers{Board: board, Trees: r.trees, Base: r.log.Base, Model: r.Options.Model, Agent: r.here.send}
	if !r.TrustWorkers {
		remote.Check = r.here.check
	}
	r.say(fmt.Sprintf("workers join with: pawl worker --nats URL   (pawl %s)", r.Version))
	return remote, func() {
		if err := board.Close(context.WithoutCancel(ctx)); err != nil {
			r.say("what the swarm kept on the NATS server could not be removed: " + err.Error())
		}
		nc.Close()
	}, nil
}

// Worker are the choices for the workers of this machine, which do tasks for swarms of
// other machines, with this machine's models, keys, rights and sandbox.
type Worker struct {
	*setup.Environment
	Options setup.Options // of each worker's session
	Server  Server
	Slots   int    // tasks at once
	Name    string // in reports; "": the host name
}

// Serve does tasks until ctx ends.
func (w Worker) Serve(ctx context.Context) (err error) {
	home, remove, err := makeHome(w.Env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	git, free, err := w.confine(home)
	if err != nil {
		return err
	}
	defer free()
	say := func(line string) { fmt.Fprintln(w.Err, plain.Line(line)) }
	nc, err := w.Server.connect(w.Env, say)
	if err != nil {
		return err
	}
	defer nc.Close()
	if w.Name == "" {
		w.Name, _ = os.Hostname()
	}
	secret := secretsHere(w.Environment)
	hand := &machines.Worker{
		Home: filepath.Join(home, "swarms"), Git: git,
		Work: func(ctx context.Context, j team.Job, h *leases.Held) (team.Done, error) {
			say(fmt.Sprintf("swarm %s: working on %s", h.Swarm(), j.Task.ID))
			t := &worker{Environment: w.Environment, opt: w.Options, swarm: h.Swarm(), bank: h, held: h, say: say}
			t.opt.Model = cmp.Or(t.opt.Model, h.Job.Model)
			if err := t.receive(j.Dir); err != nil {
				return team.Done{}, err
			}
			return t.work(ctx, j)
		},
		Check: func(ctx context.Context, dir, line string) event.TaskCheck {
			return (&worker{Environment: w.Environment, opt: w.Options, swarm: "worker"}).check(ctx, dir, line)
		},
		Secret: secret.in,
	}
	say(fmt.Sprintf("pawl %s works for the swarms at this server: %d tasks at once; Ctrl+C ends it", w.Version, w.Slots))
	return leases.Serve(ctx, nc, leases.WorkerConfig{
		Name: w.Name, Version: w.Version, Labels: w.Server.Labels, Slots: w.Slots, Do: hand.Do, Left: hand.Left, Mask: secret.mask, Say: say,
	})
}

// confine makes sure that what other machines send runs confined, unless the person
// chose otherwise, and returns the git that reads it. free ends the confinement.
func (w *Worker) confine(home string) (git *workspace.Git, free func(), err error) {
	conf, paths, err := w.SettingsIn(home)
	if err != nil {
		return nil, nil, err
	}
	if w.Options.Sandbox == "" && conf.User.Sandbox == "" {
		w.Options.Sandbox = "workspace"
	}
	// A folder beside the trees: a program that is confined to a folder must not touch
	// a .git in it, but git has to.
	beside := filepath.Join(home, ".beside")
	if err := os.Mkdir(beside, 0o700); err != nil {
		return nil, nil, err
	}
	by, _, err := w.Confine(&w.Options, conf, paths, beside, false)
	if err != nil {
		return nil, nil, fault.NewConfiguration("see: pawl doctor; --sandbox off lets tasks of other machines do all that you may", "this machine cannot confine commands, and a worker runs what other machines send: %v", err)
	}
	// The folder of all swarms: the confinement of git holds this folder open, while
	// the folder of one swarm is removed and created again if its coordinator dies and
	// comes back.
	stores := filepath.Join(home, "swarms")
	if err := os.Mkdir(stores, 0o700); err != nil {
		return nil, nil, err
	}
	starter, free := by.Starter()
	git = &workspace.Git{Starter: starter}
	if !by.Has.Workspace {
		git.Confine = process.Free
	}
	return git.Writing(stores), free, nil
}
