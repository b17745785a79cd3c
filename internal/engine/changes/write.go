package changes

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// This file writes files. The contents are stored and the intent is in the log
// before the first file is touched; the changes are recorded after the last
// one. So no change exists that undo does not know: writes that a crash
// interrupted are found when the session is opened again.

// keepLimit is the size limit of a stored content, in bytes: the default limit
// of tool.Files.
const keepLimit = 16 << 20

// write executes writes through a view of the files. w describes their origin;
// after is recorded together with the changes if all succeeded.
func (r *Recorder) write(ctx context.Context, files tool.Files, w event.Writing, ws []tool.Write, after ...event.Draft) ([]tool.Change, error) {
	for _, req := range ws {
		cs, err := r.storeContents(ctx, w, req)
		if err != nil {
			return nil, err
		}
		w.Files = append(w.Files, cs...)
	}
	if err := r.log.Append(ctx, event.Draft{Body: w}); err != nil {
		return nil, err
	}
	cs, err := r.writeFiles(ctx, files, ws)
	ds := changeDrafts(w, cs)
	switch {
	case err == nil:
		ds = append(ds, after...)
	case len(cs) == 0:
		ds = []event.Draft{{Body: event.Writing{Call: w.Call, Tool: w.Tool}}}
	default: // changes that could not be rolled back
		ds = append(ds, r.partialUndo(w, ds)...)
	}
	return cs, errors.Join(err, r.log.Append(context.WithoutCancel(ctx), ds...))
}

// Apply writes whole files without a call, as one change.
func (r *Recorder) Apply(ctx context.Context, by string, ws []tool.Write) ([]tool.Change, error) {
	r.RecordBackground(ctx) // changes by background commands come before
	return r.write(ctx, r.cfg.Files, event.Writing{Tool: by, Does: tool.Edit, Whole: true}, ws)
}

// writeFiles writes, and tells the journal, so that it does not attribute the change
// to a command.
func (r *Recorder) writeFiles(ctx context.Context, files tool.Files, ws []tool.Write) ([]tool.Change, error) {
	cs, err := files.WriteAll(ctx, ws)
	r.tracker.wrote(cs)
	return cs, err
}

// storeContents stores the old and the new content of a write, and returns what the
// write will change.
func (r *Recorder) storeContents(ctx context.Context, w event.Writing, req tool.Write) ([]event.FileChanged, error) {
	c := event.FileChanged{Call: w.Call, Tool: w.Tool, Path: r.recordedPath(req.Path, req.NoFollow), Before: req.Expect, Mode: req.Mode}
	if c.Before == "" {
		c.Kept = true
	} else if f, err := r.content(ctx, req); err == nil {
		h, err := r.cfg.Store.Put(ctx, f.Data)
		if err != nil {
			return nil, err
		}
		c.Kept, c.ModeBefore = tool.Hash(h) == c.Before, f.Mode
	}
	if req.Remove {
		c.Folders = req.Folders
		return []event.FileChanged{c}, nil
	}
	h, err := r.cfg.Store.Put(ctx, req.Data)
	if err != nil {
		return nil, err
	}
	if req.MoveTo == "" {
		if c.After = tool.Hash(h); c.Before == "" {
			c.Folders = r.missingFolders(c.Path)
		}
		return []event.FileChanged{c}, nil
	}
	to := event.FileChanged{Call: w.Call, Tool: w.Tool, Path: r.recordedPath(req.MoveTo, req.NoFollow), After: tool.Hash(h), Kept: true}
	to.Folders = r.missingFolders(to.Path)
	return []event.FileChanged{c, to}, nil
}

// missingFolders lists the folders that a new file needs and that do not exist, the
// outermost first: this is recorded in case of a crash before the write is
// done.
func (r *Recorder) missingFolders(file string) []string {
	var out []string
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if h, is, err := r.cfg.Files.Stat(dir); h != "" || is || err != nil {
			break
		}
		out = slices.Insert(out, 0, dir)
	}
	return out
}

func (r *Recorder) content(ctx context.Context, req tool.Write) (tool.File, error) {
	if req.NoFollow {
		return r.cfg.Files.ReadNoFollow(ctx, req.Path, keepLimit)
	}
	return r.cfg.Files.Read(ctx, req.Path, keepLimit)
}

func (r *Recorder) recordedPath(p string, noFollow bool) string {
	if !noFollow {
		if clean, _, err := r.cfg.Files.Resolve(p); err == nil {
			return clean
		}
	}
	return path.Clean(p)
}

func changeDrafts(w event.Writing, cs []tool.Change) []event.Draft {
	var ds []event.Draft
	for _, c := range cs {
		b := event.FileChanged{
			Call: w.Call, Tool: w.Tool, Path: c.Path, Before: c.Before, After: c.After, Mode: c.Mode, ModeBefore: c.ModeBefore,
			Kept: c.Before == "", Added: c.Added, Removed: c.Removed, Folders: c.Folders, Does: w.Does, Whole: w.Whole,
		}
		b.From, b.To = edits.Touched(c.Diff)
		if i := slices.IndexFunc(w.Files, func(f event.FileChanged) bool { return f.Path == c.Path }); i >= 0 {
			b.Kept = b.Kept || w.Files[i].Kept && w.Files[i].Before == c.Before
		}
		ds = append(ds, event.Draft{Body: b})
	}
	return ds
}

// partialUndo returns what is recorded when an undo or a redo was interrupted after
// these changes.
func (r *Recorder) partialUndo(w event.Writing, done []event.Draft) []event.Draft {
	return eventlog.Query(r.log, func() []event.Draft { return r.fold.undo.PartialUndo(w, fileChanges(done)) })
}

// Files returns a view of the workspace that records every write of a call, so
// that no tool can forget undo.
func (r *Recorder) Files(view tool.Files, p *turn.Pending) tool.Files {
	return &recordedFiles{Files: view, r: r, p: p}
}

type recordedFiles struct {
	tool.Files
	r *Recorder
	p *turn.Pending
}

func (f *recordedFiles) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := f.WriteAll(ctx, []tool.Write{{Path: path, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

func (f *recordedFiles) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	f.r.RecordBackground(ctx) // changes by background commands come before
	by := f.p.Tool
	cs, err := f.r.write(ctx, f.Files, event.Writing{Call: f.p.Call.ID, Tool: by.Spec.Name, Does: by.Does(), Whole: by.Whole}, ws)
	for _, c := range cs {
		f.p.Changed(event.FileChanged{
			Call: f.p.Call.ID, Tool: by.Spec.Name, Path: c.Path, Before: c.Before, After: c.After, Mode: c.Mode, ModeBefore: c.ModeBefore,
			Added: c.Added, Removed: c.Removed, Folders: c.Folders, Does: by.Does(), Whole: by.Whole,
		})
	}
	return cs, err
}
