// Package undo knows which changes of files stand, and what it takes to put
// them back (SPEC 11.2).
//
// Fold gathers what the log has: each change with its number, content before
// and after, tool, call and command; what was undone, what can be done again,
// and which writes were begun and not ended. Select names the changes of a
// unit (the newest change, a turn, a file, a command, everything since a
// prompt), Steps.Decide tells for each file, given how it is now, what is to be
// done. Merge merges lines.
//
// It promises that a change is undone once; that what somebody else wrote is
// never in what is taken away, unless a plan asks for that file by name
// (File.Ask); that a file is deleted only where the agent created it and it is
// exactly as the agent left it. It does no I/O: contents and hashes are given
// to it, and who does a plan must look again whether they still hold.
package undo

import (
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// The names under which changes are recorded that no tool for editing made.
const (
	Tool     = "undo"    // files that were put back
	RedoTool = "redo"    // and changed again
	Person   = "command" // a person's own command: theirs, and never undone
	// Shell is the model's: whatever ran, since it is found by comparing.
	Shell = tool.CommandFamily
)

// OfCommand reports whether a command made a change: the model's or a person's.
func OfCommand(b event.FileChanged) bool { return b.Does == tool.Exec }

// Bounds of what a fold keeps: the newest of each.
const (
	maxChanges = 10_000
	maxPuts    = 1_000
	maxText    = 200 // of a prompt, bytes
)

// Change is one change of one file.
type Change struct {
	event.FileChanged
	Seq     int64 // the sequence number of its event
	Prompt  int64 // the sequence number of the person's prompt that led to it
	Time    time.Time
	Command string // the command line that did it, if one did

	step         int64 // the sequence number of the reply whose call it is of
	turn         int64 // the prompt that its turn began with; Prompt may have joined it
	group        int64 // the same for changes that were recorded at once
	unattributed bool  // of an undo's: what it put back was Unattributed
	came         bool  // a redo brought the file back, which somebody had removed
	undone       bool
}

// Put is what one undo put back, which can be done again.
type Put struct {
	Seq     int64 // the sequence number of its event
	What    string
	Prompt  int64
	Changes []Change // what the undo itself changed
	turn    int64    // of the changes that it put back
}

// Fold keeps the changes. The zero value is ready.
type Fold struct {
	changes []Change // oldest first
	puts    []Put    // oldest first
	turns   []Turn   // those with changes, and the last one
	used    bool     // the last one has some
	running bool     // a turn
	began   int64    // the prompt that it, or the last one, began with
	step    int64
	putting []Change // of an undo whose event has not come yet
	redoing int      // how many of the last changes are of a redo whose event has not come yet
	intents []Intent
}

// Apply takes one event.
func (f *Fold) Apply(e event.Event) {
	f.follow(e)
	switch b := e.Body.(type) {
	case event.Prompted:
		// What autofix or a hook asked for belongs to the person's turn.
		if b.Source == event.Person || len(f.turns) == 0 {
			f.turn(Turn{Prompt: e.Seq, Text: clip(b.Text)})
			if !f.running { // else it joins the turn
				f.began = e.Seq
			}
		}
		f.running = true
	case event.Ended:
		f.running = false
	case event.Replied:
		f.step = e.Seq
	case event.FileChanged:
		f.change(e, b)
	case event.CallDone:
		if b.Command != "" {
			f.ran(b)
		}
	case event.Undone:
		f.undone(e, b)
	case event.Redone:
		f.redone(b)
	}
}

// turn begins one. A last one that changed nothing is forgotten, so that the
// list is as long as there are changes and not as the session.
func (f *Fold) turn(t Turn) {
	if n := len(f.turns); n > 0 && !f.used {
		f.turns = f.turns[:n-1]
	}
	f.turns, f.used = append(f.turns, t), false
}

func (f *Fold) change(e event.Event, b event.FileChanged) {
	if b.Before == b.After && (b.Mode == b.ModeBefore || b.Mode == 0 || b.ModeBefore == 0) {
		return // the same was written again
	}
	c := Change{FileChanged: b, Seq: e.Seq, Time: e.Time, step: f.step, turn: f.began}
	if n := len(f.turns); n > 0 {
		c.Prompt = f.turns[n-1].Prompt
	}
	switch b.Tool {
	case Person:
		return
	case Tool:
		c.join(f.putting)
		f.putting = append(f.putting, c)
		return
	case RedoTool:
		f.redoing++
	default:
		f.redoing = 0
	}
	if len(f.changes) >= maxChanges+maxChanges/10 {
		f.forget()
	}
	c.join(f.changes)
	f.changes = append(f.changes, c)
	f.used = true
}

// join puts a change into the group of the one before it, where both were
// recorded at once: one write, or what one snapshot found of a command.
func (c *Change) join(before []Change) {
	c.group = c.Seq
	if n := len(before); n > 0 {
		if b := before[n-1]; b.Seq+1 == c.Seq && b.Call == c.Call && b.Tool == c.Tool {
			c.group = b.group
		}
	}
}

// forget drops the oldest changes, and the turns that have none left.
func (f *Fold) forget() {
	f.changes = slices.Clone(f.changes[len(f.changes)-maxChanges:])
	first := f.changes[0].Prompt
	f.turns = slices.Clone(f.turns[max(0, slices.IndexFunc(f.turns, func(t Turn) bool { return t.Prompt >= first })):])
}

// ran notes the command line that did the changes of a call.
func (f *Fold) ran(b event.CallDone) {
	for i := len(f.changes) - 1; i >= 0 && f.changes[i].Seq > f.step; i-- {
		if f.changes[i].Call == b.ID {
			f.changes[i].Command = b.Command
		}
	}
}

// undone marks what was put back. The logs of older pawls name only the turn.
func (f *Fold) undone(e event.Event, b event.Undone) {
	turn := int64(0)
	if len(b.Changes) == 0 {
		for i := range f.changes {
			if f.changes[i].Prompt == b.Prompt {
				f.changes[i].undone, turn = true, f.changes[i].turn
			}
		}
	}
	for _, seq := range b.Changes {
		if c := f.at(seq); c != nil {
			c.undone, turn = true, max(turn, c.turn)
			for i := range f.putting {
				f.putting[i].unattributed = f.putting[i].unattributed || c.Unattributed && f.putting[i].Path == c.Path
			}
		}
	}
	if len(f.putting) > 0 {
		f.puts = append(f.puts, Put{Seq: e.Seq, What: b.What, Prompt: b.Prompt, Changes: f.putting, turn: turn})
	}
	if len(f.puts) > maxPuts {
		f.puts = slices.Clone(f.puts[len(f.puts)-maxPuts:])
	}
	f.putting = nil
}

// redone takes from an undo what was done again; the new changes belong to the
// turn that the undone ones were of.
func (f *Fold) redone(b event.Redone) {
	i := slices.IndexFunc(f.puts, func(p Put) bool { return p.Seq == b.Undone })
	if i < 0 {
		return
	}
	p := &f.puts[i]
	for n := len(f.changes) - 1; n >= len(f.changes)-f.redoing; n-- {
		c := &f.changes[n]
		c.Prompt, c.turn = p.Prompt, p.turn
		for _, o := range p.Changes {
			c.Unattributed = c.Unattributed || o.Path == c.Path && o.unattributed
			c.came = c.came || o.Path == c.Path && c.Before == "" && o.After != ""
		}
	}
	f.redoing = 0
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool { return slices.Contains(b.Paths, c.Path) })
	if len(p.Changes) == 0 {
		f.puts = slices.Delete(f.puts, i, i+1)
	}
}

