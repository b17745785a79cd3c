// Package swarmrun runs swarms on this machine: it opens the sessions of the swarm and
// of its workers, runs checks in their trees of files, writes the result to the
// person's files, and lets other processes follow and cancel a swarm. team/swarm
// defines what a swarm does, policy/swarm decides which task is next, and team/machines
// spans a swarm over several machines.
//
// It knows no command line. The screen is passed in as Swarm.Show. Without it, each
// event is a line on Environment.Err.
//
// It promises that the person's files change once, by a verified result, as one change
// that can be undone; otherwise they do not change. What needs a permission is denied,
// not asked.
package swarmrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/metrics"
	"github.com/pawl-agent/pawl/internal/adapter/taskgraph"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/trees"
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// leaseHere is the recorded length of a lease of a worker in this process. Such a worker
// has always returned its task when it ends.
const leaseHere = time.Hour

// Swarm are the choices for one swarm.
type Swarm struct {
	*setup.Environment
	// Options are the options of each worker's session. Its limits apply to all workers
	// together, and Resume names the swarm to continue.
	Options setup.Options
	Workers int // at the same time
	Server  Server
	// TrustWorkers: the results of acceptance checks on other machines are accepted.
	TrustWorkers bool
	// WritePart: what is merged is written even if the result is not whole, without a question.
	WritePart bool
	// Health is the address where health and metrics are served; "": nowhere.
	Health string
	// Branches: the result becomes branches, and the person's files stay as they are.
	Branches bool
	// Review: each task of a new swarm is reviewed by a person.
	Review  bool
	Timeout time.Duration // after it the swarm pauses; 0: never
	Lease   time.Duration // how long a worker on another machine may be silent; 0: 30 s
	Show    Show
}

// Show shows the session of a swarm. It calls run at most once, and returns after run
// has returned. say shows a message; if it is nil, messages are printed. run returns the
// command that continues the swarm; "" means that nothing is left to do.
type Show func(ctx context.Context, o *setup.Opened, run func(ctx context.Context, say func(string), ask Ask) (again string)) error

// Ask asks the person, until ctx ends. If it is nil, nobody is asked.
type Ask func(ctx context.Context, question string, options ...choice.Option) (key string, err error)

// Result describes how a run of a swarm ended.
type Result struct {
	team.Report
	NotWritten string // why nothing was written to the person's files, "" if it was
}

// run is a running swarm.
type run struct {
	Swarm
	here  worker
	o     *setup.Opened
	log   Log
	trees *trees.Store
	home  string            // the folder of the trees
	asked chan team.Order   // by other processes, about single tasks
	show  func(line string) // nil: lines are printed
	ask   Ask
}

// Run runs a new graph or, if g is nil, continues a swarm. If ctx is interrupted, the
// workers' tasks are released and the error is the session.Interrupt.
func (s Swarm) Run(ctx context.Context, g *taskgraph.File) (Result, error) {
	r := &run{Swarm: s, asked: make(chan team.Order)}
	var err error
	if r.o, err = s.Open(ctx, &r.Options, setup.Frontend{Name: setup.SwarmFront, Configure: func(c *session.Config) { c.Fold = &r.log }}); err != nil {
		if held := (*event.HeldError)(nil); errors.As(err, &held) {
			err = fault.NewConfiguration("follow it: pawl swarm attach; end it: pawl swarm cancel", "another pawl runs this swarm: %v", held)
		}
		return Result{}, err
	}
	defer r.o.Close()
	r.log.ID = r.o.ID()
	for _, w := range r.o.Warnings {
		r.say("pawl: " + w)
	}
	if err := r.prepare(ctx, g); err != nil {
		return Result{}, err
	}
	notes, closeNotes, err := r.openNotes(ctx)
	if err != nil {
		return Result{}, err
	}
	defer closeNotes()
	ctx, stop := r.watchForCancel(ctx)
	defer stop()
	go r.watchForOrders(ctx)
	if r.Health != "" {
		health, err := metrics.ServeHealth(r.Health, func() error { return nil }, r.samples)
		if err != nil {
			return Result{}, err
		}
		defer health.Close()
		r.say("health and metrics: http://" + health.Addr())
	}
	err = r.shown(ctx, notes)
	if errors.Is(context.Cause(ctx), errCancelled) && r.log.Ended == nil {
		return r.cancelled(ctx)
	} else if i := (session.Interrupt{}); errors.As(err, &i) || errors.As(context.Cause(ctx), &i) {
		r.say("interrupted; to continue: " + resume(r.log.ID))
		return Result{}, i
	} else if err != nil {
		r.say("go on with: " + resume(r.log.ID))
		return Result{}, err
	}
	end := Result{Report: r.log.Report()}
	if end.Outcome != event.SwarmVerified {
		end.NotWritten = r.notWritten(end.Report)
		return end, nil
	}
	return end, removeTrees(r.home)
}

