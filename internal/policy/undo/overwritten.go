package undo

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Overwritten tells of the files that a command changed which of them the agent had
// changed before, and what became of that: "" where they are neither gone nor as they
// were at an earlier time. A file that only commands wrote counts if it is as it was
// before all of them.
func (f *Fold) Overwritten(cs []event.FileChanged) map[string]string {
	type work struct {
		had    []tool.Hash // the contents before each change
		edited bool
	}
	calls := map[string]bool{}
	works := map[string]*work{}
	for _, c := range cs {
		works[c.Path] = &work{}
		calls[c.Call] = true
	}
	for _, c := range f.changes {
		now := c.reply == f.reply && calls[c.Call] // in old logs ids repeat
		if w := works[c.Path]; w != nil && !now && c.Tool != Person && !c.Unattributed && c.set == nil {
			w.had, w.edited = append(w.had, c.Before), w.edited || c.Does == tool.Edit
		}
	}
	out := map[string]string{}
	for _, c := range cs {
		w := works[c.Path]
		switch {
		case len(w.had) == 0 || c.Before == c.After:
		case c.After == "" && w.edited:
			out[c.Path] = "removed"
		case c.After == w.had[0] && c.After != "":
			out[c.Path] = "back to what it was before your edits"
		case w.edited && slices.Contains(w.had, c.After):
			out[c.Path] = "back to what it was between your edits"
		case w.edited:
			out[c.Path] = ""
		}
	}
	return out
}
