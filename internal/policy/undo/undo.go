// Package undo knows which changes of files are in effect, and how to undo them (SPEC
// 11.2).
//
// Fold collects the changes from the log: each with its sequence number, content before
// and after, tool, call and command; which were undone, which can be redone, and which
// writes were started and not finished. Select returns the changes of a unit (the newest
// change, a turn, a file, a command, everything since a prompt). Steps.Decide returns
// the action for each file, given its present state.
//
// It promises that a change is undone once; that text that somebody else wrote is never
// removed unless the plan asks about that file by name (File.Ask); and that a file is
// deleted only if the agent created it and it is exactly as the agent left it. It does no
// I/O: the caller passes contents and hashes, and must check again that they still hold
// before it executes a plan.
package undo

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// The names under which changes are recorded that no editing tool made.
const (
	Tool     = "undo"    // files that were put back
	RedoTool = "redo"    // and changed again
	Person   = "command" // a person's own command: theirs, and never undone
	// Shell is the model's: whatever ran, since it is found by comparing.
	Shell = tool.CommandFamily
)

// OfCommand reports whether a command made a change: the model's or a person's.
func OfCommand(b event.FileChanged) bool { return b.Does == tool.Exec }

// Limits of what a fold keeps: the newest of each.
const (
	maxChanges = 100_000
	maxPuts    = 1_000
	maxText    = 200 // of a prompt, bytes
)

// Change is one change of one file.
type Change struct {
	event.FileChanged
	Seq     int64  // the sequence number of its event
	Prompt  int64  // the sequence number of the person's prompt that led to it
	Command string // the command line that made it, if one did
	// Step is the number of the reply with its call, counted in the turn, and Description
	// what it is for, in the model's words. Both are empty for an undo and a redo.
	Step        int
	Description string

	reply          int64 // the sequence number of the reply with its call
	turn           int64 // the prompt that began its turn; Prompt may have joined the turn
	group          int64 // equal for changes that were recorded at once
	unattributed   bool  // for an undo's change: it restored an unattributed one
	restoredByRedo bool  // a redo restored the file, which somebody had removed
	undone         bool
	set            *event.Kept // not a change of one file: what a set keeps
}

// AppliedUndo is an undo that was executed and can be redone.
type AppliedUndo struct {
	Seq     int64 // the sequence number of its event
	Prompt  int64
	Changes []Change // what the undo itself changed
	turn    int64    // the turn of the changes that it undid
}

// Fold keeps the changes. The zero value is ready.
type Fold struct {
	changes        []Change      // oldest first
	forgotten      int           // how many older ones were dropped
	forgottenTo    int64         // the newest prompt that they belong to
	applied        []AppliedUndo // oldest first
	turns          []Turn        // those with changes, and the last one
	lastHasChanges bool          // the last one has changes
	running        bool          // a turn is running
	began          int64         // the first prompt of that turn, or of the last one
	reply          int64
	described      described
	pendingUndo    []Change // the changes of an undo whose event has not come yet
	redoing        int      // how many of the last changes belong to a redo whose event has not come yet
	intents        []Intent
}

func (f *Fold) Apply(e event.Event) {
	f.trackIntents(e)
	switch b := e.Body.(type) {
	case event.Prompted:
		// Prompts by autofix or a hook belong to the person's turn.
		if b.Source == event.Person || len(f.turns) == 0 {
			f.turn(Turn{Prompt: e.Seq, Text: cut.Bytes(b.Text, maxText)})
			if !f.running { // otherwise it joins the turn
				f.began, f.described = e.Seq, described{}
			}
		}
		f.running = true
	case event.Ended:
		f.running = false
	case event.Replied:
		f.reply = e.Seq
		f.described.replied(b)
	case event.CallAsked:
		f.described.asked(b)
	case event.FileChanged:
		f.change(e, b)
	case event.Kept:
		f.kept(e, b)
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

// turn begins a turn. The last one is dropped if it changed nothing, so that
// the list grows with the changes and not with the session.
func (f *Fold) turn(t Turn) {
	if n := len(f.turns); n > 0 && !f.lastHasChanges {
		f.turns = f.turns[:n-1]
	}
	f.turns, f.lastHasChanges = append(f.turns, t), false
}

func (f *Fold) change(e event.Event, b event.FileChanged) {
	if b.Before == b.After && (b.Mode == b.ModeBefore || b.Mode == 0 || b.ModeBefore == 0) {
		return // the same content was written again
	}
	if b.Stored { // an event.Kept follows
		return
	}
	f.add(e, b, nil)
}

func (f *Fold) add(e event.Event, b event.FileChanged, set *event.Kept) {
	c := Change{FileChanged: b, Seq: e.Seq, reply: f.reply, turn: f.began, set: set}
	if n := len(f.turns); n > 0 {
		c.Prompt = f.turns[n-1].Prompt
	}
	switch b.Tool {
	case Person:
		return
	case Tool:
		c.join(f.pendingUndo)
		f.pendingUndo = append(f.pendingUndo, c)
		return
	case RedoTool:
		f.redoing++
	default:
		f.redoing = 0
		c.Step, c.Description = f.described.step, f.described.of(b.Call)
	}
	if len(f.changes) >= maxChanges+maxChanges/10 {
		f.forget()
	}
	c.join(f.changes)
	f.changes = append(f.changes, c)
	f.lastHasChanges = true
}

// join adds a change to the group of the one before it if both were recorded at once: by
// one write, or by one snapshot after a command.
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
	n := len(f.changes) - maxChanges
	f.forgotten, f.forgottenTo = f.forgotten+n, f.changes[n-1].Prompt
	f.changes = slices.Clone(f.changes[n:])
	first := f.changes[0].Prompt
	f.turns = slices.Clone(f.turns[max(0, slices.IndexFunc(f.turns, func(t Turn) bool { return t.Prompt >= first })):])
}

// ran records the command line of the changes of a call.
func (f *Fold) ran(b event.CallDone) {
	for i := len(f.changes) - 1; i >= 0 && f.changes[i].Seq > f.reply; i-- {
		if f.changes[i].Call == b.ID {
			f.changes[i].Command = b.Command
		}
	}
}

// undone marks what was undone. Logs of older versions name only the turn.
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
			for i := range f.pendingUndo {
				f.pendingUndo[i].unattributed = f.pendingUndo[i].unattributed || c.Unattributed && f.pendingUndo[i].Path == c.Path
			}
		}
	}
	if len(f.pendingUndo) > 0 {
		f.applied = append(f.applied, AppliedUndo{Seq: e.Seq, Prompt: b.Prompt, Changes: f.pendingUndo, turn: turn})
	}
	if len(f.applied) > maxPuts {
		f.applied = slices.Clone(f.applied[len(f.applied)-maxPuts:])
	}
	f.pendingUndo = nil
}

