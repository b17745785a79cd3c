package line

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// This file shows calls and checks.

// call is an open call.
type call struct {
	chat.Call
	id    string
	shown bool   // its line was begun
	last  string // the last line that it printed
}

func (v *view) call(c chat.Change, b chat.Call) {
	i := slices.IndexFunc(v.calls, func(c2 call) bool { return c2.id == c.Block.ID })
	switch {
	case c.What == chat.Finished:
		v.done(i, b)
		v.flush() // what the call led to is shown below it, not below the next one
	case i < 0:
		v.calls = append(v.calls, call{Call: b, id: c.Block.ID})
		return
	case c.More != "": // its output: a call is one line
		if text := strings.TrimSpace(c.More); text != "" {
			v.calls[i].last = plain.Line(text[strings.LastIndexByte(text, '\n')+1:])
		}
		return
	default:
		v.calls[i].Call = b
	}
	v.hang()
}

// runs returns the title of the call or check whose line waits, "" for none. What waits for
// the person does not run.
func (v *view) runs() string {
	if len(v.calls) > 0 && v.calls[0].shown && !v.calls[0].AsksPerson {
		return v.calls[0].Title
	}
	return v.checks
}

// stillRuns tells of what runs for so long.
func (v *view) stillRuns(took time.Duration) {
	text := fmt.Sprintf("  (still runs, %s: %s", took, v.runs())
	if len(v.calls) > 0 && v.calls[0].last != "" {
		text += "; it printed: " + cut.Runes(v.calls[0].last, 80)
	}
	v.line(text + ")")
}

func (v *view) hang() {
	if len(v.calls) == 0 || !v.calls[0].Started || v.calls[0].shown || v.calls[0].Kind == tool.Note {
		return
	}
	v.end()
	v.print("  " + v.calls[0].Title)
	v.calls[0].shown, v.hanging = true, true
}

func (v *view) done(i int, b chat.Call) {
	waits := i == 0 && v.hanging
	if i >= 0 {
		v.calls = slices.Delete(v.calls, i, i+1)
	}
	if b.AsksPerson && b.Outcome == event.OK {
		return // question and answer stand there
	}
	if b.Arguments != "" {
		if waits {
			v.print("  " + b.Arguments)
		} else {
			b.Title += "  " + b.Arguments
		}
	}
	v.outcome(waits, b.Title, b.Summary)
	v.excerpt(b.Shown())
}

// excerpt shows a part of an output.
func (v *view) excerpt(x chat.Excerpt) {
	for _, l := range x.Head {
		v.line("    " + l)
	}
	if x.Between > 0 {
		between := map[bool]string{true: "    … %d lines between", false: "    … +%d lines"}
		v.line(fmt.Sprintf(between[len(x.Tail) > 0], x.Between))
	}
	for _, l := range x.Tail {
		v.line("    " + l)
	}
}

// outcome completes the line that waits for it, or writes a new line.
func (v *view) outcome(waits bool, title, said string) {
	if said != "" {
		said = "  → " + said
	}
	if waits {
		v.print(said + "\n")
		v.hanging = false
		return
	}
	v.line("  " + title + said)
}

func (v *view) check(c chat.Change, b chat.Check) {
	switch c.What {
	case chat.Added:
		v.end()
		v.print("  " + b.Title)
		v.hanging, v.checks = true, b.Title
	case chat.Finished:
		v.checks = ""
		v.outcome(v.hanging, b.Title, b.Summary)
		if b.Exit == nil || *b.Exit != 0 {
			v.excerpt(chat.Printed(b.Output, false))
		}
	}
}
