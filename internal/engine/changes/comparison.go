package changes

import (
	"context"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file is the journal as a stage around a call. The workspace is compared
// before and after a call whose footprint is not known, whatever its tool does.
// A call with a known footprint needs no comparison.

// comparison is the state of such a call between its two snapshots.
type comparison struct {
	named      undo.NamedPaths
	ignored    []string // files that it will destroy and that have no copy
	background bool     // it started a command that is still running
}

func (r *Recorder) comparisonOf(p *turn.Pending) *comparison {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.comparisons[p]
}

// Start implements turn.Starter: the snapshot before a call.
func (r *Recorder) Start(ctx context.Context, p *turn.Pending) *turn.Refusal {
	if r.tracker == nil || !p.Footprint.Unknown {
		return nil
	}
	c := &comparison{named: r.workspace().PathsNamedBy(p.Footprint.Commands)}
	if err := r.tracker.begin(ctx, r, p.Call.ID, c.named); err != nil {
		r.tracker.abandon()
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	if !r.keeps(p.Confine) {
		c.ignored = r.ignored(ctx, p.Footprint.Commands)
	}
	r.mu.Lock()
	r.comparisons[p] = c
	r.mu.Unlock()
	return nil
}

// After implements turn.After: the snapshot after a call. It is also taken if
// the call failed or was interrupted, since its changes remain.
func (r *Recorder) After(ctx context.Context, ran *turn.Ran) error {
	c, keeping := r.comparisonOf(ran.Pending), r.takeKeeping(ran.Pending)
	if c == nil {
		if ds := r.finishKept(keeping, ran.Call.ID, nil); len(ds) > 0 {
			return r.log.Append(context.WithoutCancel(ctx), ds...)
		}
		return nil
	}
	if ran.Started && !c.background && (ran.Confine.Level == process.ReadOnly || keeping != nil && !keeping.Touched(r.cfg.Dir, filepath.Join(r.cfg.Dir, ".git"))) {
		ran.Untouched()
	}
	r.mu.Lock()
	delete(r.comparisons, ran.Pending)
	r.mu.Unlock()
	if !ran.Started {
		r.tracker.commandNotStarted(r, ran.Call.ID)
	}
	if !ran.Started || c.background {
		r.tracker.abandon()
		return nil
	}
	ds, blind, err := r.tracker.end(ctx, r, ran.Call.ID, r.watched(c.named, keeping))
	if err != nil {
		return err
	}
	ds = r.finishKept(keeping, ran.Call.ID, ds)
	cs := fileChanges(ds)
	if err := r.log.Append(context.WithoutCancel(ctx), append(ds, notRestorable(r.removedOf(ctx, c.ignored), cs)...)...); err != nil {
		return err
	}
	ran.Changed(cs...)
	r.addChangeNotes(ran, cs, c.named, blind, r.destroyedNote(ctx, c.ignored))
	return r.tracker.checkpointAfter(r)
}

// addChangeNotes adds a note about the changes to a call's result. The person is told,
// too, what cannot be restored.
func (r *Recorder) addChangeNotes(ran *turn.Ran, cs []event.FileChanged, named undo.NamedPaths, blind bool, more string) {
	told, lost := r.changeNotes(cs, named)
	lost += more
	if blind {
		lost += "[pawl could not record what this command changed: undo may not restore it]\n"
	}
	if told+lost != "" {
		ran.Note(told + lost)
	}
	if lost != "" {
		r.log.Publish(event.OutputDelta{Call: ran.Call.ID, Text: lost})
	}
}
