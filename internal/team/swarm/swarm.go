// Package swarm runs many workers on one task (SPEC 14.2). Each worker takes a task of
// a graph and works on it in its own tree of files. A result that passes the task's
// acceptance checks is merged. The merged tree is verified.
//
// Everything is recorded in the swarm's log first, so a new coordinator can go on after
// a crash. Promised: a result is merged at most once, after all tasks that its task
// waits for. A result of a lease that has ended does not count. Nothing is written
// outside the trees: a person's files stay unchanged until the caller copies the
// verified tree to them. When Run returns, no worker runs.
package swarm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/kv"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// Log is the swarm's log. Its folds include the Schedule, which View guards.
type Log interface {
	Append(ctx context.Context, ds ...event.Draft) error
	View(func())
}

// Trees makes trees of files for workers and merges their results.
type Trees interface {
	// Checkout makes a tree with the files of a commit, and returns its folder.
	Checkout(ctx context.Context, name, commit string) (dir string, err error)
	// Commit makes a commit of a tree's files on top of base. It returns base if
	// nothing changed.
	Commit(ctx context.Context, name, base, message string) (commit string, err error)
	// Check returns an error for a commit with changes that no result may contain.
	Check(ctx context.Context, base, commit string) error
	// Merge merges theirs into ours, or returns the files in conflict.
	Merge(ctx context.Context, ours, theirs, message string) (commit string, conflicts []string, err error)
	// Diff returns a commit's changes as text.
	Diff(ctx context.Context, from, to string) (string, error)
	Remove(ctx context.Context, name string) error
}

// Config is the configuration of a swarm.
type Config struct {
	Log      Log
	Schedule *swarm.Schedule // a fold of Log
	Trees    Trees
	Slots    int // how many workers work at once
	// Work runs a job in its tree. An error means that the worker could not work on it.
	Work func(context.Context, Job) (Done, error)
	// Workers, if set, runs tasks instead of Work on this machine.
	Workers Workers
	// Check runs a command line in a tree and returns its result.
	Check func(ctx context.Context, dir, line string) event.TaskCheck
	Now   func() time.Time
	// Saw, if set, is shown each call of a worker.
	Saw func(swarm.Call)
	// Lease is how long a worker may be silent.
	Lease time.Duration
	// Notes, if set, stores what workers learn from each other for a later Run, under
	// keys that begin with the swarm's ID.
	Notes kv.Store
	ID    string
}

// Causes of a worker's end.
var (
	errCircles = errors.New("the same call was made over and over by several workers with the same result")
	errOver    = errors.New("the swarm was interrupted")
)

type coordinator struct {
	cfg     Config
	workers Workers
	results chan event.TaskReturned
	working sync.WaitGroup

	mu      sync.Mutex // guards what follows; workers report their calls
	lessons swarm.Lessons
	notes   notes
	circles swarm.LoopDetector
	stop    map[string]context.CancelCauseFunc
	loop    string // what all workers are told once
	told    map[string]bool
}

// Run runs tasks until none is left that can be run, and verifies the merged tree. The
// log must contain a plan. When ctx ends, workers are stopped and their tasks are
// released, and a later Run goes on.
func Run(ctx context.Context, cfg Config) error {
	c := &coordinator{cfg: cfg, workers: cfg.Workers, results: make(chan event.TaskReturned), stop: map[string]context.CancelCauseFunc{}, told: map[string]bool{}}
	if c.workers == nil {
		c.workers = localWorkers{cfg}
	}
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(errOver)
	c.notes = notes{store: cfg.Notes, swarm: cfg.ID}
	if err := c.notes.load(ctx, &c.lessons); err != nil {
		return err
	}
	if err := c.endOldLeases(ctx); err != nil {
		return err
	}
	free := max(1, cfg.Slots)
	for {
		if err := c.merge(ctx); err != nil {
			return c.abort(ctx, cancel, free, err)
		}
		for free > 0 {
			job, ok, err := c.take(ctx)
			if err != nil {
				return c.abort(ctx, cancel, free, err)
			}
			if !ok {
				break
			}
			free--
			c.working.Go(func() { c.results <- c.work(working, job) })
		}
		if c.ended() {
			return c.verify(ctx)
		}
		select {
		case r := <-c.results:
			free++
			if err := c.returned(ctx, r); err != nil {
				return c.abort(ctx, cancel, free, err)
			}
		case <-ctx.Done():
			return c.abort(ctx, cancel, free, context.Cause(ctx))
		}
	}
}

