// Package undo knows which changes of which turn stand, and what it takes to
// put them back. It is a fold over the log's file events and does no I/O: who
// restores must compare each file with Now and leave alone what is not that
// (SPEC 11.2: a person's later edit is never overwritten).
package undo

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Tool is the name under which restored files are recorded.
const Tool = "undo"

// Restore is one file to put back: from Now to Before. Empty hashes mean that
// the file does not exist then. Kept is false where the content before was not
// kept: it can not be restored.
type Restore struct {
	Path        string
	Now, Before tool.Hash
	Kept        bool
}

// Turn is the changes of one turn that stand, in the order they were made.
type Turn struct {
	Prompt int64 // the place of the prompt that led to them
	Text   string
	Files  []Restore
}

// Fold keeps the turns that changed files. The zero value is ready.
type Fold struct{ turns []Turn }

// Apply takes one event.
func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Prompted:
		// What autofix or a hook asked for belongs to the person's turn.
		if b.Source == event.Person || len(f.turns) == 0 {
			f.drop()
			f.turns = append(f.turns, Turn{Prompt: e.Seq, Text: b.Text})
		}
	case event.FileChanged:
		if b.Tool != Tool && len(f.turns) > 0 {
			f.change(&f.turns[len(f.turns)-1], b)
		}
	case event.Undone:
		f.turns = slices.DeleteFunc(f.turns, func(t Turn) bool { return t.Prompt == b.Prompt })
	}
}

// drop forgets a last turn that changed nothing, so that the list is as long
// as there are changes and not as the session.
func (f *Fold) drop() {
	if n := len(f.turns); n > 0 && len(f.turns[n-1].Files) == 0 {
		f.turns = f.turns[:n-1]
	}
}

func (f *Fold) change(t *Turn, b event.FileChanged) {
	for i := range t.Files {
		if r := &t.Files[i]; r.Path == b.Path {
			r.Now = b.After
			return
		}
	}
	t.Files = append(t.Files, Restore{Path: b.Path, Now: b.After, Before: b.Before, Kept: b.Kept})
}

// Last gives the newest turn whose changes stand; ok is false where there is
// none. Files that are back to what they were are left out.
func (f *Fold) Last() (t Turn, ok bool) {
	for i := len(f.turns) - 1; i >= 0; i-- {
		t = f.turns[i]
		t.Files = slices.DeleteFunc(slices.Clone(t.Files), func(r Restore) bool { return r.Now == r.Before })
		if len(t.Files) > 0 {
			return t, true
		}
	}
	return Turn{}, false
}
