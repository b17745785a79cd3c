package swarmrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// How often another process's swarm is polled, and how long its log must be unchanged
// before Follow checks whether the process still runs.
const (
	pollEvery = 250 * time.Millisecond
	quiet     = 2 * time.Second
)

// Follow prints what has happened in a swarm of another process and then what happens,
// with the calls of its workers, until the swarm or ctx ends.
func Follow(ctx context.Context, e *setup.Environment, id string, out io.Writer) error {
	st, err := openStore(ctx, e)
	if err != nil {
		return err
	}
	defer st.Close()
	f := &follower{out: out, store: st, log: Log{ID: id}, read: map[string]int64{}}
	for silent := time.Duration(0); ; {
		more, err := f.printNew(ctx)
		if err == nil && !more {
			err = session.SleepFor(ctx, pollEvery)
		}
		switch {
		case ctx.Err() != nil:
			return nil // the person stops watching
		case err != nil:
			return err
		case f.log.Over():
			return nil
		case more:
			silent = 0
		default:
			if silent += pollEvery; silent < quiet {
				continue
			}
			silent = 0
			if runs, err := f.runs(); err != nil || !runs {
				f.say("it does not run; to continue: " + resume(id))
				return err
			}
		}
	}
}

// follower prints a swarm's log and those of its workers.
type follower struct {
	out   io.Writer
	store event.Store
	log   Log
	read  map[string]int64 // the last event that was read, by session
}

func (f *follower) say(line string) { fmt.Fprintln(f.out, plain.Line(line)) }

// printNew prints new events, and reports whether there were any.
func (f *follower) printNew(ctx context.Context) (more bool, err error) {
	more, err = f.each(ctx, f.log.ID, func(e event.Event) {
		before := f.log.written
		f.log.Apply(e)
		f.print(e.Body)
		if f.log.written && !before {
			f.say("written to your files")
		}
	})
	if err != nil || f.log.Count(swarm.Taken) == 0 {
		return more, err
	}
	rows, err := f.store.Sessions(ctx, "")
	for _, r := range rows {
		if r.Parent == nil || r.Parent.Session != f.log.ID || r.Last <= f.read[r.ID] {
			continue
		}
		more = true
		if _, err := f.each(ctx, r.ID, func(e event.Event) {
			if b, ok := e.Body.(event.CallAsked); ok {
				f.say("    " + r.Parent.Call + " · " + callTitle(b))
			}
		}); err != nil {
			return more, err
		}
	}
	return more, err
}

// each calls do with each new event of a session, and reports whether there were any.
func (f *follower) each(ctx context.Context, id string, do func(event.Event)) (more bool, err error) {
	for e, err := range f.store.Read(ctx, id, f.read[id]) {
		if err != nil {
			return more, err
		}
		f.read[id], more = e.Seq, true
		do(e)
	}
	return more, nil
}

func (f *follower) print(body event.Body) {
	line := lineOf(body)
	switch b := body.(type) {
	case event.SwarmPlanned:
		if b.Base != "" {
			line = fmt.Sprintf("swarm %s: %s: %s", f.log.ID, plural.Of(len(b.Tasks), "task"), b.Goal)
		}
	case event.TaskReturned:
		if b.USD != nil && *b.USD != 0 {
			line += fmt.Sprintf(" ($%.4f)", *b.USD)
		}
	}
	if line != "" {
		f.say(line)
	}
}

// callTitle returns a short description of a call.
func callTitle(b event.CallAsked) string {
	return cut.Runes(cmp.Or(b.Title, strings.TrimSpace(b.Tool+" "+b.Target)), 120)
}

// runs reports whether a process holds the swarm's log.
func (f *follower) runs() (bool, error) {
	h, ok := f.store.(event.Holder)
	if !ok {
		return true, nil
	}
	release, err := h.Hold(f.log.ID)
	if held := (*event.HeldError)(nil); errors.As(err, &held) {
		return true, nil
	}
	if err == nil {
		release()
	}
	return false, err
}
