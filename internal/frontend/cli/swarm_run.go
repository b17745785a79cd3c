package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/nats/leases"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/adapter/taskgraph"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// swarmLease is the recorded length of a worker's lease. In one process a worker that
// has ended has always returned its task.
const swarmLease = time.Hour

func swarmRunCommand(a *App) *cobra.Command {
	f := &swarmFlags{}
	c := &cobra.Command{
		Use: "run [flags] FILE", Short: "Run the task graph of a YAML or JSON file", Args: exactly(1),
		Long: `Run the task graph of a file. Its command lines, the checks, run because you
name the file, confined to the worker's tree where commands can be confined.
Workers ask nobody: what would need a permission is denied.
The report goes to stdout, progress to stderr. See doc/swarm.md.`,
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			g, err := a.graph(args[0])
			if err != nil {
				return err
			}
			return runSwarm(c.Context(), a, f, g)
		},
	}
	f.add(c)
	return c
}

func swarmResumeCommand(a *App) *cobra.Command {
	f := &swarmFlags{}
	c := &cobra.Command{
		Use: "resume [flags] [ID]", Short: "Go on with a swarm that was interrupted, or whose result was not written; the newest of this folder", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := f.check(c); err != nil {
				return err
			}
			id, l, err := a.lookAtSwarm(c.Context(), &f.flags, args)
			if err != nil {
				return err
			}
			if l.Ended != nil && l.Ended.Outcome == event.SwarmCancelled {
				return usageError("the swarm %s was cancelled: run its graph anew", id)
			}
			f.Resume, f.Dir = id, cmp.Or(f.Dir, l.dir)
			return runSwarm(c.Context(), a, f, nil)
		},
	}
	f.add(c)
	return c
}

// swarmRun is a running swarm.
type swarmRun struct {
	*App
	f     *swarmFlags
	o     *setup.Opened
	log   swarmLog
	trees *trees.Store
	home  string // of the trees
	kinds map[string]workerKind
	mu    sync.Mutex   // guards messages that are printed once
	away  *leases.Held // if the swarm runs on another machine: the lease of this one
	// talk is the screen that shows the swarm, nil where there is none.
	talk *chat.Conversation
}

// runSwarm runs a new graph, or goes on with the swarm of f.resume.
func runSwarm(ctx context.Context, a *App, f *swarmFlags, g *taskgraph.File) error {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	r := &swarmRun{App: a, f: f}
	var err error
	if r.o, err = a.Open(ctx, &f.Options, setup.Frontend{Name: setup.SwarmFront, Configure: func(c *session.Config) { c.Fold = &r.log }}); err != nil {
		if held := (*event.HeldError)(nil); errors.As(err, &held) {
			return fault.NewConfiguration("look at it: pawl swarm attach; end it: pawl swarm cancel", "another pawl runs this swarm: %v", held)
		}
		return err
	}
	defer r.o.Close()
	for _, w := range r.o.Warnings {
		r.say("pawl: " + w)
	}
	if err := r.openTrees(ctx); err != nil {
		return err
	}
	if err := r.chooseKinds(g); err != nil {
		return err
	}
	if g != nil {
		base, err := r.trees.Snapshot(ctx)
		if err != nil {
			return err
		}
		if err := r.Append(ctx, event.Draft{Body: event.SwarmPlanned{Goal: g.Goal, Base: base, Tasks: g.Tasks, Verify: g.Verify}}); err != nil {
			return err
		}
	}
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return err
	}
	notes, err := sqlite.OpenKV(ctx, paths.Swarms())
	if err != nil {
		return err
	}
	defer notes.Close()
	_ = os.Remove(filepath.Join(r.home, cancelFile)) // of an earlier run
	ctx, heeded := r.heed(ctx)
	defer heeded()
	if t, conf := r.screen(); t != nil {
		err = r.onScreen(ctx, t, conf, paths, func(ctx context.Context) error { return r.drive(ctx, notes) })
	} else {
		err = r.drive(ctx, notes)
	}
	if errors.Is(context.Cause(ctx), errCancelled) && r.log.Ended == nil {
		return r.cancelled(ctx)
	}
	if i := (session.Interrupt{}); errors.As(err, &i) || errors.As(context.Cause(ctx), &i) {
		r.say("interrupted; go on with: pawl swarm resume " + r.o.ID())
		return &exitError{code: signalCode(i.By)}
	}
	if err != nil {
		r.say("go on with: pawl swarm resume " + r.o.ID())
		return err
	}
	if err := printSwarm(a.Out, team.ReportOf(&r.log.Schedule), f.json); err != nil {
		return err
	}
	if r.log.Ended.Outcome != event.SwarmVerified {
		r.say("nothing was written to your files: the result is " + string(r.log.Ended.Outcome))
		return &exitError{code: 9}
	}
	return os.RemoveAll(r.home)
}