// abort stops all workers, records their results if possible, and returns the cause.
func (c *coordinator) abort(ctx context.Context, cancel context.CancelCauseFunc, free int, why error) error {
	cancel(errOver)
	if cause := context.Cause(ctx); cause != nil && errors.Is(why, context.Canceled) {
		why = cause // the error of what was cut short is less useful
	}
	for range max(1, c.cfg.Slots) - free {
		why = errors.Join(why, c.returned(ctx, <-c.results))
	}
	c.working.Wait()
	return why
}

// endOldLeases ends the leases that an earlier coordinator died with. Where its workers were
// in its process this counts as a try, since the task itself may have killed that.
func (c *coordinator) endOldLeases(ctx context.Context) error {
	end, why := event.TaskExpired, "the worker died"
	if c.cfg.Workers != nil {
		end, why = event.TaskReleased, "the coordinator died"
	}
	var ds []event.Draft
	c.cfg.Log.View(func() {
		for _, t := range c.cfg.Schedule.Taken() {
			ds = append(ds, event.Draft{Body: event.TaskReturned{
				Task: t.ID, Worker: t.Lease.Worker, Fence: t.Lease.Fence, Outcome: end, Error: why,
			}})
		}
	})
	if len(ds) == 0 {
		return nil
	}
	return c.cfg.Log.Append(ctx, ds...)
}

func (c *coordinator) ended() (over bool) {
	c.cfg.Log.View(func() { over = c.cfg.Schedule.Over() })
	return over
}

// lease is a task that is being worked on.
type lease struct {
	event.TaskTaken
	task   event.Task
	prompt string
}

func (c *coordinator) take(ctx context.Context) (l lease, ok bool, err error) {
	c.mu.Lock()
	c.cfg.Log.View(func() {
		s := c.cfg.Schedule
		var t swarm.TaskProgress
		if t, ok = s.Next(); !ok {
			return
		}
		l = lease{task: t.Task, prompt: swarm.Prompt(s, &c.lessons, t), TaskTaken: event.TaskTaken{
			Task: t.ID, Worker: fmt.Sprintf("w%d", s.Fence()), Fence: s.Fence(), Until: c.cfg.Now().Add(c.cfg.Lease), Base: s.Tip(),
		}}
	})
	c.mu.Unlock()
	if !ok {
		return l, false, nil
	}
	return l, true, c.cfg.Log.Append(ctx, event.Draft{Body: l.TaskTaken})
}

// work runs a task and checks its result. It returns no error: a failure is part of the
// result.
func (c *coordinator) work(ctx context.Context, l lease) event.TaskReturned {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c.mu.Lock()
	c.stop[l.Worker] = stop
	c.mu.Unlock()
	r := event.TaskReturned{Task: l.Task, Worker: l.Worker, Fence: l.Fence, Outcome: event.TaskFailed}
	err := c.try(ctx, l, &r)
	c.mu.Lock()
	c.circles.Leave(l.Worker)
	delete(c.stop, l.Worker)
	c.mu.Unlock()
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errOver):
		r.Outcome, r.Error = event.TaskReleased, cause.Error()
	case errors.Is(cause, errCircles):
		r.Outcome, r.Error = event.TaskStopped, cause.Error()
	case errors.Is(err, ErrLost):
		r.Outcome, r.Error = event.TaskExpired, err.Error()
	case errors.Is(err, ErrElsewhere):
		r.Outcome, r.Error = event.TaskReleased, err.Error()
	case err != nil:
		r.Error = err.Error()
	}
	return r
}

func (c *coordinator) try(ctx context.Context, l lease, r *event.TaskReturned) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the worker broke: %v", p)
		}
	}()
	done, err := c.workers.Do(ctx, Job{Worker: l.Worker, Fence: l.Fence, Base: l.Base, Task: l.task, Prompt: l.prompt, Saw: c.saw})
	r.Session, r.Model, r.USD, r.Tokens, r.Checks = done.Session, done.Model, done.USD, done.Tokens, done.Checks
	c.mu.Lock()
	for _, ref := range done.Refers {
		c.lessons.AddReferences(ref)
		c.notes.keep(noteFound, ref)
	}
	c.mu.Unlock()
	if err != nil {
		return err
	}
	if r.Outcome = event.TaskDone; done.Commit != l.Base {
		r.Commit = done.Commit
	}
	return nil
}

// returned records a result, even after ctx has ended, since it was paid for.
func (c *coordinator) returned(ctx context.Context, r event.TaskReturned) error {
	c.mu.Lock()
	if r.Outcome == event.TaskFailed {
		for _, k := range r.Checks {
			if k.Exit == nil || *k.Exit != 0 {
				c.fail(swarm.Failure{Worker: r.Worker, Tool: "check", Target: k.Command, Category: "error", Text: k.Output})
			}
		}
	}
	broken := c.notes.err
	c.mu.Unlock()
	return errors.Join(broken, c.cfg.Log.Append(context.WithoutCancel(ctx), event.Draft{Body: r}))
}

