package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Limits of a preview.
const (
	shownLimit = 100 << 10 // bytes of diff in all
	diffLimit  = 8 << 20   // larger contents get no diff, bytes
)

// underWay is how young an unfinished undo of another process must be to be
// taken for one that still runs.
const underWay = 5 * time.Second

// PlanUndo says what an undo, or a redo, would do, and changes nothing. It
// gives undo.ErrNothing or undo.ErrNoRedo where there is nothing of that kind.
func (s *Session) PlanUndo(ctx context.Context, w undo.What) (undo.Plan, error) {
	if s.Busy() {
		return undo.Plan{}, fault.NewConfiguration("interrupt it first, or wait", "nothing can be undone while a turn runs")
	}
	note, err := s.settle(ctx)
	if err != nil {
		return undo.Plan{}, err
	}
	s.watch.turnEnds(ctx, s)
	u, err := s.unit(w)
	if err != nil {
		return undo.Plan{Note: note}, fmt.Errorf("%w in session %s", err, s.cfg.ID)
	}
	p := undo.Plan{What: u.What, Text: u.Text, Undone: u.Undone, Note: note}
	room := shownLimit
	for _, st := range u.Files {
		now, data, err := s.itself(ctx, st.Path)
		if err != nil {
			return p, err
		}
		contents := map[tool.Hash][]byte{}
		for _, h := range st.Wants(now.Hash) {
			if h == now.Hash {
				contents[h] = data
			} else if b, err := s.blob(ctx, h); err == nil {
				contents[h] = b
			} else if !errors.Is(err, event.ErrNoBlob) {
				return p, err
			}
		}
		f := st.Decide(now, contents)
		if err := s.preview(ctx, &f, data, &room); err != nil {
			return p, err
		}
		p.Files = append(p.Files, f)
	}
	if w.Sort == undo.ByRedo {
		return p, nil
	}
	return p, s.askOrphans(ctx, &p)
}

// unit finds the changes that are meant. A path that no change is recorded
// under is followed through symlinks.
func (s *Session) unit(w undo.What) (undo.Unit, error) {
	if w.Path == "" {
		return s.selected(w)
	}
	w.Path = path.Clean(w.Path)
	u, err := s.selected(w)
	if clean, _, rerr := s.cfg.Files.Resolve(w.Path); err != nil && rerr == nil {
		w.Path = clean
		return s.selected(w)
	}
	return u, err
}

func (s *Session) selected(w undo.What) (u undo.Unit, err error) {
	s.log.View(func() { u, err = s.undo.Select(w) })
	return u, err
}

// settle takes in what other processes appended, and finishes what one that
// died had begun. It says what it found.
func (s *Session) settle(ctx context.Context) (string, error) {
	if err := s.catchUp(ctx); err != nil {
		return "", err
	}
	open := eventlog.Look(s.log, s.undo.Intents)
	if len(open) == 0 {
		return "", nil
	}
	if s.cfg.Look && s.cfg.Now().Sub(open[len(open)-1].Time) < underWay {
		return "", fault.NewConfiguration("try again in a moment", "files of session %s are being put back right now", s.cfg.ID)
	}
	ds := s.unfinished(ctx)
	var said []string
	for _, d := range ds {
		if w, ok := d.Body.(event.Warned); ok {
			said = append(said, w.Text)
		}
	}
	return strings.Join(said, "\n"), s.record(ctx, ds...)
}

// itself says how a file is. The content is nil where it is too large to be
// kept.
func (s *Session) itself(ctx context.Context, name string) (undo.Now, []byte, error) {
	// What is recorded is recorded without links: it would be another file.
	if dir := path.Dir(name); dir != "." {
		if real, _, err := s.cfg.Files.Resolve(dir); err == nil && real != dir {
			return undo.Now{Err: fmt.Sprintf("a folder above it is a symlink now: %s leads to %s", dir, real)}, nil, nil
		}
	}
	f, err := s.cfg.Files.Itself(ctx, name, keepLimit)
	switch {
	case ctx.Err() != nil:
		return undo.Now{}, nil, ctx.Err()
	case errors.Is(err, fs.ErrNotExist):
		return undo.Now{}, nil, nil
	case err != nil:
		return undo.Now{Err: err.Error()}, nil, nil
	case f.Data == nil && f.Hash == undo.HashOf(nil):
		f.Data = []byte{}
	}
	return undo.Now{Hash: f.Hash, Mode: f.Mode}, f.Data, nil
}

// blob gives a content by its hash, never nil.
func (s *Session) blob(ctx context.Context, h tool.Hash) ([]byte, error) {
	b, err := s.cfg.Store.Get(ctx, string(h))
	if err == nil && b == nil {
		b = []byte{}
	}
	return b, err
}