// drive runs the swarm and writes its result.
func (r *swarmRun) drive(ctx context.Context, notes kv.Store) error {
	workers, closeBoard, err := r.workers(ctx)
	if err != nil {
		return err
	}
	defer closeBoard()
	r.say(fmt.Sprintf("swarm %s: %d tasks, %d workers", r.o.ID(), r.log.Len(), r.f.workers))
	if err := team.Run(ctx, team.Config{
		Log: r, Schedule: &r.log.Schedule, Trees: r.trees, Slots: r.f.workers, Saw: r.saw,
		Work: r.work, Check: r.check, Now: r.Now, Lease: swarmLease, Notes: notes, ID: r.o.ID(), Workers: workers,
	}); err != nil {
		return err
	}
	return r.land(ctx)
}

func signalCode(name string) int {
	return map[string]int{"SIGHUP": 129, "SIGTERM": 143}[name] + map[bool]int{true: 130}[name == "SIGINT"]
}

// untilSignal returns a context that ends on a signal, its cause an Interrupt.
// The third signal ends the process.
func untilSignal(ctx context.Context, signals func() <-chan string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if signals == nil {
		return ctx, func() { cancel(nil) }
	}
	in, over := signals(), make(chan struct{})
	go func() {
		for n := 1; ; n++ {
			select {
			case by := <-in:
				if n == 3 {
					os.Exit(signalCode(by))
				}
				cancel(session.Interrupt{By: by})
			case <-over:
				return
			}
		}
	}()
	return ctx, func() { close(over); cancel(nil) }
}

// openTrees opens the store of the trees: outside pawl's own state, which no
// worker may read.
func (r *swarmRun) openTrees(ctx context.Context) error {
	data, err := swarmHome(r.Env, r.o.ID())
	if err != nil {
		return err
	}
	if err := os.MkdirAll(data, 0o700); err != nil {
		return err
	}
	if r.home, err = setup.RealPath(data); err != nil {
		return err
	}
	dir, err := r.RealDir(r.f.Dir)
	if err != nil {
		return err
	}
	if in, err := filepath.Rel(dir, r.home); err == nil && filepath.IsLocal(in) {
		return fault.NewConfiguration("work in the project's own folder, or set XDG_DATA_HOME to a place outside", "the trees of workers would lie in %s itself", dir)
	}
	r.f.TrustedAs = dir // of the workers in this process
	git := *r.o.Git
	if !r.o.Confinement.Has.Workspace { // nothing that may write can be confined here
		git.Confine = process.Free
	}
	r.trees, err = trees.Open(ctx, &git, filepath.Join(r.home, "git"), dir)
	return err
}

// swarmHome returns the folder of a swarm's trees.
func swarmHome(env func(string) string, id string) (string, error) {
	data, err := dataHome(env)
	return filepath.Join(data, "pawl-swarms", id), err
}

// dataHome returns the folder of the workers' trees.
func dataHome(env func(string) string) (string, error) {
	data := env("XDG_DATA_HOME")
	if !filepath.IsAbs(data) {
		if env("HOME") == "" {
			return "", fault.NewConfiguration("set HOME or XDG_DATA_HOME", "there is no place for the trees of workers")
		}
		data = filepath.Join(env("HOME"), ".local", "share")
	}
	return data, nil
}

func (r *swarmRun) say(line string) {
	if r.talk != nil {
		r.talk.Tell(line)
		return
	}
	fmt.Fprintln(r.Err, plain.Line(line))
}

// Append implements team.Log. It also prints what is stored.
func (r *swarmRun) Append(ctx context.Context, ds ...event.Draft) error {
	if err := r.o.Coordination().Append(ctx, ds...); err != nil {
		return err
	}
	for _, d := range ds {
		if line := r.line(d.Body); line != "" && r.talk == nil { // a screen shows the tree
			r.say(line)
		}
	}
	return nil
}

// View implements team.Log.
func (r *swarmRun) View(look func()) { r.o.Coordination().View(look) }

// line returns the line about an event of this run, with the swarm's total cost.
func (r *swarmRun) line(b event.Body) string {
	text := swarmLine(b)
	if _, ok := b.(event.TaskReturned); ok {
		if spent, _ := r.o.View().Spent(); spent.USD > 0 {
			text += fmt.Sprintf(" (all together $%.4f)", spent.USD)
		}
	}
	return text
}

// swarmLine returns one line about an event, "" for none.
func swarmLine(b event.Body) string {
	switch b := b.(type) {
	case event.TaskTaken:
		return fmt.Sprintf("  %s: taken by %s", b.Task, b.Worker)
	case event.TaskReturned:
		text := fmt.Sprintf("  %s: %s by %s", b.Task, b.Outcome, b.Worker)
		if b.Error != "" {
			text += ": " + b.Error
		}
		return text
	case event.TaskMerged:
		return fmt.Sprintf("  %s: merged", b.Task)
	case event.TaskConflicted:
		return fmt.Sprintf("  %s: conflict in %v, merged by hand as task %s", b.Task, b.Files, b.By)
	case event.SwarmEnded:
		return "swarm: " + string(b.Outcome)
	}
	return ""
}
