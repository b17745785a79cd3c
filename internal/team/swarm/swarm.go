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
	// Check returns the files that a commit changes, and an error for changes that no
	// result may contain.
	Check(ctx context.Context, base, commit string) (files []string, err error)
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
	Slots    int      // how many workers work at once
	Labels   []string // of this machine
	// Work runs a job in its tree. An error means that the worker could not work on it.
	Work func(context.Context, Job) (Done, error)
	// Say, if set, is called with messages for a person.
	Say func(string)
	// Orders, if set, are what a person decides while the swarm runs.
	Orders <-chan Order
	// Workers, if set, runs tasks instead of Work on this machine.
	Workers Workers
	Check   Check
	Now     func() time.Time
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
var errOver = errors.New("the swarm was interrupted")

// loopError is the end of a worker that went in circles with others.
type loopError struct{ what string }

func (e *loopError) Error() string {
	return "the same call was made over and over by several workers, with the same result each time: " + e.what
}

type coordinator struct {
	cfg     Config
	workers Workers
	results chan result
	working sync.WaitGroup
	open    int // goroutines that will send a result
	rested  int // the number of the failure that was rested for
	rest    <-chan time.Time

	taking sync.Mutex // one worker takes a task at a time; guards asked
	asked  int        // workers that were asked and took nothing yet

	mu      sync.Mutex // guards what follows; workers report their calls
	lessons swarm.Lessons
	notes   notes
	circles swarm.LoopDetector
	stop    map[string]context.CancelCauseFunc
	mail    map[string]*mailbox // by worker
	loop    string              // what all workers are told once
	told    map[string]bool
	waited  map[string]int // how often a machine found only tasks that others should take
	said    map[string]bool
}

// result is what became of asking a worker.
type result struct {
	event.TaskReturned
	taken bool  // false: it took no task
	err   error // of the log
}

// Run runs tasks until none is left that can be run, and verifies the merged tree. The
// log must contain a plan. When ctx ends, workers are stopped and their tasks are
// released, and a later Run goes on. If nothing can go on until something outside the
// tasks changes, such as the budget, Run records that the swarm is paused and returns; a
// later Run tries it anew.
func Run(ctx context.Context, cfg Config) error {
	c := &coordinator{
		cfg: cfg, workers: cfg.Workers, results: make(chan result),
		stop: map[string]context.CancelCauseFunc{}, mail: map[string]*mailbox{}, told: map[string]bool{}, waited: map[string]int{}, said: map[string]bool{},
	}
	if c.workers == nil {
		c.workers = localWorkers{cfg}
	}
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(errOver)
	c.notes = notes{store: cfg.Notes, swarm: cfg.ID, say: c.say}
	if err := c.notes.load(ctx, &c.lessons); err != nil {
		return err
	}
	if err := c.goOn(ctx); err != nil {
		return err
	}
	for {
		if err := c.merge(ctx); err != nil {
			return c.abort(ctx, cancel, err)
		}
		for range c.ask() {
			c.open++
			c.working.Go(func() { c.results <- c.work(working) })
		}
		if c.open == 0 {
			over, why, stalled := c.state()
			switch {
			case stalled:
				return c.cfg.Log.Append(ctx, event.Draft{Body: why})
			case over:
				return c.verify(ctx)
			}
		}
		select {
		case r := <-c.results:
			c.open--
			if err := c.returned(ctx, r); err != nil {
				return c.abort(ctx, cancel, err)
			}
		case o := <-c.cfg.Orders:
			o.Done(c.steer(ctx, o.TaskSteered))
		case <-c.rest:
			c.rest = nil
		case <-ctx.Done():
			return c.abort(ctx, cancel, context.Cause(ctx))
		}
	}
}

// ask returns how many more workers are asked to take a task: no more than there are
// tasks that they could take.
func (c *coordinator) ask() int {
	var rest time.Duration
	var n, failures int
	c.taking.Lock()
	defer c.taking.Unlock()
	c.cfg.Log.View(func() {
		rest, failures = c.cfg.Schedule.Rest()
		n = c.cfg.Schedule.Offers(c.asked)
	})
	if failures > c.rested {
		c.rest = time.After(rest)
		c.say(fmt.Sprintf("nothing is begun for %s, since what all workers need failed", rest))
	}
	if c.rested = failures; c.rest != nil {
		return 0
	}
	n = max(0, min(n, max(1, c.cfg.Slots)-c.open))
	c.asked += n
	return n
}

