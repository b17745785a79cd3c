package swarmrun

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/command"
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
		return done, team.Outside(event.FaultMachine, err)
	}
	limits := conf.User.Swarm
	opt.Model = cmp.Or(j.Task.Model, kind.Model, opt.Model)
	opt.Mode = string(permission.Mode(opt.Mode).Child(kind.ReadOnly))
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	bank := &limitedBank{Parent: w.bank}
	o, err := w.Open(ctx, &opt, setup.Frontend{Name: "swarm-worker", WorkerTree: true, Configure: func(c *session.Config) {
		c.ParentCall = &event.ParentCall{Session: w.swarm, Call: j.Worker, Agent: "swarm"}
		c.Parent, c.Limits, c.Agents = bank, swarm.WorkerLimits(limits.WorkerTokens, limits.WorkerSteps), 0
		w.configure(c, kind)
		if short := c.Pressure; short != nil && w.held != nil { // another machine may have enough
			c.Pressure = func() (what, why string) {
				if what, why = short(); what != "" {
					giveUp(team.Outside(event.FaultMachine, errors.New(why)))
				}
				return what, why
			}
		}
	}})
	if err != nil {
		return done, team.Outside(event.FaultMachine, err)
	}
	defer o.Close()
	done.Session, done.Model = o.ID(), o.View().Info().Ref()
	activity := swarm.NewActivity(j.Worker)
	listens := &listener{o: o, j: j, activity: activity}
	out, err := o.RunPrompt(ctx, session.Prompt{Source: event.Parent, Text: j.Prompt}, session.Observer{After: o.View().Last(), See: listens.see})
	for err == nil && out.Ended.End == event.EndDone {
		more := listens.hear(swarm.Call{Worker: j.Worker}, nil)
		if len(more) == 0 {
			break
		}
		out, err = o.RunPrompt(ctx, session.Prompt{Source: event.Parent, Text: strings.Join(more, "\n\n")}, session.Observer{After: o.View().Last(), See: listens.see})
	}
	spent, _ := o.View().Spent()
	done.Reply, done.Tokens = out.Reply, spent.Usage.Input+spent.Usage.Output
	if spent.Unknown == 0 && o.View().Info().Price != nil {
		done.USD = &spent.USD
	}
	if cause := context.Cause(ctx); team.FaultOf(cause) != event.FaultTask {
		return done, cause
	}
	if unreached := bank.unreached(); unreached != nil && (err != nil || out.Ended.End != event.EndDone) {
		return done, team.Outside(event.FaultNetwork, unreached)
	}
	if err != nil {
		return done, err
	}
	if err := faultOfEnd(out.Ended, bank.limit()); err != nil {
		return done, err
	}
	done.Refers = activity.References(j.Task.ID, done.Reply)
	return done, nil // the checks decide whether the task is done
}

// faultOfEnd returns the error for how a worker's turn ended, and whose fault it is; nil
// if the checks decide, as after its own limits. limit is the swarm's budget, if it is
// used up.
func faultOfEnd(e event.Ended, limit error) error {
	why := fmt.Errorf("the worker's turn ended as %s", e.End)
	if e.Error != nil {
		why = errors.New(e.Error.Message)
	}
	switch e.End {
	case event.EndBudget:
		if limit != nil {
			return team.Outside(event.FaultBudget, limit)
		}
		return nil
	case event.EndProvider:
		return team.Outside(event.FaultProvider, why)
	case event.EndConfig, event.EndDisk: // no key, a model that is not there, no free space
		return team.Outside(event.FaultMachine, why)
	case event.EndFailed, event.EndInterrupted, event.EndRefused:
		return why
	}
	return nil
}

// limitedBank is the swarm's account, as one worker sees it: it tells the limit of the
// swarm from those of the worker, and that the swarm was not reached.
type limitedBank struct {
	spending.Parent
	mu      sync.Mutex
	reached error
	lost    error // the swarm on another machine was not reached
}

func (b *limitedBank) Reserve(ctx context.Context, a budget.Ask) (budget.Grant, error) {
	g, err := b.Parent.Reserve(ctx, a)
	b.note(err)
	return g, err
}

