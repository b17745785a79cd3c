package undo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Intent is a write that was begun: what an event.Writing tells.
type Intent struct {
	event.Writing
	Seq  int64
	Time time.Time
}

// follow keeps the intents that are open. One is over when a change of its
// files is recorded (all changes of a write are recorded at once), when its
// call is done, and when an empty one tells that nothing came of it.
func (f *Fold) follow(e event.Event) {
	over := func(call, tool string) {
		f.intents = slices.DeleteFunc(f.intents, func(i Intent) bool { return i.Call == call && i.Tool == tool })
	}
	switch b := e.Body.(type) {
	case event.Writing:
		over(b.Call, b.Tool)
		if len(b.Files) > 0 {
			f.intents = append(f.intents, Intent{b, e.Seq, e.Time})
		}
	case event.FileChanged:
		over(b.Call, b.Tool)
	case event.CallDone:
		f.intents = slices.DeleteFunc(f.intents, func(i Intent) bool { return i.Call != "" && i.Call == b.ID })
	case event.Undone:
		over("", Tool)
	case event.Redone:
		over("", RedoTool)
	}
}

// Intents are the writes that were begun and whose end is not in the log: in a
// session that was taken up again, those that a death cut short.
func (f *Fold) Intents() []Intent { return slices.Clone(f.intents) }

// Fate is what became of an intent, by how its files are now.
type Fate struct {
	Done []event.FileChanged // as after
	Due  []event.FileChanged // as before
	Lost []event.FileChanged // neither: somebody else wrote them since
}

// Fate sorts the files of an intent by how they are now. One of which only
// the mode was to change is taken as due: doing it again changes nothing.
func (i Intent) Fate(now func(path string) (h tool.Hash, ok bool)) Fate {
	var out Fate
	for _, c := range i.Files {
		switch h, ok := now(c.Path); {
		case ok && h == c.After && c.After != c.Before:
			out.Done = append(out.Done, c)
		case ok && h == c.Before:
			out.Due = append(out.Due, c)
		default:
			out.Lost = append(out.Lost, c)
		}
	}
	return out
}

// Explain tells what became of an intent, "" where there is nothing to tell,
// since it is whole or nothing.
func (f Fate) Explain(i Intent) string {
	var parts []string
	add := func(what string, cs []event.FileChanged) {
		if len(cs) > 0 {
			var names []string
			for _, c := range cs {
				names = append(names, c.Path)
			}
			parts = append(parts, what+" "+strings.Join(names, ", "))
		}
	}
	if len(f.Lost) == 0 && (len(f.Done) == 0 || len(f.Due) == 0) {
		return ""
	}
	add("it had written", f.Done)
	add("it had not written", f.Due)
	add("somebody changed since", f.Lost)
	return fmt.Sprintf("pawl was stopped in the middle of a write (%s): %s", i.Tool, strings.Join(parts, "; "))
}
