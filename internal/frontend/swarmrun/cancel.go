package swarmrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// Another process cancels a swarm with a file beside its trees. The process that runs
// the swarm polls for the file, ends its workers, and records the end. If no process
// runs the swarm, the canceller does that.
const (
	cancelFile = "cancel"
	keepTrees  = "keep" // the text of the file
	endWithin  = 2 * time.Minute
)

var errCancelled = errors.New("the swarm was cancelled")

// cancel is At.Cancel for a swarm of this machine.
func cancel(ctx context.Context, e *setup.Environment, l *Log, keep bool) (done string, err error) {
	home, err := swarmHome(e.Env, l.ID)
	if err != nil {
		return "", err
	}
	for waited := time.Duration(0); l.Ended == nil; waited += pollEvery {
		held := (*event.HeldError)(nil)
		switch err := here(ctx, e, l, home, func(r *run) error { return r.cancel(ctx, keep) }); {
		case err == nil:
		case !errors.As(err, &held):
			return "", err
		case waited >= endWithin:
			return "", fault.NewConfiguration("end the process that runs it", "the swarm %s has not ended: %s", l.ID, held.Error())
		default:
			if err := requestCancel(home, keep); err != nil {
				return "", err
			}
			if err := session.SleepFor(ctx, pollEvery); err != nil {
				return "", context.Cause(ctx)
			}
		}
		if l, err = Find(ctx, e, "", l.ID); err != nil {
			return "", err
		}
	}
	_ = os.Remove(filepath.Join(home, cancelFile)) // if the swarm had ended before,
	_ = os.Remove(home)                            // or after the trees were removed
	if l.Ended.Outcome != event.SwarmCancelled {
		return fmt.Sprintf("swarm %s had ended before: %s", l.ID, l.Ended.Outcome), nil
	}
	if !keep { // the process that ran it may still be doing that
		if err := removeTrees(home); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("swarm %s is cancelled: %d of %d tasks were merged, and nothing is written to your files; %s", l.ID, l.Count(swarm.Merged), l.Len(), treesLeft(home)), nil
}

// requestCancel asks the process that runs a swarm to end it.
func requestCancel(home string, keep bool) error {
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	text := ""
	if keep {
		text = keepTrees
	}
	return os.WriteFile(filepath.Join(home, cancelFile), []byte(text), 0o600)
}

func treesLeft(home string) string {
	if _, err := os.Stat(home); err != nil {
		return "its trees are removed"
	}
	return "its trees are kept in " + home
}

// here does something to a swarm that no process runs. It returns a HeldError for a
// running one.
func here(ctx context.Context, e *setup.Environment, l *Log, home string, do func(*run) error) error {
	r := &run{Swarm: Swarm{Environment: e}, home: home, show: func(string) {}}
	var err error
	if r.o, err = e.Open(ctx, &setup.Options{Resume: l.ID, Dir: l.Dir}, setup.Frontend{Name: setup.SwarmFront, ReadOnly: true, Configure: func(c *session.Config) { c.ReadOnly, c.Fold = false, &r.log }}); err != nil {
		return err
	}
	defer r.o.Close()
	return do(r)
}

// cancel records that the swarm is cancelled and removes its trees. Its workers' costs
// are settled already: each worker was waited for, or has died.
func (r *run) cancel(ctx context.Context, keep bool) error {
	if err := team.Cancel(context.WithoutCancel(ctx), r, &r.log.Schedule); err != nil || keep {
		return err
	}
	return removeTrees(r.home)
}

// watchForCancel returns a context that ends when another process cancels the swarm.
func (r *run) watchForCancel(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		for session.SleepFor(ctx, pollEvery) == nil {
			if _, err := os.Stat(filepath.Join(r.home, cancelFile)); err == nil {
				cancel(errCancelled)
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// cancelled ends a run that another process cancelled.
func (r *run) cancelled(ctx context.Context) (Result, error) {
	text, _ := os.ReadFile(filepath.Join(r.home, cancelFile))
	if err := r.cancel(ctx, strings.TrimSpace(string(text)) == keepTrees); err != nil {
		return Result{}, err
	}
	return Result{Report: r.log.Report(), NotWritten: "cancelled: nothing was written to your files; " + treesLeft(r.home)}, nil
}
