package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// shownLimit is the size limit of all diffs of a preview, in bytes.
const shownLimit = 100 << 10

// underWay is the age up to which an unfinished undo of another process counts
// as still running.
const underWay = 5 * time.Second

// History is the read access to a session's changes: what they are and how they
// can be undone. Its methods change no file of the person (ADR 016). Something
// that they find on the way, such as a command's changes that were not found
// before, is recorded.
type History struct{ r *Recorder }

// Plan returns what an undo, or a redo, would do, and changes nothing. It
// returns undo.ErrNothing or undo.ErrNoRedo if there is nothing of that kind.
func (h *History) Plan(ctx context.Context, w undo.Selector) (undo.Plan, error) {
	ctx, release, err := h.r.cfg.Exclusive(ctx, "nothing can be undone")
	if err != nil {
		return undo.Plan{}, err
	}
	defer release()
	note, err := h.recover(ctx)
	if err != nil {
		return undo.Plan{}, err
	}
	h.r.Verify(ctx)
	u, err := h.unit(w)
	if err != nil {
		return undo.Plan{Note: note}, fmt.Errorf("%w in session %s", err, h.r.cfg.Session)
	}
	if u.Forgotten > 0 {
		note = strings.TrimPrefix(note+fmt.Sprintf("\nundo knows only the newest changes of a session: %d older ones stay as they are", u.Forgotten), "\n")
	}
	p := undo.Plan{Selector: u.Selector, Text: u.Text, Undone: u.Undone, Note: note}
	room := shownLimit
	for _, st := range u.Files {
		now, data, err := h.r.current(ctx, st.Path)
		if err != nil {
			return p, err
		}
		contents := map[tool.Hash][]byte{}
		for _, hash := range st.NeededContents(now.Hash) {
			if hash == now.Hash {
				contents[hash] = data
			} else if b, err := h.r.blob(ctx, hash); err == nil {
				contents[hash] = b
			} else if !errors.Is(err, event.ErrNoBlob) {
				return p, err
			}
		}
		f := st.Decide(now, contents)
		if err := h.preview(ctx, &f, data, &room); err != nil {
			return p, err
		}
		p.Files = append(p.Files, f)
	}
	if w.Kind == undo.ByRedo {
		return p, nil
	}
	p.AddKept(u.Kept, h.r.keptBlocked)
	return p, h.r.askOrphans(ctx, &p)
}

// unit returns the selected changes. A path without recorded changes is
// resolved through symlinks.
func (h *History) unit(w undo.Selector) (undo.Unit, error) {
	if w.Path == "" {
		return h.selected(w)
	}
	w.Path = path.Clean(w.Path)
	u, err := h.selected(w)
	if clean, _, rerr := h.r.cfg.Files.Resolve(w.Path); err != nil && rerr == nil {
		w.Path = clean
		return h.selected(w)
	}
	return u, err
}

func (h *History) selected(w undo.Selector) (u undo.Unit, err error) {
	h.r.log.View(func() { u, err = h.r.fold.undo.Select(w) })
	return u, err
}

// recover reads what other processes appended, and completes what a dead
// process had begun. It returns a message about that.
func (h *History) recover(ctx context.Context) (string, error) {
	if err := h.r.cfg.CatchUp(ctx); err != nil {
		return "", err
	}
	open := eventlog.Query(h.r.log, h.r.fold.undo.Intents)
	if len(open) == 0 {
		return "", nil
	}
	if h.r.cfg.ReadOnly && h.r.cfg.Now().Sub(open[len(open)-1].Time) < underWay {
		return "", fault.NewConfiguration("try again in a moment", "another undo of session %s is running", h.r.cfg.Session)
	}
	ds := h.r.recoverWrites(ctx)
	var said []string
	for _, d := range ds {
		if w, ok := d.Body.(event.Warned); ok {
			said = append(said, w.Text)
		}
	}
	return strings.Join(said, "\n"), h.r.log.Append(ctx, ds...)
}

// current returns the present state of a file. The content is nil if it is too
// large to be kept.
func (r *Recorder) current(ctx context.Context, name string) (undo.FileState, []byte, error) {
	// Paths are recorded without links: through a link it would be another file.
	if dir := path.Dir(name); dir != "." {
		if real, _, err := r.cfg.Files.Resolve(dir); err == nil && real != dir {
			return undo.FileState{Err: fmt.Sprintf("a folder above it is a symlink now: %s leads to %s", dir, real)}, nil, nil
		}
	}
	f, err := r.cfg.Files.ReadNoFollow(ctx, name, keepLimit)
	switch {
	case ctx.Err() != nil:
		return undo.FileState{}, nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return undo.FileState{}, nil, nil
	case err != nil:
		return undo.FileState{Err: err.Error()}, nil, nil
	case f.Data == nil && f.Hash == edits.HashOf(nil):
		f.Data = []byte{}
	}
	return undo.FileState{Hash: f.Hash, Mode: f.Mode}, f.Data, nil
}

// blob returns a content by its hash, never nil.
func (r *Recorder) blob(ctx context.Context, h tool.Hash) ([]byte, error) {
	b, err := r.cfg.Store.Get(ctx, string(h))
	if err == nil && b == nil {
		b = []byte{}
	}
	return b, err
}

// contentOrEmpty returns a content, or an empty one if it is not kept.
func (r *Recorder) contentOrEmpty(ctx context.Context, h tool.Hash) ([]byte, error) {
	if h == "" {
		return nil, nil
	}
	b, err := r.blob(ctx, h)
	if errors.Is(err, event.ErrNoBlob) {
		err = nil
	}
	return b, err
}

// preview adds the diff to a file of a plan, and checks that the content that
// it needs still exists.
func (h *History) preview(ctx context.Context, f *undo.File, now []byte, room *int) error {
	if f.Blocked() || f.Action == undo.Same {
		return nil
	}
	to := f.Data
	if f.Action == undo.PutBack {
		var err error
		if to, err = h.r.blob(ctx, f.To); errors.Is(err, event.ErrNoBlob) {
			f.Action, f.Why, f.Ask = undo.Lost, "its old content is no longer kept", ""
			return nil
		} else if err != nil {
			return fmt.Errorf("undo %s: %w", f.Path, err)
		}
	}
	f.Diff = unified(f.Path, f.Now.Hash, now, f.To, to)
	if f.Diff == "" && f.Mode != 0 && f.Mode != f.Now.Mode {
		f.Diff = fmt.Sprintf("mode %s becomes %s\n", fs.FileMode(f.Now.Mode), fs.FileMode(f.Mode))
	}
	if *room -= len(f.Diff); *room < 0 {
		cut := f.Diff[:max(0, len(f.Diff)+*room)]
		cut = cut[:strings.LastIndexByte(cut, '\n')+1]
		f.Diff = cut + fmt.Sprintf("[%d more bytes of diff are not shown]\n", len(f.Diff)-len(cut))
		*room = 0
	}
	return nil
}