func (f *Fold) at(seq int64) *Change {
	i, ok := slices.BinarySearchFunc(f.changes, seq, func(c Change, seq int64) int { return int(c.Seq - seq) })
	if !ok {
		return nil
	}
	return &f.changes[i]
}

// Stand reports whether all these changes stand.
func (f *Fold) Stand(seqs []int64) bool {
	for _, seq := range seqs {
		if c := f.at(seq); c == nil || c.undone {
			return false
		}
	}
	return true
}

// Only returns those of these changes that are of files for which keep is true.
func (f *Fold) Only(seqs []int64, keep func(path string) bool) []int64 {
	var out []int64
	for _, seq := range seqs {
		if c := f.at(seq); c != nil && keep(c.Path) {
			out = append(out, seq)
		}
	}
	return out
}

// CanRedo reports whether an undo can still be done again.
func (f *Fold) CanRedo(undone int64) bool {
	return slices.ContainsFunc(f.puts, func(p Put) bool { return p.Seq == undone })
}

// Restore is one file of a turn: Now is how the agent left it, Before how it
// was. Empty hashes mean that the file does not exist then. Kept is false
// where the content before was not kept: it can not be restored.
type Restore struct {
	Path        string
	Now, Before tool.Hash
	Kept        bool
}

// Turn is the changes of one turn that stand, in the order they were made.
type Turn struct {
	Prompt int64 // the sequence number of the prompt that led to them
	Text   string
	Files  []Restore
}

// Last returns the newest turn whose changes stand; ok is false where there is
// none. Files that are back to what they were are left out.
func (f *Fold) Last() (t Turn, ok bool) {
	ts := f.Turns()
	if len(ts) == 0 {
		return Turn{}, false
	}
	return ts[len(ts)-1], true
}

// Turns lists the turns with changes that stand, oldest first.
func (f *Fold) Turns() []Turn {
	files := map[int64][]Restore{}
	for _, c := range f.changes {
		if c.undone {
			continue
		}
		rs := files[c.Prompt]
		i := slices.IndexFunc(rs, func(r Restore) bool { return r.Path == c.Path })
		if i < 0 {
			rs = append(rs, Restore{Path: c.Path, Now: c.After, Before: c.Before, Kept: c.Kept || c.Before == ""})
		} else {
			rs[i].Now = c.After
		}
		files[c.Prompt] = rs
	}
	var out []Turn
	for prompt, rs := range files {
		rs = slices.DeleteFunc(rs, func(r Restore) bool { return r.Now == r.Before })
		if len(rs) > 0 {
			out = append(out, Turn{Prompt: prompt, Text: f.text(prompt), Files: rs})
		}
	}
	slices.SortFunc(out, func(a, b Turn) int { return int(a.Prompt - b.Prompt) })
	return out
}

func (f *Fold) text(prompt int64) string {
	if i := slices.IndexFunc(f.turns, func(t Turn) bool { return t.Prompt == prompt }); i >= 0 {
		return f.turns[i].Text
	}
	return ""
}

func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	n := maxText
	for n > 0 && s[n]&0xc0 == 0x80 { // within a character
		n--
	}
	return s[:n] + "…"
}
