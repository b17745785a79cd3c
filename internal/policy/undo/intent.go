package undo

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Intent is a write that was begun, as recorded by an event.Writing.
type Intent struct {
	event.Writing
	Time time.Time
}

// trackIntents keeps the open intents. An intent is closed when a change of its files is
// recorded (all changes of a write are recorded at once), when its call is done, or
// when an empty Writing records that nothing was written.
func (f *Fold) trackIntents(e event.Event) {
	over := func(call, tool string) {
		f.intents = slices.DeleteFunc(f.intents, func(i Intent) bool { return i.Call == call && i.Tool == tool })
	}
	switch b := e.Body.(type) {
	case event.Writing:
		over(b.Call, b.Tool)
		if len(b.Files) > 0 {
			f.intents = append(f.intents, Intent{b, e.Time})
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

// Intents returns the writes that were begun and have no end in the log: in a session
// that was opened again, those that the death of the process interrupted.
func (f *Fold) Intents() []Intent { return slices.Clone(f.intents) }

// IntentOutcome is how far an intent was executed, by the present state of its files.
type IntentOutcome struct {
	Done []event.FileChanged // as after the write
	Due  []event.FileChanged // as before the write
	Lost []event.FileChanged // neither: somebody else wrote them since
}

// Outcome sorts the files of an intent by their present state. A file whose mode alone was
// to change counts as due: changing it again has no effect.
func (i Intent) Outcome(now func(path string) (h tool.Hash, ok bool)) IntentOutcome {
	var out IntentOutcome
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

// Explain describes the outcome of an intent; "" if all or nothing was written, so
// that there is nothing to tell.
func (f IntentOutcome) Explain(i Intent) string {
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
