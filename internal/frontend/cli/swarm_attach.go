package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// quiet is how long the log must be unchanged before pawl checks whether the swarm
// runs.
const quiet = 2 * time.Second

func swarmAttachCommand(a *App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "attach [ID]", Short: "Follow a swarm that runs, the newest of this folder, from its beginning", Args: atMostOne,
		Long: `Follow a swarm that another terminal runs, the newest of this folder: what
happened until now, and then what happens, with the calls of its workers. It
only looks; Ctrl+C ends the looking and not the swarm. On a terminal it is the
screen, with the swarm's tasks as a tree.`,
		RunE: func(c *cobra.Command, args []string) error { return attachToSwarm(c.Context(), a, f, args) },
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "of this folder instead of the current one")
	c.Flags().BoolVar(&f.plain, "plain", false, "print it line by line, without a screen: for screen readers, logs and pipes")
	return c
}

func attachToSwarm(ctx context.Context, a *App, f *flags, args []string) error {
	id, _, err := a.lookAtSwarm(ctx, f, args)
	if err != nil {
		return err
	}
	if shown, err := a.watchSwarm(ctx, f, id); shown || err != nil {
		return err
	}
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	w := &swarmOnlooker{App: a, store: st, id: id, workers: map[string]*workerLog{}}
	for {
		more, err := w.look(ctx)
		if err == nil && !more {
			err = session.SleepFor(ctx, lookEach)
		}
		switch {
		case ctx.Err() != nil:
			return nil // the person stops watching
		case err != nil:
			return err
		case w.over():
			return nil
		case more:
			w.silent = 0
		default:
			if w.silent += lookEach; w.silent < quiet {
				continue
			}
			w.silent = 0
			if runs, err := w.runs(); err != nil || !runs {
				w.say("it does not run; go on with: pawl swarm resume " + id)
				return err
			}
		}
	}
}

// swarmOnlooker follows a swarm's log and those of its workers.
type swarmOnlooker struct {
	*App
	store   event.Store
	id      string
	log     swarmLog
	last    int64
	workers map[string]*workerLog // by session
	silent  time.Duration
}

// workerLog is the position up to which a worker's log was read.
type workerLog struct {
	row  event.Row
	last int64
}

func (w *swarmOnlooker) say(line string) { fmt.Fprintln(w.Out, plain.Line(line)) }

// over reports whether nothing more can come: the swarm has ended and its result is
// written.
func (w *swarmOnlooker) over() bool {
	return w.log.Ended != nil && (w.log.Ended.Outcome != event.SwarmVerified || w.log.written)
}

// look prints what is new, and reports whether there was anything.
func (w *swarmOnlooker) look(ctx context.Context) (more bool, err error) {
	for e, err := range w.store.Read(ctx, w.id, w.last) {
		if err != nil {
			return more, err
		}
		w.last, more = e.Seq, true
		was := w.log.written
		w.log.Apply(e)
		w.event(e, w.log.written && !was)
	}
	if w.log.Count(swarm.Taken) == 0 {
		return more, nil
	}
	rows, err := w.store.Sessions(ctx, "")
	if err != nil {
		return more, err
	}
	for _, r := range rows {
		if r.Parent == nil || r.Parent.Session != w.id {
			continue
		}
		l := w.workers[r.ID]
		if l == nil {
			l = &workerLog{row: r}
			w.workers[r.ID] = l
		}
		if r.Last <= l.last {
			continue
		}
		more = true
		if err := w.worker(ctx, l); err != nil {
			return more, err
		}
	}
	return more, nil
}

func (w *swarmOnlooker) event(e event.Event, written bool) {
	switch b := e.Body.(type) {
	case event.SwarmPlanned:
		if b.Base != "" {
			w.say(fmt.Sprintf("swarm %s: %d tasks: %s", w.id, len(b.Tasks), b.Goal))
		}
	case event.TaskReturned:
		w.say(swarmLine(b) + costOf(b))
	default:
		if line := swarmLine(e.Body); line != "" {
			w.say(line)
		}
	}
	if written {
		w.say("written to your files")
	}
}

func costOf(b event.TaskReturned) string {
	if b.USD == nil || *b.USD == 0 {
		return ""
	}
	return fmt.Sprintf(" ($%.4f)", *b.USD)
}

// worker prints the new calls of a worker.
func (w *swarmOnlooker) worker(ctx context.Context, l *workerLog) error {
	for e, err := range w.store.Read(ctx, l.row.ID, l.last) {
		if err != nil {
			return err
		}
		l.last = e.Seq
		if b, ok := e.Body.(event.CallAsked); ok {
			w.say("    " + l.row.Parent.Call + " · " + callTitle(b))
		}
	}
	return nil
}

// callTitle returns a short description of a call.
func callTitle(b event.CallAsked) string {
	return clipped(cmp.Or(b.Title, strings.TrimSpace(b.Tool+" "+b.Target)), 120)
}

// runs reports whether a process holds the swarm's log.
func (w *swarmOnlooker) runs() (bool, error) {
	h, ok := w.store.(event.Holder)
	if !ok {
		return true, nil
	}
	release, err := h.Hold(w.id)
	if held := (*event.HeldError)(nil); errors.As(err, &held) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	release()
	return false, nil
}
