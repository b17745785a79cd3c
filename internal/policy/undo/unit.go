package undo

import (
	"errors"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Kind is which changes are meant.
type Kind string

// The units of undo; their names are in the log (event.Undone.What).
const (
	ByChange  Kind = "change"  // what was written last, in one go
	ByTurn    Kind = "turn"    // the newest turn with changes that stand
	ByFile    Kind = "file"    // the newest change of What.Path
	ByCommand Kind = "command" // the newest command's
	ByRewind  Kind = "rewind"  // all since the prompt What.Prompt, it included
	ByAll     Kind = "all"     // all that stand, of What.Path if it is set
	ByRedo    Kind = "redo"    // what the newest undo put back
)

// What is what to undo.
type What struct {
	Kind   Kind
	Path   string // as Span.Path
	Prompt int64  // the sequence number of its event
}

// NotRestorable is event.Warned.What of what a command destroyed and no undo
// brings back.
const NotRestorable = "not-restorable"

// ErrNothing: no change of that kind stands.
var ErrNothing = errors.New("there is nothing to undo")

// ErrNoRedo: nothing was undone that could be done again.
var ErrNoRedo = errors.New("there is nothing to redo")

// Unit is changes that are put back together.
type Unit struct {
	What
	Text   string // of the prompt that led to them, its beginning
	Undone int64  // of ByRedo: the sequence number of the undo's event
	Files  []Steps
}

// Select finds the changes of a unit. ErrNothing and ErrNoRedo.
func (f *Fold) Select(w What) (Unit, error) {
	if w.Kind == ByRedo {
		return f.again()
	}
	in, last := f.members(w)
	if last == nil {
		return Unit{}, ErrNothing
	}
	var cs []Change
	moved := f.brought(in)
	for _, c := range f.changes {
		// A move is put back whole, or the content would be nowhere.
		if !c.undone && (in(&c) || c.After == "" && moved[c.group]) {
			cs = append(cs, c)
		}
	}
	if w.Prompt == 0 {
		w.Prompt = last.Prompt
	}
	return Unit{What: w, Text: f.text(last.Prompt), Files: f.steps(cs, f.goners(cs))}, nil
}

// members tells which changes are of a unit, and returns the newest of them.
func (f *Fold) members(w What) (in func(*Change) bool, last *Change) {
	in = func(*Change) bool { return true }
	switch w.Kind {
	case ByFile:
		in = func(c *Change) bool { return c.Path == w.Path }
	case ByAll:
		in = func(c *Change) bool { return w.Path == "" || c.Path == w.Path }
	case ByCommand:
		in = (*Change).command
	case ByRewind:
		in = func(c *Change) bool { return c.Prompt >= w.Prompt }
	}
	if last = f.newest(in); last == nil {
		return in, nil
	}
	switch w.Kind {
	case ByChange:
		in = func(c *Change) bool { return c.group == last.group }
	case ByFile:
		in = func(c *Change) bool { return c.Seq == last.Seq }
	case ByCommand:
		in = func(c *Change) bool { return c.command() && (c.sameCall(last) || c.group == last.group) }
	case ByTurn:
		turn := last.turn
		for i := range f.changes {
			if c := &f.changes[i]; !c.undone {
				turn = max(turn, c.turn)
			}
		}
		last = f.newest(func(c *Change) bool { return c.turn == turn })
		in = func(c *Change) bool { return c.turn == turn }
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

// brought returns the groups with changes of a unit that brought new files.
func (f *Fold) brought(in func(*Change) bool) map[int64]bool {
	out := map[int64]bool{}
	for i := range f.changes {
		if c := &f.changes[i]; !c.undone && c.Before == "" && in(c) {
			out[c.group] = true
		}
	}
	return out
}

func (c *Change) command() bool { return c.Command != "" || c.Does == tool.Exec }

func (c *Change) sameCall(o *Change) bool {
	return c.Call != "" && c.Call == o.Call && c.step == o.step
}

// again is the unit of a redo: what the newest undo changed is put back.
func (f *Fold) again() (Unit, error) {
	if len(f.puts) == 0 {
		return Unit{}, ErrNoRedo
	}
	p := f.puts[len(f.puts)-1]
	return Unit{What: What{Kind: ByRedo, Prompt: p.Prompt}, Text: f.text(p.Prompt), Undone: p.Seq, Files: f.steps(p.Changes, nil)}, nil
}

// Steps are the changes of one file in a unit.
type Steps struct {
	Path         string
	Changes      []int64 // their places
	Unattributed bool
	Command      string // the command that did the newest of them, if one did
	// With are files that were taken away by the writes that brought this one:
	// it is deleted only together with their coming back.
	With []string
	// Only names a file that has lost this one's content to a later change that
	// stands: deleting this one would leave the content nowhere.
	Only string

	came  bool   // it was there before the redo that brought it
	steps []step // newest first
}

// Before is the content that the oldest of the changes began with, and whether
// it was kept.
func (s Steps) Before() (tool.Hash, bool) {
	first := s.steps[len(s.steps)-1]
	return first.from, first.kept
}

// step is a row of changes each of which began where the one before it ended. A
// file that came where another went is another file, and so another step.
type step struct {
	from, to       tool.Hash
	fromMode, mode uint32   // 0: not known
	kept           bool     // the content of from
	folders        []string // made for it
}

// steps sorts changes, which are in the order they were made, by file. goners
// is as the method of that name returns it.
func (f *Fold) steps(cs []Change, goners map[tool.Hash]string) []Steps {
	var out []Steps
	index := map[string]int{}
	took := map[int64][]string{} // by group: files that were taken away
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
		s.Unattributed = s.Unattributed || c.Unattributed
		s.Command = c.Command
		s.came = s.came || c.came
		s.add(c.FileChanged)
		if c.Before == "" {
			s.With = append(s.With, took[c.group]...)
			s.Only = goners[c.After]
		}
	}
	return out
}

// goners returns, by their content, files that lost it to a change that stands
// and is not one of cs.
func (f *Fold) goners(cs []Change) map[tool.Hash]string {
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

// add takes a change that is newer than all before it.
func (s *Steps) add(c event.FileChanged) {
	n := step{from: c.Before, to: c.After, fromMode: plain(c.ModeBefore), mode: plain(c.Mode), kept: c.Kept || c.Before == "", folders: c.Folders}
	if len(s.steps) > 0 {
		if l := &s.steps[0]; l.to != "" && l.to == n.from && (l.mode == n.fromMode || l.mode == 0 || n.fromMode == 0) {
			l.to = n.to
			if n.mode != 0 {
				l.mode = n.mode
			}
			return
		}
	}
	s.steps = slices.Insert(s.steps, 0, n)
}
