package evidence

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file forgets a refusal once what was refused is done: asked again and allowed, or done
// in another form.

// denial is a refused call, and what it would have done.
type denial struct {
	event.Blocked
	args json.RawMessage
	runs []shellsyntax.Command
	file string // that it would have changed
	over bool   // the call has its result: others may have its name from here on
}

func (f *Fold) denied(b event.Blocked) denial {
	d := denial{Blocked: b}
	if w := f.open[b.Call]; w != nil {
		d.args = w.asked.Args
		d.runs = f.changing(lineOf(d.args))
		if len(d.runs) == 0 && w.asked.Target != "" {
			d.file = f.relative(f.base(), w.asked.Target)
		}
	}
	return d
}

// lineOf returns the command line among the arguments of a call, "" if there is none.
func lineOf(args json.RawMessage) string {
	var a struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(args, &a)
	return a.Command
}

// changing returns the commands of a line that may do more than read; all if there is none.
func (f *Fold) changing(line string) []shellsyntax.Command {
	all, err := command.Parse(line, f.base())
	if err != nil {
		return nil
	}
	if some := slices.DeleteFunc(slices.Clone(all), func(c shellsyntax.Command) bool { return command.ReadOnly(c) }); len(some) > 0 {
		return some
	}
	return all
}

// did applies a call that was not refused.
func (f *Fold) did(b event.CallDone) {
	if len(f.denials) == 0 {
		return
	}
	f.denials = slices.Clone(f.denials)
	if b.Outcome != event.Denied {
		f.denials = slices.DeleteFunc(f.denials, f.doneBy(b))
	}
	for i := range f.denials {
		f.denials[i].over = f.denials[i].over || f.denials[i].Call == b.ID
	}
}

// doneBy returns which refused calls a call did.
func (f *Fold) doneBy(b event.CallDone) func(denial) bool {
	var args json.RawMessage
	if w := f.open[b.ID]; w != nil && b.Outcome == event.OK {
		args = w.asked.Args
	}
	var ran []shellsyntax.Command
	if b.Exit != nil {
		ran, _ = command.Parse(b.Command, f.base())
	}
	return func(d denial) bool {
		return (d.over || d.Call != b.ID) && d.Tool == b.Tool && (d.args != nil && bytes.Equal(d.args, args) || len(d.runs) > 0 && !slices.ContainsFunc(d.runs, func(c shellsyntax.Command) bool {
			return !slices.ContainsFunc(ran, func(r shellsyntax.Command) bool { return does(r, c) })
		}))
	}
}

// does reports whether a command did what another one would have done.
func does(ran, refused shellsyntax.Command) bool {
	same := ran.Dir.Text == refused.Dir.Text
	if _, check := command.CheckOf(refused); check { // what it prints may go elsewhere
		ran.Redirects, refused.Redirects, ran.Piped = nil, nil, false
		return same && (ran.String() == refused.String() || command.Covers(ran.String(), refused.String()))
	}
	return same && ran.String() == refused.String()
}

// wrote applies a change of a file.
func (f *Fold) wrote(b event.FileChanged) {
	if len(f.denials) > 0 && b.Tool != person {
		f.denials = slices.DeleteFunc(slices.Clone(f.denials), func(d denial) bool { return d.file == b.Path })
	}
}

// undone returns the refusals of what was not done.
func (f *Fold) undone() (out []event.Blocked) {
	for _, d := range f.denials {
		out = append(out, d.Blocked)
	}
	return out
}