// errTime is the cause of the end of a run whose time is up.
var errTime = errors.New("the time of the swarm is up")

// notWritten says why the whole result was not written, and what to do next.
func (r *run) notWritten(end team.Report) string {
	text := "nothing was written to your files: the result is " + string(end.Outcome)
	if r.log.landed != "" {
		text = "only a part was written to your files: the result is " + string(end.Outcome)
	}
	if end.Outcome != team.Paused {
		if end.Outcome == event.SwarmIncomplete && r.log.landed == "" && end.Counts[string(swarm.Merged)] > 0 {
			text += "; to write what is merged and passes its checks: " + resume(r.log.ID) + " --write-partial"
		}
		return text
	}
	text += ": " + end.Error + "; to continue: " + resume(r.log.ID)
	if end.Fault == event.FaultBudget {
		text += " and a larger budget"
	}
	return text
}

// prepare opens what the swarm needs, and records the plan of a new swarm.
func (r *run) prepare(ctx context.Context, g *taskgraph.File) error {
	if err := r.openTrees(ctx); err != nil {
		return err
	}
	if r.Branches { // could any be made at the end?
		if _, err := r.trees.Repository(ctx); err != nil {
			return err
		}
	}
	r.here = worker{Environment: r.Environment, opt: r.Options, swarm: r.log.ID, bank: team.Bank{Account: r.o.Coordination().Account(), Log: r}, say: r.say}
	if g == nil {
		var tasks []event.Task
		for _, t := range r.log.Tasks() {
			tasks = append(tasks, t.Task)
		}
		return errors.Join(r.here.chooseKinds(tasks, nil, r.Server.URL == ""), r.canHere(tasks))
	}
	tasks := g.Whole()
	for i := range tasks {
		tasks[i].Review = tasks[i].Review || r.Review
	}
	if err := errors.Join(r.here.chooseKinds(g.Tasks, g, r.Server.URL == ""), r.canHere(tasks)); err != nil {
		return err
	}
	base, err := r.trees.Snapshot(ctx)
	if err != nil {
		return err
	}
	return r.Append(ctx, event.Draft{Body: event.SwarmPlanned{Goal: g.Goal, Base: base, Tasks: tasks, Verify: g.Verify}})
}

// shown drives the swarm while Show shows it.
func (r *run) shown(ctx context.Context, notes kv.Store) (err error) {
	if r.Show == nil {
		return r.drive(ctx, notes)
	}
	shown := r.Show(ctx, r.o, func(ctx context.Context, say func(string), ask Ask) (again string) {
		r.show, r.ask = say, ask
		if err = r.drive(ctx, notes); err == nil || errors.Is(context.Cause(ctx), errCancelled) {
			return ""
		}
		return resume(r.log.ID)
	})
	r.show, r.ask = nil, nil
	return errors.Join(err, shown)
}

// drive runs the swarm and writes its result.
func (r *run) drive(ctx context.Context, notes kv.Store) error {
	timed := ctx
	if r.Timeout > 0 {
		var cancel context.CancelFunc
		timed, cancel = context.WithTimeoutCause(ctx, r.Timeout, errTime)
		defer cancel()
	}
	workers, closeBoard, err := r.otherMachines(ctx)
	if err != nil {
		return err
	}
	defer closeBoard()
	r.say(fmt.Sprintf("swarm %s: %s, %s", r.log.ID, plural.Of(r.log.Len(), "task"), plural.Of(r.Workers, "worker")))
	err = team.Run(timed, team.Config{
		Log: r, Schedule: &r.log.Schedule, Trees: r.trees, Slots: r.Workers, Labels: labelsHere(nil),
		Saw:  func(c swarm.Call) { r.o.Coordination().Show(event.TaskCalled{Worker: c.Worker, What: c.What}) },
		Work: r.here.work, Check: r.here.check, Now: r.Now, Lease: leaseHere, Notes: notes, ID: r.log.ID, Workers: workers, Say: r.say, Orders: r.asked,
	})
	if errors.Is(context.Cause(timed), errTime) && r.log.Ended == nil {
		err = r.Append(ctx, event.Draft{Body: event.SwarmPaused{Fault: event.FaultTime, Error: fmt.Sprintf("it took longer than the %s of --timeout", r.Timeout), Commit: r.log.Tip()}})
	}
	if err != nil {
		return err
	}
	return r.land(ctx)
}