// fail adds a failure to the lessons. The caller holds c.mu.
func (c *coordinator) fail(f swarm.Failure) {
	c.lessons.AddFailure(f)
	c.notes.keep(noteFailure, f)
}

// merge merges all results that wait for it. One that cannot be merged becomes a
// task of its own.
func (c *coordinator) merge(ctx context.Context) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var t swarm.TaskProgress
		var ok bool
		var tip string
		c.cfg.Log.View(func() { t, ok = c.cfg.Schedule.Merge(); tip = c.cfg.Schedule.Tip() })
		if !ok {
			return nil
		}
		if t.Result.Commit == "" { // nothing changed
			if err := c.cfg.Log.Append(ctx, event.Draft{Body: event.TaskMerged{Task: t.ID, Commit: tip}}); err != nil {
				return err
			}
			continue
		}
		commit, conflicts, err := c.cfg.Trees.Merge(ctx, tip, t.Result.Commit, t.ID)
		if err != nil {
			return fmt.Errorf("merge the result of task %s: %w", t.ID, err)
		}
		ds := []event.Draft{{Body: event.TaskMerged{Task: t.ID, Commit: commit}}}
		if commit == "" {
			diff, err := c.cfg.Trees.Diff(ctx, t.Lease.Base, t.Result.Commit)
			if err != nil {
				return fmt.Errorf("show the result of task %s: %w", t.ID, err)
			}
			var by event.Task
			c.cfg.Log.View(func() { by = c.cfg.Schedule.Resolve(t, conflicts, diff) })
			ds = []event.Draft{
				{Body: event.SwarmPlanned{Tasks: []event.Task{by}}},
				{Body: event.TaskConflicted{Task: t.ID, Files: conflicts, By: by.ID}},
			}
		}
		if err := c.cfg.Log.Append(ctx, ds...); err != nil {
			return err
		}
	}
}

// saw receives a worker's call, and returns a message to the worker. Workers that
// repeat the same call are warned once, and stopped if they go on.
func (c *coordinator) saw(call swarm.Call, f *swarm.Failure) (tell string) {
	if c.cfg.Saw != nil {
		c.cfg.Saw(call)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f != nil {
		c.fail(*f)
	}
	l, found := c.circles.Apply(call)
	switch {
	case found && !l.Again:
		c.loop = fmt.Sprintf("[%d workers made the same call %d times together, with the same result each time: %s. Do not make it again: find another way, or say in your result why there is none.]", len(l.Workers), l.Times, l.What)
		clear(c.told)
	case found && c.told[call.Worker]:
		if stop := c.stop[call.Worker]; stop != nil {
			stop(errCircles)
		}
	}
	if c.loop == "" || c.told[call.Worker] {
		return ""
	}
	c.told[call.Worker] = true
	return c.loop
}

// verify ends the swarm: the merged tree must pass its checks.
func (c *coordinator) verify(ctx context.Context) error {
	var lines []string
	end := event.SwarmEnded{Outcome: event.SwarmVerified}
	ended := false
	c.cfg.Log.View(func() {
		s := c.cfg.Schedule
		ended = s.Ended != nil
		end.Commit, lines = s.Tip(), s.Verify
		if s.Count(swarm.Merged) < s.Len() {
			end.Outcome = event.SwarmIncomplete
			end.Error = fmt.Sprintf("%d of %d tasks were merged", s.Count(swarm.Merged), s.Len())
		}
		if len(lines) == 0 { // what each task had to pass, all must pass together
			known := map[string]bool{}
			for _, t := range s.Tasks() {
				for _, line := range t.Accept {
					if t.State == swarm.Merged && !known[line] {
						known[line] = true
						lines = append(lines, line)
					}
				}
			}
		}
	})
	if ended {
		return c.notes.forget(ctx)
	}
	dir, err := c.cfg.Trees.Checkout(ctx, "verify", end.Commit)
	if err != nil {
		return err
	}
	checks, ok := Passes(ctx, c.cfg.Check, dir, lines)
	if err := c.cfg.Trees.Remove(context.WithoutCancel(ctx), "verify"); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if end.Checks = checks; !ok && end.Outcome == event.SwarmVerified {
		end.Outcome, end.Error = event.SwarmUnverified, "the merged tree does not pass its checks"
	}
	if err := c.cfg.Log.Append(ctx, event.Draft{Body: end}); err != nil {
		return err
	}
	return c.notes.forget(ctx)
}
