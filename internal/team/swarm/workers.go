package swarm

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// AsideError is why a machine gets no more tasks of a swarm.
type AsideError struct{ Why string }

func (e *AsideError) Error() string { return e.Why }

// Begin gives the next task to a worker that is free, on a machine ("" is this one) with
// these labels. It
// is called until it gives one. Of its errors, swarm.ErrElsewhere and an *AsideError are
// about the machine: a worker on another one may begin.
type Begin func(machine string, labels ...string) (Job, error)

// Saw must be called with each call of a worker, and with its error if it failed. It
// returns the messages for the worker after the first Call.Heard of them. A call without
// a key is none: the worker is done, and asks whether a person has more for it.
type Saw func(swarm.Call, *swarm.Failure) (tell []string)

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

func (h localWorkers) Do(ctx context.Context, begin Begin, saw Saw) (done Done, err error) {
	j, err := begin("", h.cfg.Labels...)
	if err != nil {
		return done, err
	}
	j.Saw = saw
	if j.Dir, err = h.cfg.Trees.Checkout(ctx, j.Worker, j.Base); err != nil {
		return done, Outside(event.FaultMachine, err)
	}
	defer func() { err = errors.Join(err, h.cfg.Trees.Remove(context.WithoutCancel(ctx), j.Worker)) }()
	if err := Prepare(ctx, h.cfg.Check, j.Dir, j.Task.Setup); err != nil {
		return done, err
	}
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

// Prepare runs the setup of a tree. Its failure is the machine's fault: a task's own
// command lines are its checks.
func Prepare(ctx context.Context, check Check, dir string, setup []string) error {
	ks, err := Passes(ctx, check, dir, setup)
	if err == nil || ctx.Err() != nil {
		return err
	}
	k := ks[len(ks)-1]
	if k.Missing != "" {
		return unaccepted(ks)
	}
	return Outside(event.FaultMachine, fmt.Errorf("the setup %q did not succeed: %s", k.Command, strings.TrimSpace(k.Output)))
}

// ErrAcceptance is the error for a result whose acceptance checks do not succeed.
var ErrAcceptance = errors.New("an acceptance check did not succeed")

// Check runs command lines in a tree until one fails, and returns their results.
type Check func(ctx context.Context, dir string, lines ...string) []event.TaskCheck

// Each returns a Check that runs one line after the other.
func Each(run func(ctx context.Context, dir, line string) event.TaskCheck) Check {
	return func(ctx context.Context, dir string, lines ...string) (checks []event.TaskCheck) {
		for _, line := range lines {
			if checks = append(checks, run(ctx, dir, line)); !checks[len(checks)-1].Passed() {
				break
			}
		}
		return checks
	}
}

// Passes runs the checks of a tree, and returns an error if one fails.
func Passes(ctx context.Context, check Check, dir string, lines []string) ([]event.TaskCheck, error) {
	if len(lines) == 0 {
		return nil, context.Cause(ctx)
	}
	checks := check(ctx, dir, lines...)
	if !checks[len(checks)-1].Passed() {
		return checks, unaccepted(checks)
	}
	return checks, context.Cause(ctx)
}
