package session

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// This file is how files are written: the contents are kept and the intent is
// in the log before the first file is touched, and the changes are after the
// last. There is no moment at which a change exists and undo does not know of
// it: what a death in between left is found when the session is opened again.

// keepLimit is the largest content that is kept, bytes: what tool.Files reads
// at most by itself.
const keepLimit = 16 << 20

// write does writes. w says whose they are; behind are recorded together with
// the changes, where all went well.
func (s *Session) write(ctx context.Context, w event.Writing, ws []tool.Write, behind ...event.Draft) ([]tool.Change, error) {
	return s.writeTo(ctx, s.cfg.Files, w, ws, behind...)
}

// writeTo is write through a view of the files.
func (s *Session) writeTo(ctx context.Context, files tool.Files, w event.Writing, ws []tool.Write, behind ...event.Draft) ([]tool.Change, error) {
	for _, req := range ws {
		cs, err := s.keepBoth(ctx, w, req)
		if err != nil {
			return nil, err
		}
		w.Files = append(w.Files, cs...)
	}
	if err := s.record(ctx, event.Draft{Body: w}); err != nil {
		return nil, err
	}
	cs, err := s.put(ctx, files, ws)
	ds := changed(w, cs)
	switch {
	case err == nil:
		ds = append(ds, behind...)
	case len(cs) == 0:
		ds = []event.Draft{{Body: event.Writing{Call: w.Call, Tool: w.Tool}}}
	default: // what could not be taken back stands
		ds = append(ds, s.partly(w, ds)...)
	}
	return cs, errors.Join(err, s.record(context.WithoutCancel(ctx), ds...))
}

// put writes, and tells the journal so that it does not take it for the doing
// of a command.
func (s *Session) put(ctx context.Context, files tool.Files, ws []tool.Write) ([]tool.Change, error) {
	cs, err := files.WriteAll(ctx, ws)
	for _, c := range cs {
		s.wrote(c)
	}
	return cs, err
}

// keepBoth stores what a write replaces and what it brings, and says what the
// write will change.
func (s *Session) keepBoth(ctx context.Context, w event.Writing, req tool.Write) ([]event.FileChanged, error) {
	c := event.FileChanged{Call: w.Call, Tool: w.Tool, Path: s.clean(req.Path, req.NoFollow), Before: req.Expect, Mode: req.Mode}
	if c.Before == "" {
		c.Kept = true
	} else if f, err := s.content(ctx, req); err == nil {
		h, err := s.cfg.Store.Put(ctx, f.Data)
		if err != nil {
			return nil, err
		}
		c.Kept, c.ModeBefore = tool.Hash(h) == c.Before, f.Mode
	}
	if req.Remove {
		c.Folders = req.Folders
		return []event.FileChanged{c}, nil
	}
	h, err := s.cfg.Store.Put(ctx, req.Data)
	if err != nil {
		return nil, err
	}
	if req.MoveTo == "" {
		if c.After = tool.Hash(h); c.Before == "" {
			c.Folders = s.missing(c.Path)
		}
		return []event.FileChanged{c}, nil
	}
	to := event.FileChanged{Call: w.Call, Tool: w.Tool, Path: s.clean(req.MoveTo, req.NoFollow), After: tool.Hash(h), Kept: true}
	to.Folders = s.missing(to.Path)
	return []event.FileChanged{c, to}, nil
}

// missing lists the folders that a new file needs and that are not there, the
// outermost first: what is recorded where a death comes before the write tells.
func (s *Session) missing(file string) []string {
	var out []string
	for dir := path.Dir(file); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if h, is, err := s.cfg.Files.Stat(dir); h != "" || is || err != nil {
			break
		}
		out = slices.Insert(out, 0, dir)
	}
	return out
}

func (s *Session) content(ctx context.Context, req tool.Write) (tool.File, error) {
	if req.NoFollow {
		return s.cfg.Files.Itself(ctx, req.Path, keepLimit)
	}
	return s.cfg.Files.Read(ctx, req.Path, keepLimit)
}

// clean gives a path as it is recorded.
func (s *Session) clean(p string, itself bool) string {
	if !itself {
		if clean, _, err := s.cfg.Files.Resolve(p); err == nil {
			return clean
		}
	}
	return path.Clean(p)
}

// changed is what happened, as it is recorded.
func changed(w event.Writing, cs []tool.Change) []event.Draft {
	var ds []event.Draft
	for _, c := range cs {
		b := event.FileChanged{
			Call: w.Call, Tool: w.Tool, Path: c.Path, Before: c.Before, After: c.After, Mode: c.Mode, ModeBefore: c.ModeBefore,
			Kept: c.Before == "", Added: c.Added, Removed: c.Removed, Folders: c.Folders, Does: w.Does, Whole: w.Whole,
		}
		if i := slices.IndexFunc(w.Files, func(f event.FileChanged) bool { return f.Path == c.Path }); i >= 0 {
			b.Kept = b.Kept || w.Files[i].Kept && w.Files[i].Before == c.Before
		}
		ds = append(ds, event.Draft{Body: b})
	}
	return ds
}

// unfinished looks at the writes that a death cut short. What was written is
// recorded as changed; an undo of which a part was written is done to its end,
// unless somebody changed one of its files since.
func (s *Session) unfinished(ctx context.Context) []event.Draft {
	var ds []event.Draft
	for _, i := range eventlog.Look(s.log, s.undo.Intents) {
		fate := i.Settle(func(path string) (tool.Hash, bool) {
			f, err := s.cfg.Files.Itself(ctx, path, 0)
			return f.Hash, err == nil || errors.Is(err, fs.ErrNotExist)
		})
		done := s.rollForward(ctx, i, &fate)
		for _, c := range fate.Done {
			c.Loose = len(fate.Lost) > 0 // what belongs together is not all there
			done = append(done, event.Draft{Body: c})
		}
		if len(done) == 0 {
			done = []event.Draft{{Body: event.Writing{Call: i.Call, Tool: i.Tool}}}
		}
		done = append(done, s.partly(i.Writing, done)...)
		ds = append(ds, done...)
		if text := fate.Explain(i); text != "" {
			ds = append(ds, event.Draft{Body: event.Warned{What: "undo", Text: text}})
		}
	}
	return ds
}

// partly is what is recorded after the changes of an undo or a redo of which
// these are the only ones.
func (s *Session) partly(w event.Writing, done []event.Draft) []event.Draft {
	return eventlog.Look(s.log, func() []event.Draft { return s.undo.Partly(w, bodies(done)) })
}

// rollForward writes what an undo still has to write.
func (s *Session) rollForward(ctx context.Context, i undo.Intent, fate *undo.Fate) []event.Draft {
	if i.Undone == nil && i.Redone == nil || len(fate.Done) == 0 || len(fate.Due) == 0 || len(fate.Lost) > 0 {
		return nil
	}
	var ws []tool.Write
	for _, c := range fate.Due {
		w := tool.Write{Path: c.Path, Expect: c.Before, Remove: c.After == "", NoFollow: true, Mode: c.Mode}
		if w.Remove {
			w.Folders = c.Folders
		} else {
			data, err := s.cfg.Store.Get(ctx, string(c.After))
			if err != nil {
				return nil
			}
			w.Data = data
		}
		ws = append(ws, w)
	}
	cs, err := s.put(ctx, s.cfg.Files, ws)
	if err == nil {
		fate.Due = nil
	}
	return changed(i.Writing, cs)
}
