package undo

import (
	"errors"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Kind selects the changes to undo.
type Kind string

// The units of undo; their names are in the log (event.Undone.What).
const (
	ByChange  Kind = "change"  // what was written last, at once
	ByTurn    Kind = "turn"    // the newest turn with changes in effect
	ByFile    Kind = "file"    // the newest change of Selector.Path
	ByCommand Kind = "command" // the newest command's
	ByRewind  Kind = "rewind"  // all since the prompt Selector.Prompt, including it
	ByAll     Kind = "all"     // all that are in effect, only of Selector.Path if it is set
	ByRedo    Kind = "redo"    // what the newest undo restored
)

// Selector selects what to undo.
type Selector struct {
	Kind   Kind
	Path   string // as Span.Path
	Prompt int64  // the sequence number of its event
	// Before, if set, passes over the changes from this sequence number on: they stay, as if
	// somebody else had made them.
	Before int64
}

// ErrNothing: no change of that kind is in effect.
var ErrNothing = errors.New("there is nothing to undo")

// ErrNoRedo: no undo can be redone.
var ErrNoRedo = errors.New("there is nothing to redo")

// Unit is changes that are undone together.
type Unit struct {
	Selector
	Text   string // of the prompt that led to them, its beginning
	Undone int64  // of ByRedo: the sequence number of the undo's event
	Files  []Steps
	Kept   []Change // what sets keep (Change.Of), oldest first
	// Forgotten is how many older changes of the session stay, some of which may belong to the
	// unit: the fold has only the newest.
	Forgotten int
}

// Select returns the changes of a unit, or ErrNothing or ErrNoRedo.
func (f *Fold) Select(w Selector) (Unit, error) {
	if w.Kind == ByRedo {
		return f.redoUnit()
	}
	in, last := f.members(w)
	if last == nil {
		return Unit{}, ErrNothing
	}
	var cs, kept []Change
	moved := f.createdGroups(in)
	for _, c := range f.changes {
		// A move is undone as a whole, or its content would be lost.
		switch {
		case c.undone:
		case c.set != nil && in(&c):
			kept = append(kept, c)
		case c.set == nil && (in(&c) || c.After == "" && moved[c.group]):
			cs = append(cs, c)
		}
	}
	if w.Prompt == 0 {
		w.Prompt = last.Prompt
	}
	u := Unit{Selector: w, Text: f.text(last.Prompt), Files: f.steps(cs, f.lostContents(cs)), Kept: kept}
	if w.Kind == ByAll || w.Kind == ByFile || w.Prompt <= f.forgottenTo {
		u.Forgotten = f.forgotten
	}
	return u, nil
}

// members returns a function that reports which changes belong to a unit, and
// the newest of them.
func (f *Fold) members(w Selector) (in func(*Change) bool, last *Change) {
	counts := func(c *Change) bool { return w.Before == 0 || c.Seq < w.Before }
	in = counts
	switch w.Kind {
	case ByFile:
		in = func(c *Change) bool { return counts(c) && c.Path == w.Path }
	case ByAll:
		in = func(c *Change) bool { return counts(c) && (w.Path == "" || c.Path == w.Path) }
	case ByCommand:
		in = func(c *Change) bool { return counts(c) && c.command() }
	case ByRewind:
		in = func(c *Change) bool { return counts(c) && c.Prompt >= w.Prompt }
	}
	if last = f.newest(in); last == nil {
		return in, nil
	}
	switch w.Kind {
	case ByChange:
		in = func(c *Change) bool { return counts(c) && c.group == last.group }
	case ByFile:
		in = func(c *Change) bool { return c.Seq == last.Seq }
	case ByCommand:
		in = func(c *Change) bool { return counts(c) && c.command() && (c.sameCall(last) || c.group == last.group) }
	case ByTurn:
		turn := last.turn
		for i := range f.changes {
			if c := &f.changes[i]; !c.undone && counts(c) {
				turn = max(turn, c.turn)
			}
		}
		in = func(c *Change) bool { return counts(c) && c.turn == turn }
		last = f.newest(in)
	}
	return in, last
}

func (f *Fold) newest(in func(*Change) bool) *Change {
	for i := len(f.changes) - 1; i >= 0; i-- {
		if c := &f.changes[i]; !c.undone && in(c) {
			return c
		}
	}
	return nil
}

// createdGroups returns the groups in which changes of a unit created new files.
func (f *Fold) createdGroups(in func(*Change) bool) map[int64]bool {
	out := map[int64]bool{}
	for i := range f.changes {
		if c := &f.changes[i]; !c.undone && c.Before == "" && c.set == nil && in(c) {
			out[c.group] = true
		}
	}
	return out
}

func (c *Change) command() bool { return c.Command != "" || c.Does == tool.Exec }

func (c *Change) sameCall(o *Change) bool {
	return c.Call != "" && c.Call == o.Call && c.reply == o.reply
}

// redoUnit returns the unit of a redo: the changes of the newest undo are reverted.
func (f *Fold) redoUnit() (Unit, error) {
	if len(f.applied) == 0 {
		return Unit{}, ErrNoRedo
	}
	p := f.applied[len(f.applied)-1]
	return Unit{Selector: Selector{Kind: ByRedo, Prompt: p.Prompt}, Text: f.text(p.Prompt), Undone: p.Seq, Files: f.steps(p.Changes, nil)}, nil
}

// Steps are the changes of one file in a unit.
type Steps struct {
	Path         string
	Changes      []int64 // their sequence numbers
	Unattributed bool
	Command      string // during which the newest unattributed one was made, "" for none
	Step         int    // of the newest of them, and its description
	Description  string
	// With are files that the writes which created this one removed: it is deleted only
	// together with their restoration.
	With []string
	// Only names a file that lost this one's content by a later change in
	// effect: deleting this one would lose the content.
	Only string

	restoredByRedo bool   // it existed before the redo that restored it
	steps          []step // newest first
	// overwrote are the changes after the newest unattributed one: its from is a content that
	// somebody else may have written.
	overwrote *step
	loose     bool // the newest change is unattributed
}

// Before returns the content before the oldest of the changes, and whether it was kept.
func (s Steps) Before() (tool.Hash, bool) {
	first := s.steps[len(s.steps)-1]
	return first.from, first.kept
}

// step is a chain of changes, each of which began with the content that the one
// before left. A file that was created again after a removal is another step.
type step struct {
	from, to       tool.Hash
	fromMode, mode uint32   // 0: not known
	kept           bool     // whether the content of from is kept
	folders        []string // made for it
}

// steps groups changes, which are in the order they were made, by file. lost
// is the result of lostContents.
func (f *Fold) steps(cs []Change, lost map[tool.Hash]string) []Steps {
	var out []Steps
	index := map[string]int{}
	took := map[int64][]string{} // by group: files that were removed
	for _, c := range cs {
		if c.After == "" {
			took[c.group] = append(took[c.group], c.Path)
		}
	}
	for _, c := range cs {
		i, ok := index[c.Path]
		if !ok {
			i, out = len(out), append(out, Steps{Path: c.Path})
			index[c.Path] = i
		}
		s := &out[i]
		s.Changes = append(s.Changes, c.Seq)
		if s.Step, s.Description = c.Step, c.Description; c.Unattributed {
			s.Unattributed, s.Command = true, c.Command
		}
		s.restoredByRedo = s.restoredByRedo || c.restoredByRedo
		s.add(c.FileChanged)
		if c.Before == "" {
			s.With = append(s.With, took[c.group]...)
			s.Only = lost[c.After]
		}
	}
	return out
}

// lostContents returns, by their content, the files that lost it by a change in
// effect that is not one of cs.
func (f *Fold) lostContents(cs []Change) map[tool.Hash]string {
	in := make(map[int64]bool, len(cs))
	for _, c := range cs {
		in[c.Seq] = true
	}
	out := map[tool.Hash]string{}
	for _, c := range f.changes {
		if !c.undone && !in[c.Seq] && c.Before != "" && c.Before != c.After {
			out[c.Before] = c.Path
		}
	}
	return out
}

// add adds a change that is newer than all before it.
func (s *Steps) add(c event.FileChanged) {
	n := step{from: c.Before, to: c.After, fromMode: withoutLinkMode(c.ModeBefore), mode: withoutLinkMode(c.Mode), kept: c.Kept || c.Before == "", folders: c.Folders}
	if first := n; s.loose {
		s.overwrote = &first
	} else if s.overwrote != nil && !s.overwrote.goesOn(n) {
		s.overwrote = nil
	}
	s.loose = c.Unattributed
	if len(s.steps) == 0 || !s.steps[0].goesOn(n) {
		s.steps = slices.Insert(s.steps, 0, n)
	}
}

// goesOn makes a change part of the step before it, if that left what the change began with.
func (l *step) goesOn(n step) bool {
	if l.to == "" || l.to != n.from || l.mode != n.fromMode && l.mode != 0 && n.fromMode != 0 {
		return false
	}
	l.to = n.to
	if n.mode != 0 {
		l.mode = n.mode
	}
	return true
}
