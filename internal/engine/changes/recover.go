package changes

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file completes what a dead process left open.

// recent is what was recorded of a file since the last command ended, oldest
// first, so that a snapshot after a crash records nothing twice.
type recent []event.FileChanged

// hasBefore reports whether the record continues from the state before an effect.
func (r recent) hasBefore(e tool.Effect) bool {
	return slices.ContainsFunc(r, func(c event.FileChanged) bool { return c.Before == e.Before })
}

// covers reports whether an effect is recorded already: the record ends with the
// same content, or the file is as recorded and had the effect's content in
// between.
func (r recent) covers(e tool.Effect, now tool.Hash) bool {
	last := r[len(r)-1]
	if e.After == last.After {
		const link = uint32(fs.ModeSymlink)
		return e.Mode == last.Mode || e.Mode&last.Mode&link != 0 || last.Mode == 0 && e.Before != e.After
	}
	return now == last.After && slices.ContainsFunc(r, func(c event.FileChanged) bool { return c.After == e.After })
}

// unrecorded removes effects that are recorded already from those that a
// snapshot after a crash found.
func (r *Recorder) unrecorded(ctx context.Context, es []tool.Effect) []tool.Effect {
	known := eventlog.Query(r.log, func() map[string]recent { return maps.Clone(r.fold.recent) })
	var out []tool.Effect
	for _, e := range es {
		if rec := known[e.Path]; rec.hasBefore(e) {
			now, _, err := r.current(ctx, e.Path)
			if err == nil && rec.covers(e, now.Hash) {
				continue
			}
			last := rec[len(rec)-1]
			e.Before, e.ModeBefore = last.After, cmp.Or(last.Mode, e.ModeBefore) // only the rest came after it
		}
		out = append(out, e)
	}
	return out
}

// Recover returns the drafts for changes that an earlier process had not
// recorded when it died: those of a command that ran, and of interrupted
// writes. open are the calls without a result. recorded must be called after
// the drafts were recorded.
func (r *Recorder) Recover(ctx context.Context, open []llm.Call) (ds []event.Draft, recorded func() error) {
	ds, compared := r.recoverCommandChanges(ctx, open)
	recorded = func() error { return nil }
	if compared {
		recorded = func() error {
			r.tracker.mu.Lock()
			defer r.tracker.mu.Unlock()
			return r.tracker.checkpoint(r, "")
		}
	}
	if r.cfg.Kept != nil && !r.cfg.Agent {
		call := "" // of a background command
		if len(open) > 0 {
			call = open[len(open)-1].ID
		}
		for _, set := range r.cfg.Kept.Recover(r.logged(ds)) {
			ds = append(ds, r.keptDrafts(set, call)...)
		}
	}
	return append(ds, r.recoverWrites(ctx)...), recorded
}

// recoverCommandChanges finds the changes of the command that was running when
// pawl died, or changes by somebody else meanwhile. compared reports whether the
// next checkpoint is this session's to make.
func (r *Recorder) recoverCommandChanges(ctx context.Context, open []llm.Call) (ds []event.Draft, compared bool) {
	if r.tracker == nil || len(open) == 0 {
		return nil, false
	}
	if asked := eventlog.Query(r.log, func() []event.CallAsked { return slices.Clone(r.fold.open) }); !r.cfg.Agent && len(open) == 1 && len(asked) == 1 && asked[0].Does != tool.Exec {
		return nil, false // it ran nothing
	}
	ctx, cancel := context.WithTimeout(ctx, recoverTime)
	defer cancel()
	r.tracker.mu.Lock()
	defer r.tracker.mu.Unlock()
	l, err := r.tracker.firstSnapshot(ctx)
	if err != nil {
		return nil, false // not known: the call is closed as outcome unknown
	}
	// It may be no open call's: a background command's call may be done.
	id, call, ok := strings.Cut(l.Tag, "/")
	if ok && id == r.cfg.Session {
		return r.storeEffects(ctx, call, r.unrecorded(ctx, l.Effects), nil), true
	}
	if ok { // another session's, which may be opened next
		r.tracker.unclaimed = &l
		return nil, false
	}
	return nil, true
}

// firstSnapshot returns the first snapshot after a crash. There is only one, and
// the first session that asks may not be the one that it belongs to. Callers
// hold mu.
func (t *tracker) firstSnapshot(ctx context.Context) (tool.Snapshot, error) {
	if t.unclaimed != nil {
		l := *t.unclaimed
		t.unclaimed = nil
		return l, nil
	}
	l, err := t.Snapshot(ctx, nil)
	t.compared = t.compared || err == nil
	return l, err
}

// recoverWrites handles the writes that a crash interrupted. Files that were
// written are recorded as changed. A partly written undo is completed, unless
// somebody changed one of its files since.
func (r *Recorder) recoverWrites(ctx context.Context) []event.Draft {
	var ds []event.Draft
	for _, i := range eventlog.Query(r.log, r.fold.undo.Intents) {
		fate := i.Outcome(func(path string) (tool.Hash, bool) {
			f, err := r.cfg.Files.ReadNoFollow(ctx, path, 0)
			return f.Hash, err == nil || errors.Is(err, fs.ErrNotExist)
		})
		done := r.rollForward(ctx, i, &fate)
		for _, c := range fate.Done {
			c.Unattributed = len(fate.Lost) > 0 // the set of files is not complete
			done = append(done, event.Draft{Body: c})
		}
		if len(done) == 0 {
			done = []event.Draft{{Body: event.Writing{Call: i.Call, Tool: i.Tool}}}
		}
		done = append(done, r.partialUndo(i.Writing, done)...)
		ds = append(ds, done...)
		if text := fate.Explain(i); text != "" {
			ds = append(ds, event.Draft{Body: event.Warned{What: event.WarnedUndo, Text: text}})
		}
	}
	return ds
}

func (r *Recorder) rollForward(ctx context.Context, i undo.Intent, fate *undo.IntentOutcome) []event.Draft {
	if i.Undone == nil && i.Redone == nil || len(fate.Done) == 0 || len(fate.Due) == 0 || len(fate.Lost) > 0 {
		return nil
	}
	var ws []tool.Write
	for _, c := range fate.Due {
		w := tool.Write{Path: c.Path, Expect: c.Before, Remove: c.After == "", NoFollow: true, Mode: c.Mode}
		if w.Remove {
			w.Folders = c.Folders
		} else {
			data, err := r.cfg.Store.Get(ctx, string(c.After))
			if err != nil {
				return nil
			}
			w.Data = data
		}
		ws = append(ws, w)
	}
	cs, err := r.writeFiles(ctx, r.cfg.Files, ws)
	if err == nil {
		fate.Due = nil
	}
	return changeDrafts(i.Writing, cs)
}
