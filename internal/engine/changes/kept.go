package changes

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file records what is kept of what confined commands remove, replace or empty, and
// restores it (SPEC 16.15). The supervisor of the sandbox keeps it while they run.

// keeps reports whether all that a command ends is kept, or asked about when it does.
func (r *Recorder) keeps(c process.Confine) bool {
	return r.cfg.Kept != nil && c.Level == process.Workspace
}

// keepingOf returns where the removals of a call are kept, nil for nowhere.
func (r *Recorder) keepingOf(p *turn.Pending) process.Keep {
	if r.cfg.Kept == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.keeping[p] == nil {
		r.keeping[p] = r.cfg.Kept.Begin()
	}
	return r.keeping[p]
}

// takeKeeping is the end of keepingOf.
func (r *Recorder) takeKeeping(p *turn.Pending) tool.Keeping {
	r.mu.Lock()
	defer r.mu.Unlock()
	k := r.keeping[p]
	delete(r.keeping, p)
	return k
}

// watched adds to the paths that a command names those that the sandbox sees it change.
func (r *Recorder) watched(named undo.NamedPaths, k tool.Keeping) undo.NamedPaths {
	if k != nil {
		named.Left = func(path string) (there, known bool) { return k.Left(r.absolute(path)) }
	}
	return named
}

// finishKept adds to a command's changes what was kept, except for files of which the log
// has the content. It marks those whose content only the set has.
func (r *Recorder) finishKept(k tool.Keeping, call string, ds []event.Draft) []event.Draft {
	if k == nil {
		return ds
	}
	set, err := k.Finish(r.logged(ds))
	if err != nil {
		return append(ds, event.Draft{Body: event.Warned{What: event.WarnedJournal, Text: "undo cannot restore what a command removed: " + err.Error()}})
	}
	for i, d := range ds {
		if c, ok := d.Body.(event.FileChanged); ok && len(set.Items) > 0 && !(c.Kept && c.Before != "") && set.Covers(r.absolute(c.Path)) {
			c.Stored = true
			ds[i].Body = c
		}
	}
	return append(ds, r.keptDrafts(set, call)...)
}

func (r *Recorder) keptDrafts(set tool.KeptSet, call string) []event.Draft {
	var ds []event.Draft
	by := r.toolOf(call)
	for _, i := range set.Items {
		ds = append(ds, event.Draft{Body: event.Kept{Call: call, Tool: by, Path: r.relative(i.Path), Set: set.Name, Files: i.Files, Bytes: i.Bytes}})
	}
	return ds
}

// logged lists the files whose content before the changes is in the log.
func (r *Recorder) logged(ds []event.Draft) map[string]bool {
	out := map[string]bool{}
	for _, c := range fileChanges(ds) {
		if c.Kept && c.Before != "" {
			out[r.absolute(c.Path)] = true
		}
	}
	return out
}

func (r *Recorder) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.cfg.Dir, path)
}

func (r *Recorder) relative(path string) string {
	if rel, err := filepath.Rel(r.cfg.Dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// keptBlocked returns why a set cannot be restored at a path now.
func (r *Recorder) keptBlocked(set, path string) string {
	if r.cfg.Kept == nil {
		return "its old content is no longer kept"
	}
	return r.cfg.Kept.Blocked(set, r.absolute(path))
}

// putBackKept restores the files of a plan that sets keep, the newest sets first, and
// records it. What somebody else's files are in the way of stays kept.
func (r *Recorder) putBackKept(ctx context.Context, p undo.Plan, files []undo.File, out Undone) (Undone, error) {
	if len(files) == 0 {
		return out, nil
	}
	type part struct {
		seq  int64
		set  string
		file int
	}
	var parts []part
	for i, f := range files {
		for n, set := range f.Sets {
			parts = append(parts, part{f.Changes[n], set, i})
		}
	}
	sorting.By(parts, func(a, b part) int { return int(b.seq - a.seq) })
	var errs []error
	failed := map[int]bool{}
	for _, x := range parts {
		left, err := r.cfg.Kept.Restore(x.set, r.absolute(files[x.file].Path), files[x.file].Over)
		if err != nil {
			errs, failed[x.file] = append(errs, err), true
		}
		for _, l := range left {
			out.Left = append(out.Left, undo.File{Path: r.relative(l), Action: undo.Clash, Why: "another file of that name is there now"})
		}
	}
	var done []undo.File
	for i, f := range files {
		if !failed[i] {
			done = append(done, f)
		}
	}
	if len(done) > 0 {
		_, after := p.Record(done)
		errs = append(errs, r.log.Append(context.WithoutCancel(ctx), after...))
	}
	return out, errors.Join(errs...)
}
