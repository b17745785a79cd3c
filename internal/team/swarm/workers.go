package swarm

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// AsideError is why a machine gets no more tasks of a swarm.
type AsideError struct{ Why string }

func (e *AsideError) Error() string { return e.Why }

// Begin gives the next task to a worker that is free, on a machine ("" is this one). It
// is called until it gives one. Of its errors, swarm.ErrElsewhere and an *AsideError are
// about the machine: a worker on another one may begin.
type Begin func(machine string) (Job, error)

// Saw must be called with each call of a worker, and with its error if it failed. A text
// that it returns is a message to the worker.
type Saw func(swarm.Call, *swarm.Failure) (tell string)

// Workers runs tasks: on this machine, or on others.
type Workers interface {
	// Do waits for a worker that is free, begins a task and runs it. If err is nil,
	// Done.Commit is a commit in Trees that Check accepted, and the acceptance checks
	// succeeded. Done has the cost also with an error. When ctx ends Do returns soon, and
	// what the worker does after that does not count.
	Do(ctx context.Context, begin Begin, saw Saw) (Done, error)
}

// Job is one task for one worker.
type Job struct {
	Worker string
	Fence  int64  // of the lease
	Base   string // the commit that it begins from
	Task   event.Task
	Dir    string // its tree, the worker's workspace, where it has one
	Prompt string
	Saw    Saw
}

// Done is the result of a task.
type Done struct {
	Reply   string
	Session string // the worker's log
	Model   string
	USD     *float64 // nil: unknown
	Tokens  int64
	Refers  []swarm.Reference // what it found that others may need
	Commit  string            // the base where nothing changed
	Files   []string          // that it changes
	Checks  []event.TaskCheck // the acceptance checks, until one failed
}

// localWorkers runs tasks on this machine, with Config.Work.
type localWorkers struct{ cfg Config }

// Do implements Workers.
func (h localWorkers) Do(ctx context.Context, begin Begin, saw Saw) (done Done, err error) {
	j, err := begin("")
	if err != nil {
		return done, err
	}
	j.Saw = saw
	if j.Dir, err = h.cfg.Trees.Checkout(ctx, j.Worker, j.Base); err != nil {
		return done, Outside(event.FaultMachine, err)
	}
	defer func() { err = errors.Join(err, h.cfg.Trees.Remove(context.WithoutCancel(ctx), j.Worker)) }()
	if done, err = h.cfg.Work(ctx, j); err != nil {
		return done, err
	}
	// The commit comes before the checks: what they write is not part of the result.
	if done.Commit, err = h.cfg.Trees.Commit(ctx, j.Worker, j.Base, j.Task.ID); err != nil {
		return done, err
	}
	if done.Files, err = h.cfg.Trees.Check(ctx, j.Base, done.Commit); err != nil {
		return done, err
	}
	checks, err := Passes(ctx, h.cfg.Check, j.Dir, j.Task.Accept)
	done.Checks = checks
	return done, err
}

// ErrAcceptance is the error for a result whose acceptance checks do not succeed.
var ErrAcceptance = errors.New("an acceptance check did not succeed")

// Passes runs command lines in a tree until one fails.
func Passes(ctx context.Context, check func(ctx context.Context, dir, line string) event.TaskCheck, dir string, lines []string) (checks []event.TaskCheck, err error) {
	for _, line := range lines {
		k := check(ctx, dir, line)
		checks = append(checks, k)
		if k.Exit == nil || *k.Exit != 0 {
			return checks, unaccepted(checks)
		}
	}
	return checks, context.Cause(ctx)
}