func (c *coordinator) state() (over bool, why event.SwarmPaused, stalled bool) {
	c.cfg.Log.View(func() {
		why, stalled = c.cfg.Schedule.Stalled()
		over = c.cfg.Schedule.Over()
	})
	return over, why, stalled
}

func (c *coordinator) say(line string) {
	if c.cfg.Say != nil {
		c.cfg.Say(line)
	}
}

// abort stops all workers, records their results if possible, and returns the cause.
func (c *coordinator) abort(ctx context.Context, cancel context.CancelCauseFunc, why error) error {
	cancel(errOver)
	if cause := context.Cause(ctx); cause != nil && errors.Is(why, context.Canceled) {
		why = cause // the error of what was cut short is less useful
	}
	for ; c.open > 0; c.open-- {
		why = errors.Join(why, c.returned(ctx, <-c.results))
	}
	c.working.Wait()
	return why
}

// goOn ends the leases that an earlier coordinator died with, and tries anew what failed
// outside the tasks.
func (c *coordinator) goOn(ctx context.Context) error {
	var ds []event.Draft
	c.cfg.Log.View(func() {
		for _, t := range c.cfg.Schedule.Taken() {
			ds = append(ds, event.Draft{Body: event.TaskReturned{
				Task: t.ID, Worker: t.Lease.Worker, Fence: t.Lease.Fence, Outcome: event.TaskReleased, Fault: event.FaultCoordinator, Error: "the process of the swarm died",
			}})
		}
		if c.cfg.Schedule.Held() {
			ds = append(ds, event.Draft{Body: event.SwarmResumed{}})
		}
	})
	if len(ds) == 0 {
		return nil
	}
	return c.cfg.Log.Append(ctx, ds...)
}

// returned records a result, even after ctx has ended, since it was paid for.
func (c *coordinator) returned(ctx context.Context, r result) error {
	if !r.taken {
		return r.err
	}
	c.mu.Lock()
	if c.unheard(r.Worker) && r.Outcome == event.TaskDone {
		r.Outcome, r.Fault, r.Commit, r.Error = event.TaskReleased, event.FaultPerson, "", "it was done before its worker got your message"
	}
	delete(c.mail, r.Worker)
	if r.Outcome == event.TaskFailed {
		for _, k := range r.Checks {
			if !k.Passed() {
				c.fail(swarm.Failure{Worker: r.Worker, Tool: "check", Target: k.Command, Category: "error", Text: k.Output})
			}
		}
	}
	c.mu.Unlock()
	if err := c.cfg.Log.Append(context.WithoutCancel(ctx), event.Draft{Body: r.TaskReturned}); err != nil {
		return err
	}
	var aside []string
	c.cfg.Log.View(func() { aside = c.cfg.Schedule.AllAside() })
	for _, why := range aside {
		if !c.said[why] {
			c.said[why] = true
			c.say(why)
		}
	}
	return nil
}

// fail adds a failure to the lessons. The caller holds c.mu.
func (c *coordinator) fail(f swarm.Failure) {
	c.lessons.AddFailure(f)
	c.notes.keep(noteFailure, f)
}

// merge merges all results that wait for it. One that cannot be merged becomes a
// task of its own.
func (c *coordinator) merge(ctx context.Context) error {
	for more := true; more; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var err error
		if more, err = c.mergeNext(ctx); err != nil {
			return err
		}
	}
	return nil
}