func (b *limitedBank) Settle(ctx context.Context, grant int, cs ...event.Charged) error {
	err := b.Parent.Settle(ctx, grant, cs...)
	b.note(err)
	return err
}

func (b *limitedBank) note(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if limit := (*budget.LimitError)(nil); errors.As(err, &limit) {
		b.reached = err
	}
	if errors.Is(err, leases.ErrNetwork) {
		b.lost = err
	}
}

func (b *limitedBank) unreached() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

func (b *limitedBank) limit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.reached
}

// listener reports a worker's calls to the swarm, and passes the swarm's messages to the
// worker.
type listener struct {
	o        *setup.Opened
	j        team.Job
	activity *swarm.Activity
	repeats  swarm.Repeats
	heard    int // messages
}

func (l *listener) see(e event.Event) error {
	call, failed, ended := l.activity.Apply(e)
	if !ended {
		return nil
	}
	for _, text := range l.hear(call, failed) {
		if _, err := l.o.Submit(context.Background(), session.Prompt{ID: rand.Text(), Source: event.Parent, Text: text}); err != nil {
			return err
		}
	}
	if l.repeats.Apply(call.Key) {
		return fmt.Errorf("the worker made the same call over and over with the same result: %s", call.What)
	}
	return nil
}

// hear returns the messages that are new.
func (l *listener) hear(c swarm.Call, f *swarm.Failure) []string {
	c.Heard = l.heard
	tell := l.j.Saw(c, f)
	l.heard += len(tell)
	return tell
}

// check runs command lines that the person wrote in the graph, until one fails. They are
// confined to the tree if commands can be confined; otherwise they run as if the person
// ran them. What one leaves running ends with it.
func (w *worker) check(ctx context.Context, dir string, lines ...string) []event.TaskCheck {
	conf, paths, err := w.SettingsIn(dir)
	var by setup.Confinement
	if err == nil {
		by, err = w.Confine(&w.opt, conf, paths, dir, false)
	}
	if err != nil {
		return []event.TaskCheck{{Command: lines[0], Output: err.Error()}}
	}
	starter, stop := by.Starter()
	defer stop()
	mask := secrets.New(w.Secrets()...)
	mask.Hold(folder.Keys(dir)...)
	level := process.Confine{Level: process.Workspace}
	switch {
	case !by.Confined() || !by.Has.Workspace && !by.Has.Narrow:
		level = process.Free
	case by.Has.Narrow:
		level.Level = process.ReadOnly
	}
	return team.Each(func(ctx context.Context, dir, line string) event.TaskCheck {
		sh := shell.New(shell.Options{
			Root: dir, Starter: starter, SpillDir: filepath.Join(paths.Spill(), w.swarm), Mask: mask.MaskBytes,
			Timeout: checkTime, MaxTimeout: checkTime,
		})
		defer sh.Close()
		start := w.Now()
		ran, missing, err := runCheck(ctx, sh, level, dir, line)
		k := event.TaskCheck{Command: line, Missing: missing, Took: w.Now().Sub(start), Exit: ran.Exit, Output: ran.Output}
		if err != nil {
			k.Exit, k.Output = nil, err.Error()
		}
		if n := len(k.Output); n > checkOutput {
			k.Output = "…" + string([]rune(k.Output[n-checkOutput:]))
		}
		return k
	})(ctx, dir, lines...)
}

func runCheck(ctx context.Context, sh *shell.Shell, level process.Confine, dir, line string) (_ tool.Ran, missing string, err error) {
	ran, err := sh.Run(ctx, tool.Run{Command: line, Confine: level})
	if err != nil || ran.Exit == nil || *ran.Exit != notFound {
		return ran, "", err
	}
	// The shell says whether it is a program of this machine that it lacks. One with a
	// path may be what the task was to make.
	commands, err := command.Parse(line, dir)
	for _, c := range commands {
		name := c.Name()
		if err != nil || c.Func || strings.HasPrefix(name, "-") || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789._+-") != "" {
			continue
		}
		if found, err := sh.Run(ctx, tool.Run{Command: "command -v " + name, Confine: level}); err == nil && found.Exit != nil && *found.Exit != 0 {
			return ran, name, nil
		}
	}
	return ran, "", nil
}

// notFound is the exit code of a shell for a program that it does not find.
const notFound = 127
