package swarm

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// ErrLost is matched by the error for a worker that stopped answering. Its task counts
// as tried, since the task itself may have killed it.
var ErrLost = errors.New("the worker was lost")

// ErrUnable is matched by the error for a worker whose machine could not begin a task:
// no key for its model, no space on its disk. Another one may be able to.
var ErrUnable = errors.New("the worker's machine could not begin the task")

// ErrElsewhere is matched by the error for a task that another worker should begin, and
// that does not count as a try.
var ErrElsewhere = errors.New("another worker takes it")

// Workers runs tasks: on this machine, or on others.
type Workers interface {
	// Do runs a task. If err is nil, Done.Commit is a commit in Trees that Check
	// accepted, and the acceptance checks succeeded. Done has the cost also with an
	// error. When ctx ends Do returns soon, and what the worker does after that does
	// not count.
	Do(context.Context, Job) (Done, error)
}

// Job is one task for one worker.
type Job struct {
	Worker string
	Fence  int64  // of the lease
	Base   string // the commit that it begins from
	Task   event.Task
	Dir    string // its tree, the worker's workspace, where it has one
	Prompt string
	// Saw must be called with each call of the worker, and with its error if it failed.
	// A text that it returns is a message to the worker.
	Saw func(swarm.Call, *swarm.Failure) (tell string)
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
	Checks  []event.TaskCheck // the acceptance checks, until one failed
}

// localWorkers runs tasks on this machine, with Config.Work.
type localWorkers struct{ cfg Config }

// Do implements Workers.
func (h localWorkers) Do(ctx context.Context, j Job) (done Done, err error) {
	if j.Dir, err = h.cfg.Trees.Checkout(ctx, j.Worker, j.Base); err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, h.cfg.Trees.Remove(context.WithoutCancel(ctx), j.Worker)) }()
	if done, err = h.cfg.Work(ctx, j); err != nil {
		return done, err
	}
	// The commit comes before the checks: what they write is not part of the result.
	if done.Commit, err = h.cfg.Trees.Commit(ctx, j.Worker, j.Base, j.Task.ID); err != nil {
		return done, err
	}
	if err = h.cfg.Trees.Check(ctx, j.Base, done.Commit); err != nil {
		return done, err
	}
	checks, ok := Passes(ctx, h.cfg.Check, j.Dir, j.Task.Accept)
	if done.Checks = checks; !ok {
		return done, ErrAcceptance
	}
	return done, nil
}

// ErrAcceptance is the error for a result whose acceptance checks do not succeed.
var ErrAcceptance = errors.New("an acceptance check did not succeed")

// Passes runs command lines in a tree until one fails.
func Passes(ctx context.Context, check func(ctx context.Context, dir, line string) event.TaskCheck, dir string, lines []string) (checks []event.TaskCheck, ok bool) {
	for _, line := range lines {
		k := check(ctx, dir, line)
		checks = append(checks, k)
		if k.Exit == nil || *k.Exit != 0 {
			return checks, false
		}
	}
	return checks, ctx.Err() == nil
}