// mergeNext merges one result. No task is taken meanwhile: it would begin from a tree
// that is out of date at once.
func (c *coordinator) mergeNext(ctx context.Context) (more bool, err error) {
	c.taking.Lock()
	defer c.taking.Unlock()
	var t swarm.TaskProgress
	var tip string
	c.cfg.Log.View(func() { t, more = c.cfg.Schedule.Merge(); tip = c.cfg.Schedule.Tip() })
	if !more {
		return false, nil
	}
	if t.Result.Commit == "" { // nothing changed
		return true, c.cfg.Log.Append(ctx, event.Draft{Body: event.TaskMerged{Task: t.ID, Commit: tip}})
	}
	commit, conflicts, err := c.cfg.Trees.Merge(ctx, tip, t.Result.Commit, t.ID)
	if err != nil {
		return false, fmt.Errorf("merge the result of task %s: %w", t.ID, err)
	}
	ds := []event.Draft{{Body: event.TaskMerged{Task: t.ID, Commit: commit}}}
	if commit == "" {
		diff, err := c.cfg.Trees.Diff(ctx, t.Lease.Base, t.Result.Commit)
		if err != nil {
			return false, fmt.Errorf("show the result of task %s: %w", t.ID, err)
		}
		var by event.Task
		c.cfg.Log.View(func() { by = c.cfg.Schedule.Resolve(t, conflicts, diff) })
		ds = []event.Draft{
			{Body: event.SwarmPlanned{Tasks: []event.Task{by}}},
			{Body: event.TaskConflicted{Task: t.ID, Files: conflicts, By: by.ID}},
		}
	}
	return true, c.cfg.Log.Append(ctx, ds...)
}

// saw implements Saw. Workers that repeat the same call are warned once, and stopped if
// they go on.
func (c *coordinator) saw(call swarm.Call, f *swarm.Failure) (tell []string) {
	last := call.Key == ""
	if c.cfg.Saw != nil && !last {
		c.cfg.Saw(call)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	box := c.box(call.Worker)
	box.heard = min(max(box.heard, call.Heard), len(box.texts))
	if last {
		if box.heard >= box.asked {
			return nil
		}
		return box.texts[box.heard:]
	}
	if f != nil {
		c.fail(*f)
	}
	l, found := c.circles.Apply(call)
	switch {
	case found && !l.Again:
		c.loop = fmt.Sprintf("[%d workers made the same call %d times together, with the same result each time: %s. Do not make it again: find another way, or say in your result why there is none.]", len(l.Workers), l.Times, swarm.Line(l.What))
		clear(c.told)
	case found && c.told[call.Worker]:
		if stop := c.stop[call.Worker]; stop != nil {
			stop(&loopError{l.What})
		}
	}
	if c.loop != "" && !c.told[call.Worker] {
		c.told[call.Worker] = true
		box.texts = append(box.texts, c.loop)
	}
	return box.texts[box.heard:]
}

// verify ends the swarm: the merged tree must pass its checks.
func (c *coordinator) verify(ctx context.Context) error {
	var lines, setup []string
	end := event.SwarmEnded{Outcome: event.SwarmVerified}
	ended := false
	c.cfg.Log.View(func() {
		s := c.cfg.Schedule
		ended = s.Ended != nil
		end.Commit, lines, setup = s.Tip(), s.Verify, s.Setups()
		if !s.Whole() {
			end.Outcome = event.SwarmIncomplete
		}
		if len(lines) == 0 {
			lines = s.Accepted()
		}
	})
	if ended {
		c.notes.forget(ctx)
		return nil
	}
	dir, err := c.cfg.Trees.Checkout(ctx, "verify", end.Commit)
	if err != nil {
		return err
	}
	ready := Prepare(ctx, c.cfg.Check, dir, setup)
	checks, failed := []event.TaskCheck(nil), error(nil)
	if ready == nil {
		checks, failed = Passes(ctx, c.cfg.Check, dir, lines)
	}
	if err := c.cfg.Trees.Remove(context.WithoutCancel(ctx), "verify"); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if ready != nil {
		return fmt.Errorf("verify the merged tree: %w", ready)
	}
	if end.Checks = checks; failed != nil && end.Outcome == event.SwarmVerified {
		end.Outcome, end.Error = event.SwarmUnverified, "the merged tree does not pass its checks"
	}
	if err := c.cfg.Log.Append(ctx, event.Draft{Body: end}); err != nil {
		return err
	}
	c.notes.forget(ctx)
	return nil
}
