package swarmrun

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/adapter/metrics"
	"github.com/pawl-agent/pawl/internal/adapter/nats/dial"
	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
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
	Team   string   // whose swarms and workers meet there; "": leases.Team
	Labels []string // of a worker's machine, or required by a swarm
}

func (s Server) connect(env func(string) string, say func(string)) (*nats.Conn, error) {
	o := s.Options
	o.Token, o.Say, o.Inbox = env(natsToken), say, leases.Inbox(s.Team)
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
	host, _ := os.Hostname()
	board, err := leases.Open(ctx, nc, leases.Config{
		Team: r.Server.Team, Swarm: r.log.ID, Version: r.Version, Labels: r.Server.Labels, Lease: cmp.Or(r.Lease, natsLease), Bank: r.here.bank, Say: r.say, Host: host,
		Status: func() (out json.RawMessage) {
			var report team.Report
			r.View(func() { report = r.log.Report() })
			out, _ = json.Marshal(report) // it has only plain fields
			return out
		},
		Order: func(ctx context.Context, raw json.RawMessage) (string, error) {
			var o remoteOrder
			if err := json.Unmarshal(raw, &o); err != nil {
				return "", err
			}
			if o.Diff == "" {
				return "", r.order(ctx, o.TaskSteered)
			}
			text, err := r.diff(ctx, o.Diff)
			if len(text) > mostSent {
				text = strings.ToValidUTF8(text[:mostSent], "") + "\n[the rest is too long to be sent: pawl swarm diff, on the machine that runs the swarm]\n"
			}
			return text, err
		},
		Cancel: func() {
			if err := requestCancel(r.home, false); err != nil {
				r.say("the swarm could not be cancelled: " + err.Error())
			}
		},
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
	Health  string // the address where health and metrics are served; "": nowhere
	Name    string // in reports; "": the host name
}

// Serve does tasks until ctx ends.
func (w Worker) Serve(ctx context.Context) (err error) {
	home, remove, err := makeHome(w.Env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	kept, release, err := keptFolder(home, w.Server.URL, w.Server.Team, w.Now())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	git, free, err := w.confine(home, kept)
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
	var machine atomic.Pointer[func() leases.Machine]
	if w.Health != "" {
		health, err := metrics.ServeHealth(w.Health, func() error { return workerReady(nc, machine.Load()) }, func() []metrics.Sample { return workerSamples(w.Version, nc, machine.Load()) })
		if err != nil {
			return err
		}
		defer health.Close()
		say("health and metrics: http://" + health.Addr())
	}
	secret := secretsHere(w.Environment)
	hand := &machines.Worker{
		Home: filepath.Join(home, "swarms"), Kept: kept, Git: git,
		Work: func(ctx context.Context, j team.Job, h *leases.Held) (team.Done, error) {
			say(fmt.Sprintf("swarm %s: working on %s", h.Swarm(), j.Task.ID))
			t := &worker{Environment: w.Environment, opt: w.Options, swarm: h.Swarm(), bank: h, held: h, say: say}
			t.opt.Model = cmp.Or(t.opt.Model, h.Job.Model)
			if err := t.receive(j.Dir); err != nil {
				return team.Done{}, err
			}
			return t.work(ctx, j)
		},
		Check:  (&worker{Environment: w.Environment, opt: w.Options, swarm: "worker"}).check,
		Secret: secret.in,
	}
	say(fmt.Sprintf("pawl %s works for the swarms at this server: %d tasks at once; Ctrl+C ends it", w.Version, w.Slots))
	say("files of swarms stay in " + kept + ", so that they are sent once")
	return leases.Serve(ctx, nc, leases.WorkerConfig{
		Name: w.Name, Team: w.Server.Team, Version: w.Version, Labels: labelsHere(w.Server.Labels), Slots: w.Slots, Do: hand.Do, Trees: hand.Trees, Left: hand.Left, Mask: secret.mask, Say: say,
		Began: func(info func() leases.Machine) { machine.Store(&info) },
	})
}

// confine makes sure that what other machines send runs confined, unless the person
// chose otherwise, and returns the git that reads it, and keeps some of it. free ends the confinement.
func (w *Worker) confine(home, kept string) (git *workspace.Git, free func(), err error) {
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
	by, err := w.Confine(&w.Options, conf, paths, beside, false)
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
	return git.Writing(stores, kept), free, nil
}
