package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Undone is the result of an undo or a redo.
type Undone struct {
	Done, Left []undo.File
}

// Undo executes a plan: all of it, except the files that c leaves out, or
// nothing. It checks every file again and refuses if one has changed since the
// plan was made. *undo.OpenError lists the files that need a decision first.
// The caller must have the session to itself.
func (r *Recorder) Undo(ctx context.Context, p undo.Plan, c undo.Consent) (Undone, error) {
	do, left, err := Choose(p, c)
	if err != nil {
		return Undone{}, err
	}
	if do, left, err = r.leaveOrphans(ctx, do, left); err != nil {
		return Undone{}, err
	}
	out := Undone{Done: do, Left: left}
	if len(do) == 0 {
		return out, fault.NewConfiguration("", "nothing was undone: every file was left out")
	}
	if r.cfg.Locks != nil { // so that no child session writes meanwhile
		ticket := r.cfg.Locks.Reserve(tool.Footprint{Unknown: true})
		defer ticket.Release()
		if err := ticket.Wait(ctx); err != nil {
			return out, err
		}
	}
	if err := r.checkUnchanged(ctx, p, do); err != nil {
		return out, err
	}
	kept := slices.DeleteFunc(slices.Clone(do), func(f undo.File) bool { return f.Sets == nil })
	do = slices.DeleteFunc(slices.Clone(do), func(f undo.File) bool { return f.Sets != nil })
	if len(do) > 0 {
		if err := r.putBack(ctx, p, do); err != nil {
			return out, err
		}
	}
	return r.putBackKept(ctx, p, kept, out)
}

func (r *Recorder) putBack(ctx context.Context, p undo.Plan, do []undo.File) error {
	w, after := p.Record(do)
	ws, err := r.writes(ctx, do)
	if err != nil {
		return err
	}
	if len(ws) == 0 { // every file already is as wanted
		return r.log.Append(ctx, after...)
	}
	_, err = r.write(ctx, r.cfg.Files, w, ws, after...)
	if stale := (*tool.StaleError)(nil); errors.As(err, &stale) {
		err = changedSincePreview(stale.Path)
	}
	return err
}

// Choose returns the files of a plan that c selects, and those that it leaves
// out. It reads no file.
func Choose(p undo.Plan, c undo.Consent) (do, left []undo.File, err error) {
	if do, left, err = p.Choose(c); err != nil {
		err = &fault.Error{
			Category: fault.Configuration, Err: err, Message: "nothing was undone", Hint: "confirm these files, or leave them out",
		}
	}
	return do, left, err
}

func changedSincePreview(paths ...string) error {
	return fault.NewConfiguration("preview it again, then undo", "nothing was undone: %s changed after the preview", strings.Join(paths, ", "))
}

// checkUnchanged checks that a plan still holds.
func (r *Recorder) checkUnchanged(ctx context.Context, p undo.Plan, do []undo.File) error {
	if err := r.cfg.CatchUp(ctx); err != nil {
		return err
	}
	if !eventlog.Query(r.log, func() bool {
		if p.Kind == undo.ByRedo {
			return r.fold.undo.CanRedo(p.Undone)
		}
		return !slices.ContainsFunc(do, func(f undo.File) bool { return !r.fold.undo.InEffect(f.Changes) })
	}) {
		return fault.NewConfiguration("preview it again, then undo", "nothing was undone: somebody undid or redid this after the preview")
	}
	var paths []string
	for _, f := range do {
		if f.Sets != nil && !f.Over { // each of its files is looked at when it is restored
			continue
		}
		now, _, err := r.current(ctx, f.Path)
		if err != nil {
			return err
		}
		if now != f.Now {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) > 0 {
		return changedSincePreview(paths...)
	}
	return nil
}

func (r *Recorder) writes(ctx context.Context, do []undo.File) ([]tool.Write, error) {
	var ws []tool.Write
	for _, f := range do {
		w := tool.Write{Path: f.Path, Expect: f.Now.Hash, NoFollow: true, Mode: f.Mode}
		switch f.Action {
		case undo.Same:
			continue
		case undo.Delete:
			w.Remove, w.Folders, w.Mode = true, f.Folders, 0
		case undo.Beside:
			w.Data = f.Data
		default:
			data, err := r.blob(ctx, f.To)
			if err != nil {
				return nil, fmt.Errorf("undo %s: %w", f.Path, err)
			}
			w.Data = data
		}
		ws = append(ws, w)
	}
	undo.SortWrites(ws)
	return ws, nil
}
