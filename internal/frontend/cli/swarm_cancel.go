package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// Another process cancels a swarm with a file beside its trees. The process that runs
// the swarm polls for the file, ends its workers, and records the end. If no process
// runs the swarm, the canceller does that.
const (
	cancelFile = "cancel"
	keepTrees  = "keep"
	lookEach   = 250 * time.Millisecond
	endWithin  = 2 * time.Minute
)

var errCancelled = errors.New("the swarm was cancelled")

func swarmCancelCommand(a *App) *cobra.Command {
	f := &flags{}
	var keep bool
	c := &cobra.Command{
		Use: "cancel [ID]", Short: "End a swarm, the newest of this folder: nothing of it is written to your files", Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error { return cancelSwarm(c.Context(), a, f, args, keep) },
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "of this folder instead of the current one")
	c.Flags().BoolVar(&keep, "keep-trees", false, "keep the trees of files and what was merged, and say where they are")
	return c
}

func cancelSwarm(ctx context.Context, a *App, f *flags, args []string, keep bool) error {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	id, l, err := a.lookAtSwarm(ctx, f, args)
	if err != nil {
		return err
	}
	home, err := swarmHome(a.Env, id)
	if err != nil {
		return err
	}
	for waited := time.Duration(0); l.Ended == nil; waited += lookEach {
		held := (*event.HeldError)(nil)
		switch err := cancelHere(ctx, a, &setup.Options{Resume: id, Dir: l.dir}, home, keep); {
		case err == nil:
		case !errors.As(err, &held):
			return err
		case waited >= endWithin:
			return fault.NewConfiguration("end the process that runs it", "the swarm %s was told to end and has not: %s", id, held.Error())
		default:
			if err := ask(home, keep); err != nil {
				return err
			}
			if err := session.SleepFor(ctx, lookEach); err != nil {
				return context.Cause(ctx)
			}
		}
		if _, l, err = a.lookAtSwarm(ctx, f, []string{id}); err != nil {
			return err
		}
	}
	_ = os.Remove(filepath.Join(home, cancelFile)) // it was too late,
	_ = os.Remove(home)                            // or came after the trees had gone
	if l.Ended.Outcome != event.SwarmCancelled {
		fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("swarm %s had ended before: %s", id, l.Ended.Outcome)))
		return nil
	}
	if !keep { // the process that ran it may still be doing that
		if err := os.RemoveAll(home); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("swarm %s is cancelled: %d of %d tasks were merged, and nothing is written to your files; %s", id, l.Count(swarm.Merged), l.Len(), treesLeft(home))))
	return nil
}

// ask asks the process that runs a swarm to end it.
func ask(home string, keep bool) error {
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

// cancelHere cancels a swarm that no process runs. It returns a HeldError for a running
// one.
func cancelHere(ctx context.Context, a *App, opt *setup.Options, home string, keep bool) error {
	r := &swarmRun{App: a, f: &swarmFlags{flags: flags{Options: *opt}}, home: home}
	var err error
	if r.o, err = a.Open(ctx, opt, setup.Frontend{Name: setup.SwarmFront, ReadOnly: true, Configure: func(c *session.Config) { c.ReadOnly, c.Fold = false, &r.log }}); err != nil {
		return err
	}
	defer r.o.Close()
	return r.cancel(ctx, keep)
}

// cancel records that the swarm is cancelled and removes its trees. Its workers' costs
// are settled before: each was waited for, or has died.
func (r *swarmRun) cancel(ctx context.Context, keep bool) error {
	ctx = context.WithoutCancel(ctx)
	if err := team.Cancel(ctx, r, &r.log.Schedule); err != nil || keep {
		return err
	}
	return os.RemoveAll(r.home)
}

// heed returns a context that ends when another process cancels the swarm.
func (r *swarmRun) heed(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		look := time.NewTicker(lookEach)
		defer look.Stop()
		for {
			select {
			case <-over:
				return
			case <-look.C:
			}
			if _, err := os.Stat(filepath.Join(r.home, cancelFile)); err == nil {
				cancel(errCancelled)
				return
			}
		}
	}()
	return ctx, func() { close(over); <-done; cancel(nil) }
}

// cancelled ends a run that another process cancelled.
func (r *swarmRun) cancelled(ctx context.Context) error {
	text, _ := os.ReadFile(filepath.Join(r.home, cancelFile))
	if err := r.cancel(ctx, strings.TrimSpace(string(text)) == keepTrees); err != nil {
		return err
	}
	if err := printSwarm(r.Out, team.ReportOf(&r.log.Schedule), r.f.json); err != nil {
		return err
	}
	r.say("cancelled: nothing was written to your files; " + treesLeft(r.home))
	return &exitError{code: 9}
}