// openTrees opens the store of the trees. It is outside pawl's own state, which no
// worker may read.
func (r *run) openTrees(ctx context.Context) error {
	home, err := swarmHome(r.Env, r.log.ID)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	if r.home, err = setup.RealPath(home); err != nil {
		return err
	}
	_ = os.Remove(filepath.Join(r.home, cancelFile)) // of an earlier run
	dir, err := r.RealDir(r.Options.Dir)
	if err != nil {
		return err
	}
	if in, err := filepath.Rel(dir, r.home); err == nil && filepath.IsLocal(in) {
		return fault.NewConfiguration("work in the project's own folder, or set XDG_DATA_HOME to a folder outside it", "the workers' trees would be in %s itself", dir)
	}
	r.Options.TrustedAs = dir // applies to the workers in this process
	git := *r.o.Git
	if !r.o.Confinement.Has.Workspace { // programs that may write cannot be confined here
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

// removeTrees removes the folder of a swarm's trees. It renames the folder first: if the
// process is killed, the folder is whole or gone, and a resumed swarm removes the rest.
func removeTrees(home string) error {
	removed := home + ".removed"
	if err := os.RemoveAll(removed); err != nil {
		return err
	}
	if err := os.Rename(home, removed); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.RemoveAll(removed)
}

// dataHome returns the folder above those of all trees.
func dataHome(env func(string) string) (string, error) {
	if data := env("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return data, nil
	}
	if env("HOME") == "" {
		return "", fault.NewConfiguration("set HOME or XDG_DATA_HOME", "no folder for the workers' trees is known")
	}
	return filepath.Join(env("HOME"), ".local", "share"), nil
}

func (r *run) say(line string) {
	if r.show != nil {
		r.show(line)
		return
	}
	fmt.Fprintln(r.Err, plain.Line(line))
}

// Append implements team.Log. It prints the stored events, unless a screen shows the
// tasks.
func (r *run) Append(ctx context.Context, ds ...event.Draft) error {
	if err := r.o.Coordination().Append(ctx, ds...); err != nil || r.show != nil {
		return err
	}
	for _, d := range ds {
		line := lineOf(d.Body)
		if _, ok := d.Body.(event.TaskReturned); ok {
			if spent, _ := r.o.View().Spent(); spent.USD > 0 {
				line += fmt.Sprintf(" (all together $%.4f)", spent.USD)
			}
		}
		if line != "" {
			r.say(line)
		}
		if b, ok := d.Body.(event.TaskReturned); ok {
			var t swarm.TaskProgress
			if r.View(func() { t, _ = r.log.Task(b.Task) }); t.InReview() {
				r.say(fmt.Sprintf("  %s: waits for you: pawl swarm diff %s, then pawl swarm accept %s, or retry", t.ID, t.ID, t.ID))
			}
		}
	}
	return nil
}

func (r *run) View(look func()) { r.o.Coordination().View(look) }

// lineOf returns one line about an event of a swarm, "" for none.
func lineOf(b event.Body) string {
	switch b := b.(type) {
	case event.TaskTaken:
		return fmt.Sprintf("  %s: taken by %s", b.Task, b.Worker)
	case event.TaskReturned:
		text := fmt.Sprintf("  %s: %s by %s", b.Task, b.Outcome, b.Worker)
		if b.Fault != "" && b.Fault != event.FaultTask {
			text += fmt.Sprintf(" (%s)", b.Fault)
		}
		if b.Error != "" {
			text += ": " + b.Error
		}
		return text
	case event.TaskMerged:
		return fmt.Sprintf("  %s: merged", b.Task)
	case event.TaskConflicted:
		return fmt.Sprintf("  %s: conflict in %v, merged by hand as task %s", b.Task, b.Files, b.By)
	case event.TaskSteered:
		return strings.TrimSpace(fmt.Sprintf("  %s: you: %s %s", b.Task, b.Do, cut.Runes(plain.Line(b.Text), 120)))
	case event.SwarmEnded:
		return "swarm: " + string(b.Outcome)
	case event.SwarmPaused:
		return "swarm: paused: " + b.Error
	}
	return ""
}
