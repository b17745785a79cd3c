package swarmrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// How long a check may take, and how much of its output is stored.
const (
	checkTime   = 10 * time.Minute
	checkOutput = 4 << 10
)

var errRepeats = errors.New("the worker made the same call over and over with the same result")

// worker does tasks and runs checks on this machine.
type worker struct {
	*setup.Environment
	opt   setup.Options
	swarm string          // its id
	bank  spending.Parent // the session that pays for the tasks
	held  *leases.Held    // the task's lease, if the swarm runs on another machine
	kinds map[string]agents.Kind
	say   func(string)

	mu   sync.Mutex
	said map[string]bool // messages that were printed
}

// work does a task in a session of its own.
func (w *worker) work(ctx context.Context, j team.Job) (done team.Done, err error) {
	opt := w.opt
	opt.Dir, opt.Resume, opt.MaxUSD, opt.MaxTokens, opt.Budget = j.Dir, "", 0, 0, ""
	kind, ok := w.kinds[j.Task.Agent]
	if !ok && j.Task.Agent != "" {
		return done, noKind(j.Task.Agent)
	}
	conf, _, err := w.Settings() // of this machine
	if err != nil {
		return done, fmt.Errorf("%w: %w", team.ErrUnable, err)
	}
	limits := conf.User.Swarm
	opt.Model = cmp.Or(j.Task.Model, kind.Model, opt.Model)
	opt.Mode = string(permission.Mode(opt.Mode).Child(kind.ReadOnly))
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	o, err := w.Open(ctx, &opt, setup.Frontend{Name: "swarm-worker", WorkerTree: true, Configure: func(c *session.Config) {
		c.ParentCall = &event.ParentCall{Session: w.swarm, Call: j.Worker, Agent: "swarm"}
		c.Parent, c.Limits, c.Agents = w.bank, swarm.WorkerLimits(limits.WorkerTokens, limits.WorkerSteps), 0
		w.configure(c, kind)
		if short := c.Pressure; short != nil && w.held != nil { // another machine may have enough
			c.Pressure = func() (what, why string) {
				if what, why = short(); what != "" {
					giveUp(fmt.Errorf("%w: %s", team.ErrUnable, why))
				}
				return what, why
			}
		}
	}})
	if err != nil {
		return done, fmt.Errorf("%w: %w", team.ErrUnable, err)
	}
	defer o.Close()
	done.Session, done.Model = o.ID(), o.View().Info().Ref()
	activity := swarm.NewActivity(j.Worker)
	out, err := o.RunPrompt(ctx, session.Prompt{Source: event.Parent, Text: j.Prompt}, session.Observer{After: o.View().Last(), See: watch(o, j, activity)})
	spent, _ := o.View().Spent()
	done.Reply, done.Tokens = out.Reply, spent.Usage.Input+spent.Usage.Output
	if spent.Unknown == 0 && o.View().Info().Price != nil {
		done.USD = &spent.USD
	}
	if unable := context.Cause(ctx); errors.Is(unable, team.ErrUnable) {
		return done, unable
	}
	if err != nil {
		return done, err
	}
	switch out.Ended.End {
	case event.EndFailed, event.EndConfig, event.EndInterrupted, event.EndRefused:
		if why := out.Ended.Error; why != nil && out.Ended.End == event.EndConfig && done.Tokens == 0 { // no free space, no key
			return done, fmt.Errorf("%w: %s", team.ErrUnable, why.Message)
		} else if why != nil {
			return done, errors.New(why.Message)
		}
		return done, fmt.Errorf("the worker's turn ended as %s", out.Ended.End)
	}
	done.Refers = activity.References(j.Task.ID, done.Reply)
	return done, nil // the checks decide whether the task is done
}

// watch returns a function that reports a worker's calls to the swarm, and passes the
// swarm's messages to the worker.
func watch(o *setup.Opened, j team.Job, activity *swarm.Activity) func(event.Event) error {
	var repeats swarm.Repeats
	return func(e event.Event) error {
		call, failed, ended := activity.Apply(e)
		if !ended {
			return nil
		}
		if tell := j.Saw(call, failed); tell != "" {
			if _, err := o.Submit(context.Background(), session.Prompt{Source: event.Parent, Text: tell}); err != nil {
				return err
			}
		}
		if repeats.Apply(call.Key) {
			return errRepeats
		}
		return nil
	}
}

// check runs a command line that the person wrote in the graph. It is confined to the
// tree if commands can be confined; otherwise it runs as if the person ran it.
func (w *worker) check(ctx context.Context, dir, line string) event.TaskCheck {
	start := w.Now()
	ran, err := w.runCheck(ctx, dir, line)
	k := event.TaskCheck{Command: line, Took: w.Now().Sub(start), Exit: ran.Exit, Output: ran.Output}
	if err != nil {
		k.Exit, k.Output = nil, err.Error()
	}
	if n := len(k.Output); n > checkOutput {
		k.Output = "…" + string([]rune(k.Output[n-checkOutput:]))
	}
	return k
}

func (w *worker) runCheck(ctx context.Context, dir, line string) (tool.Ran, error) {
	conf, paths, err := w.SettingsIn(dir)
	if err != nil {
		return tool.Ran{}, err
	}
	by, _, err := w.Confine(&w.opt, conf, paths, dir, false)
	if err != nil {
		return tool.Ran{}, err
	}
	starter, stop := by.Starter()
	defer stop()
	mask := secrets.New(w.Secrets()...)
	mask.Hold(folder.Keys(dir)...)
	sh := shell.New(shell.Options{
		Root: dir, Starter: starter, SpillDir: filepath.Join(paths.Spill(), w.swarm), Mask: mask.MaskBytes,
		Timeout: checkTime, MaxTimeout: checkTime,
	})
	defer sh.Close()
	level := process.Confine{Level: process.Workspace}
	switch {
	case !by.Confined() || !by.Has.Workspace && !by.Has.Narrow:
		level = process.Free
	case by.Has.Narrow:
		level.Level = process.ReadOnly
	}
	return sh.Run(ctx, tool.Run{Command: line, Confine: level})
}