// preview gives a file of a plan its diff, and finds out whether the content
// that it is to get can still be had.
func (s *Session) preview(ctx context.Context, f *undo.File, now []byte, room *int) error {
	if f.Blocked() || f.Action == undo.Same {
		return nil
	}
	to := f.Data
	if f.Action == undo.PutBack {
		var err error
		if to, err = s.blob(ctx, f.To); errors.Is(err, event.ErrNoBlob) {
			f.Action, f.Why, f.Ask = undo.Lost, "its content before is no longer kept", ""
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

// unified is a diff with three lines of context.
func unified(name string, from tool.Hash, before []byte, to tool.Hash, after []byte) string {
	switch {
	case from == to:
		return ""
	case len(before)+len(after) > diffLimit || before == nil && from != "":
		return name + ": too large for a diff\n"
	case !text(before) || !text(after):
		return name + ": not text\n"
	}
	a, b := "a/"+name, "b/"+name
	if from == "" {
		a = "/dev/null"
	}
	if to == "" {
		b = "/dev/null"
	}
	_, out, _ := bytes.Cut(diff.Diff(a, before, b, after), []byte("\n")) // less the line that says nothing
	if len(out) == 0 {
		out = fmt.Appendf(nil, "--- %s\n+++ %s\n", a, b) // of an empty file
	}
	return string(out)
}

func text(b []byte) bool { return utf8.Valid(b) && bytes.IndexByte(b, 0) < 0 }

// Undone is what an undo or a redo did.
type Undone struct {
	Done, Left []undo.File
}

// Undo does what a plan says: all of it, but for the files that c leaves out,
// or nothing. It looks at every file again and refuses where one is not as it
// was when the plan was made. *undo.OpenError says which files need a word
// first.
func (s *Session) Undo(ctx context.Context, p undo.Plan, c undo.Consent) (Undone, error) {
	if s.Busy() {
		return Undone{}, fault.NewConfiguration("interrupt it first, or wait", "nothing can be undone while a turn runs")
	}
	do, left, err := p.Choose(c)
	if err != nil {
		return Undone{}, &fault.Error{
			Category: fault.Configuration, Err: err, Message: "nothing was put back", Hint: "confirm these files, or leave them out",
		}
	}
	if do, left, err = s.leaveOrphans(ctx, do, left); err != nil {
		return Undone{}, err
	}
	out := Undone{Done: do, Left: left}
	if len(do) == 0 {
		return out, fault.NewConfiguration("", "nothing was put back: every file is left out")
	}
	if s.cfg.Locks != nil { // no child session writes meanwhile
		ticket := s.cfg.Locks.Reserve(tool.Footprint{Unknown: true})
		defer ticket.Release()
		if err := ticket.Wait(ctx); err != nil {
			return out, err
		}
	}
	if err := s.stillSo(ctx, p, do); err != nil {
		return out, err
	}
	w, behind := p.Record(do)
	ws, err := s.writes(ctx, do)
	if err != nil {
		return out, err
	}
	if len(ws) == 0 { // all is so already
		return out, s.record(ctx, behind...)
	}
	_, err = s.write(ctx, w, ws, behind...)
	if stale := (*tool.StaleError)(nil); errors.As(err, &stale) {
		err = moved(stale.Path)
	}
	return out, err
}

func moved(paths ...string) error {
	return fault.NewConfiguration("look again, then undo", "nothing was put back: %s changed since the preview", strings.Join(paths, ", "))
}

// stillSo looks again whether a plan holds.
func (s *Session) stillSo(ctx context.Context, p undo.Plan, do []undo.File) error {
	if err := s.catchUp(ctx); err != nil {
		return err
	}
	if !eventlog.Look(s.log, func() bool {
		if p.Sort == undo.ByRedo {
			return s.undo.CanRedo(p.Undone)
		}
		return !slices.ContainsFunc(do, func(f undo.File) bool { return !s.undo.Stand(f.Changes) })
	}) {
		return fault.NewConfiguration("look again, then undo", "nothing was put back: this was put back, or done again, since the preview")
	}
	var paths []string
	for _, f := range do {
		now, _, err := s.itself(ctx, f.Path)
		if err != nil {
			return err
		}
		if now != f.Now {
			paths = append(paths, f.Path)
		}
	}
	if len(paths) > 0 {
		return moved(paths...)
	}
	return nil
}

// writes is what a plan comes to for the workspace.
func (s *Session) writes(ctx context.Context, do []undo.File) ([]tool.Write, error) {
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
			data, err := s.blob(ctx, f.To)
			if err != nil {
				return nil, fmt.Errorf("undo %s: %w", f.Path, err)
			}
			w.Data = data
		}
		ws = append(ws, w)
	}
	undo.InOrder(ws)
	return ws, nil
}

// Diff shows what the newest turn with standing changes changed, as a unified
// diff against the files as they are now.
func (s *Session) Diff(ctx context.Context) (string, error) {
	return s.DiffOf(ctx, undo.What{Sort: undo.ByTurn})
}

// DiffOf shows the changes of a unit, as Diff does. It gives "" where none
// stands.
func (s *Session) DiffOf(ctx context.Context, w undo.What) (string, error) {
	if !s.Busy() {
		if err := s.catchUp(ctx); err != nil {
			return "", err
		}
		s.watch.turnEnds(ctx, s)
	}
	u, err := s.unit(w)
	if errors.Is(err, undo.ErrNothing) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var out strings.Builder
	for _, st := range u.Files {
		now, data, err := s.itself(ctx, st.Path)
		if err != nil {
			return "", err
		}
		before, keptBefore := st.Before()
		var old []byte
		switch {
		case now.Err != "":
			fmt.Fprintf(&out, "%s: %s\n", st.Path, now.Err)
			continue
		case before == now.Hash:
			continue
		case before != "" && keptBefore:
			old, err = s.blob(ctx, before)
			keptBefore = !errors.Is(err, event.ErrNoBlob)
			if err != nil && keptBefore {
				return "", fmt.Errorf("diff %s: %w", st.Path, err)
			}
		}
		if !keptBefore {
			fmt.Fprintf(&out, "%s: its content before was not kept\n", st.Path)
			continue
		}
		out.WriteString(unified(st.Path, before, old, now.Hash, data))
	}
	return out.String(), nil
}

// Standing is the newest turn whose changes stand.
func (s *Session) Standing() (undo.Turn, bool) {
	var t undo.Turn
	var ok bool
	s.log.View(func() { t, ok = s.undo.Last() })
	return t, ok
}
