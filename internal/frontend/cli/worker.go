package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/team/machines"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// workerFlags are those of pawl worker.
type workerFlags struct {
	swarmFlags
	slots int
	name  string
}

func workerCommand(a *App) *cobra.Command {
	f := &workerFlags{}
	c := &cobra.Command{
		Use: "worker --nats URL", Short: "Work on the tasks of swarms of other machines", Args: cobra.NoArgs,
		Long: `Work on the tasks of swarms that run with "pawl swarm run --nats URL", until it
is stopped. Models, keys, permissions and the sandbox are this machine's own; no
key leaves it. Who may use the NATS server decides what runs here: see
doc/swarm.md.`,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case f.nats.URL == "":
				return usageError("--nats is missing: say which NATS server, such as --nats tls://host:4222")
			case f.slots < 1 || f.slots > 64:
				return usageError("--slots is %d: give 1 to 64", f.slots)
			}
			if err := checkLabels(f.nats.labels); err != nil {
				return err
			}
			return runWorker(c.Context(), a, f)
		},
	}
	f.nats.add(c)
	fs := c.Flags()
	fs.IntVar(&f.slots, "slots", 1, "how many tasks at once, 1 to 64")
	fs.StringSliceVar(&f.nats.labels, "labels", nil, "what this machine has, such as linux,gpu: swarms may ask for it")
	fs.StringVar(&f.name, "name", "", "how this worker is called in reports (default: the host's name)")
	fs.StringVarP(&f.Model, "model", "m", "", "the model of tasks that name none")
	fs.StringVar(&f.Effort, "effort", "", "reasoning effort: low, medium or high")
	fs.StringVar(&f.Mode, "permission-mode", "", "plan, accept-edits, auto or yolo; ask denies what it would ask about")
	fs.StringVar(&f.Sandbox, "sandbox", "", "how commands are confined: workspace (the default here: nothing runs where that cannot be), read-only or off (see doc/sandbox.md)")
	fs.StringArrayVar(&f.Allow, "allow", nil, "allow what matches, such as 'bash(go generate *)' (repeatable)")
	fs.StringArrayVar(&f.Deny, "deny", nil, "deny what matches (repeatable)")
	fs.SetNormalizeFunc(othersWords)
	return c
}

func checkLabels(labels []string) error {
	for _, l := range labels {
		if l == "" || len(l) > 40 || strings.Trim(strings.ToLower(l), "abcdefghijklmnopqrstuvwxyz0123456789._-") != "" {
			return usageError("--labels: %q is no label: use letters, digits, dots, - and _", l)
		}
	}
	return nil
}

func runWorker(ctx context.Context, a *App, f *workerFlags) (err error) {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	home, err := workerHome(a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	git, free, err := confinedWorker(a, f, home)
	if err != nil {
		return err
	}
	defer free()
	say := func(line string) { fmt.Fprintln(a.Err, plain.Line(line)) }
	nc, err := connectNATS(a.Env, &f.nats, say)
	if err != nil {
		return err
	}
	defer nc.Close()
	if f.name == "" {
		f.name, _ = os.Hostname()
	}
	secret := a.heldHere()
	hand := &machines.Worker{
		Home: filepath.Join(home, "swarms"), Git: git,
		Work: func(ctx context.Context, j team.Job, h *leases.Held) (team.Done, error) {
			say(fmt.Sprintf("swarm %s: working on %s", h.Swarm(), j.Task.ID))
			return workerRun(a, f, h).work(ctx, j)
		},
		Check: func(ctx context.Context, dir, line string) event.TaskCheck {
			return workerRun(a, f, nil).check(ctx, dir, line)
		},
		Secret: secret.in,
	}
	say(fmt.Sprintf("pawl %s works for swarms at this server: %d at once; Ctrl+C ends it", Version, f.slots))
	return leases.Serve(ctx, nc, leases.WorkerConfig{
		Name: f.name, Version: Version, Labels: f.nats.labels, Slots: f.slots, Do: hand.Do, Left: hand.Left, Mask: secret.mask, Say: say,
	})
}

// workerRun is what a swarm's worker is here, where the swarm itself is on
// another machine.
func workerRun(a *App, f *workerFlags, h *leases.Held) *swarmRun {
	own := f.swarmFlags
	if own.Model == "" && h != nil {
		own.Model = h.Job.Model
	}
	return &swarmRun{App: a, f: &own, away: h}
}

// workerHome makes the folder of this worker's trees: outside pawl's own state,
// which no command may read.
func workerHome(a *App) (string, error) {
	data, err := dataHome(a.Env)
	if err != nil {
		return "", err
	}
	data = filepath.Join(data, "pawl-workers")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", err
	}
	home, err := os.MkdirTemp(data, "w-")
	if err != nil {
		return "", err
	}
	return setup.RealPath(home)
}

// confinedWorker sees to it that what other machines send runs confined, unless
// the person chose otherwise, and returns the git that reads it. free ends it.
func confinedWorker(a *App, f *workerFlags, home string) (git *workspace.Git, free func(), err error) {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return nil, nil, err
	}
	conf, err := settings.Load(paths, home)
	if err != nil {
		return nil, nil, err
	}
	if f.Sandbox == "" && conf.User.Sandbox == "" {
		f.Sandbox = "workspace"
	}
	// A folder beside the trees: what is confined to one must not touch a .git in
	// it, and git has to.
	beside := filepath.Join(home, ".beside")
	if err := os.Mkdir(beside, 0o700); err != nil {
		return nil, nil, err
	}
	by, _, err := a.Confine(&f.Options, conf, paths, beside, false)
	if err != nil {
		return nil, nil, fault.NewConfiguration("see: pawl doctor; --sandbox off lets tasks of other machines do all that you may", "this machine cannot confine commands, and a worker runs what other machines send: %v", err)
	}
	// All swarms' files at once: what confines git holds on to the folder, and that of a
	// swarm is removed and made again when its coordinator dies and comes back.
	stores := filepath.Join(home, "swarms")
	if err := os.Mkdir(stores, 0o700); err != nil {
		return nil, nil, err
	}
	starter, free := by.Starter()
	git = &workspace.Git{Starter: starter, Confine: by.Git()}
	if !by.Has.Workspace {
		git.Confine = process.Free
	}
	return git.Writing(stores), free, nil
}