// redone removes the redone changes from an undo; the new changes belong to the
// turn of the undone ones.
func (f *Fold) redone(b event.Redone) {
	i := slices.IndexFunc(f.applied, func(p AppliedUndo) bool { return p.Seq == b.Undone })
	if i < 0 {
		return
	}
	p := &f.applied[i]
	for n := len(f.changes) - 1; n >= len(f.changes)-f.redoing; n-- {
		c := &f.changes[n]
		c.Prompt, c.turn = p.Prompt, p.turn
		for _, o := range p.Changes {
			c.Unattributed = c.Unattributed || o.Path == c.Path && o.unattributed
			c.restoredByRedo = c.restoredByRedo || o.Path == c.Path && c.Before == "" && o.After != ""
		}
	}
	f.redoing = 0
	redone := setOf(b.Paths)
	p.Changes = slices.DeleteFunc(p.Changes, func(c Change) bool { return redone[c.Path] })
	if len(p.Changes) == 0 {
		f.applied = slices.Delete(f.applied, i, i+1)
	}
}

func (f *Fold) at(seq int64) *Change {
	i, ok := slices.BinarySearchFunc(f.changes, seq, func(c Change, seq int64) int { return int(c.Seq - seq) })
	if !ok {
		return nil
	}
	return &f.changes[i]
}

// InEffect reports whether all these changes are in effect.
func (f *Fold) InEffect(seqs []int64) bool {
	for _, seq := range seqs {
		if c := f.at(seq); c == nil || c.undone {
			return false
		}
	}
	return true
}

// Filter returns the changes among these whose file keep accepts.
func (f *Fold) Filter(seqs []int64, keep func(path string) bool) []int64 {
	var out []int64
	for _, seq := range seqs {
		if c := f.at(seq); c != nil && keep(c.Path) {
			out = append(out, seq)
		}
	}
	return out
}

// CanRedo reports whether an undo can still be redone.
func (f *Fold) CanRedo(undone int64) bool {
	return slices.ContainsFunc(f.applied, func(p AppliedUndo) bool { return p.Seq == undone })
}

// Restore is one file of a turn: Now is the content that the agent left, Before
// the content before. An empty hash means that the file did not exist. Kept is
// false if the content before was not kept, so that it cannot be restored.
type Restore struct {
	Path        string
	Now, Before tool.Hash
	Kept        bool
}

// Turn is the changes of one turn that are in effect, in the order they were made.
type Turn struct {
	Prompt int64 // the sequence number of the prompt that led to them
	Text   string
	Files  []Restore
}

// Last returns the newest turn with changes in effect; ok is false if there is
// none. Files that are back to their old content are left out.
func (f *Fold) Last() (t Turn, ok bool) {
	ts := f.Turns()
	if len(ts) == 0 {
		return Turn{}, false
	}
	return ts[len(ts)-1], true
}

// Turns lists the turns with changes in effect, oldest first.
func (f *Fold) Turns() []Turn {
	files := map[int64][]Restore{}
	type place struct {
		prompt int64
		path   string
	}
	at := map[place]int{} // of a file among its turn's
	for _, c := range f.changes {
		if c.undone {
			continue
		}
		rs := files[c.Prompt]
		i, known := at[place{c.Prompt, c.Path}]
		if !known {
			at[place{c.Prompt, c.Path}] = len(rs)
		}
		switch {
		case c.set != nil:
			rs = append(rs, Restore{Path: c.Path, Before: "kept", Kept: true})
		case known:
			rs[i].Now = c.After
		default:
			rs = append(rs, Restore{Path: c.Path, Now: c.After, Before: c.Before, Kept: c.Kept || c.Before == ""})
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
	sorting.By(out, func(a, b Turn) int { return int(a.Prompt - b.Prompt) })
	return out
}

func (f *Fold) text(prompt int64) string {
	if i := slices.IndexFunc(f.turns, func(t Turn) bool { return t.Prompt == prompt }); i >= 0 {
		return f.turns[i].Text
	}
	return ""
}
