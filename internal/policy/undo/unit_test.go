package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// joins is the id of prompts that were delivered into a running turn.
const joins = "joins"

// SPEC 10.1, 11.2: what a turn changed before and after a prompt joined it is put
// back by "turn"; a rewind to that prompt puts back what came after it.
func TestTurnWithAPromptThatJoined(t *testing.T) {
	var l log
	l.add(event.Prompted{Source: event.Person}, by("edit", "1", "z", "1", "2"))                                                                                  // 2
	l.add(event.Prompted{Source: event.Person}, by("edit", "2", "a", "1", "2"), event.Prompted{Source: event.Person, ID: joins}, by("edit", "3", "b", "1", "2")) // 4, 6
	l.want(t, Selector{Kind: ByRewind, Prompt: 5}, "b:6")
	l.want(t, Selector{Kind: ByRewind, Prompt: 3}, "a:4 b:6")
	l.want(t, Selector{Kind: ByTurn}, "a:4 b:6")
	undone := l.add(by(Tool, "", "a", "2", "1"), by(Tool, "", "b", "2", "1"), event.Undone{What: "turn", Prompt: 5, Changes: []int64{4, 6}, Paths: []string{"a", "b"}})
	l.want(t, Selector{Kind: ByTurn}, "z:2")
	l.add(by(RedoTool, "", "a", "1", "2"), by(RedoTool, "", "b", "1", "2"), event.Redone{Undone: undone, Paths: []string{"a", "b"}}) // 10, 11
	l.want(t, Selector{Kind: ByTurn}, "a:10 b:11")
}

// log applies bodies as events 1, 2, …
type log struct {
	Fold
	seq int64
}

func (l *log) add(bs ...event.Body) int64 {
	for _, b := range bs {
		if p, ok := b.(event.Prompted); ok && p.Source == event.Person && p.ID != joins {
			l.Apply(event.Event{Body: event.Ended{}}) // of the turn before
		}
		l.seq++
		l.Apply(event.Event{Seq: l.seq, Body: b})
	}
	return l.seq
}

func by(tool, call, path string, before, after tool.Hash) event.FileChanged {
	return event.FileChanged{Tool: tool, Call: call, Path: path, Before: before, After: after, Kept: true}
}

// places are the changes of a unit, "path:seq,seq path:seq".
func places(u Unit) string {
	var out []string
	for _, s := range u.Files {
		out = append(out, s.Path+":"+strings.Trim(strings.ReplaceAll(fmt.Sprint(s.Changes), " ", ","), "[]"))
	}
	return strings.Join(out, " ")
}

func (l *log) want(t *testing.T, w Selector, want string) Unit {
	t.Helper()
	u, err := l.Select(w)
	if got := places(u); got != want || (want == "") != errors.Is(err, ErrNothing) {
		t.Errorf("%+v: %q %v, want %q", w, got, err, want)
	}
	return u
}

// SPEC 11.2, A's table: the last change, the turn, a file; and a command, all
// since a prompt.
func TestUnits(t *testing.T) {
	var l log
	l.want(t, Selector{Kind: ByChange}, "")
	l.add(event.Prompted{Source: event.Person, Text: "first"}, by("edit", "1", "a", "1", "2"))                                                  // 2
	l.add(event.Prompted{Source: event.Person, Text: "second"}, event.Replied{}, by("edit", "2", "a", "2", "3"), by("edit", "2", "b", "", "x")) // 5, 6
	l.add(event.Writing{Call: "3", Tool: "bash"}, by("bash", "3", "c", "", "y"), by("bash", "3", "d", "z", ""))                                 // 8, 9
	l.add(event.CallDone{ID: "3", Tool: "bash", Command: "mv d c"}, by(Person, "", "p", "1", "2"))
	l.add(event.Prompted{Source: event.Autofix}, by("write", "4", "e", "", "e")) // 13
	l.add(event.Prompted{Source: event.Person, Text: "nothing comes of it"})

	l.want(t, Selector{Kind: ByChange}, "e:13")
	u := l.want(t, Selector{Kind: ByTurn}, "a:5 b:6 c:8 d:9 e:13")
	if u.Prompt != 3 || u.Text != "second" {
		t.Errorf("%+v", u)
	}
	l.want(t, Selector{Kind: ByFile, Path: "a"}, "a:5")
	l.want(t, Selector{Kind: ByFile, Path: "c"}, "c:8 d:9") // a move goes back whole
	l.want(t, Selector{Kind: ByFile, Path: "p"}, "")        // a person's own
	if u := l.want(t, Selector{Kind: ByCommand}, "c:8 d:9"); !slices.Equal(u.Files[0].With, []string{"d"}) {
		t.Errorf("%+v", u.Files)
	}
	l.want(t, Selector{Kind: ByRewind, Prompt: 1}, "a:2,5 b:6 c:8 d:9 e:13")
	l.want(t, Selector{Kind: ByAll}, "a:2,5 b:6 c:8 d:9 e:13")
	l.want(t, Selector{Kind: ByAll, Path: "a"}, "a:2,5")

	l.add(by(Tool, "", "e", "e", ""), event.Undone{What: "change", Prompt: 3, Changes: []int64{13}, Paths: []string{"e"}})
	l.want(t, Selector{Kind: ByChange}, "c:8 d:9") // what was written in one go
	l.want(t, Selector{Kind: ByTurn}, "a:5 b:6 c:8 d:9")
	l.add(event.Undone{Prompt: 3, Paths: []string{"a"}}) // an older pawl's: the whole turn
	l.want(t, Selector{Kind: ByTurn}, "a:2")
	if l.InEffect([]int64{5}) || !l.InEffect([]int64{2}) || l.InEffect([]int64{99}) {
		t.Error("what stands is wrong")
	}
}

// SPEC 11.2: a change is undone once; redo is a new change, of the same turn.
func TestRedo(t *testing.T) {
	var l log
	if _, err := l.Select(Selector{Kind: ByRedo}); !errors.Is(err, ErrNoRedo) {
		t.Error(err)
	}
	unattributed := by("bash", "1", "b", "1", "2")
	unattributed.Unattributed = true
	l.add(event.Prompted{Source: event.Person}, by("edit", "1", "a", "1", "2"), unattributed)
	l.add(event.Prompted{Source: event.Person}, by("edit", "2", "x", "1", "2"))
	undone := l.add(by(Tool, "", "a", "2", "1"), by(Tool, "", "b", "2", "1"), event.Undone{What: "turn", Prompt: 1, Changes: []int64{2, 3}, Paths: []string{"a", "b"}})
	l.want(t, Selector{Kind: ByAll}, "x:5")
	u, err := l.Select(Selector{Kind: ByRedo})
	if err != nil || u.Undone != undone || places(u) != "a:6 b:7" || u.Files[1].Unattributed {
		t.Errorf("%+v %v", u, err)
	}
	l.add(by(RedoTool, "", "b", "1", "2"), event.Redone{Undone: undone, Paths: []string{"b"}}) // 9: a part of it
	if u, err = l.Select(Selector{Kind: ByRedo}); err != nil || places(u) != "a:6" || !l.CanRedo(undone) {
		t.Errorf("%+v %v", u, err)
	}
	l.add(by(RedoTool, "", "a", "1", "2"), event.Redone{Undone: undone, Paths: []string{"a"}}) // 11
	if l.CanRedo(undone) {
		t.Error("done again twice")
	}
	l.want(t, Selector{Kind: ByTurn}, "x:5")
	if u := l.want(t, Selector{Kind: ByRewind, Prompt: 1}, "x:5 b:9 a:11"); !u.Files[1].Unattributed || u.Files[2].Unattributed {
		t.Errorf("what was unattributed is not any more: %+v", u.Files)
	}
	l.add(event.Undone{Prompt: 4, Changes: []int64{5}})
	l.want(t, Selector{Kind: ByTurn}, "b:9 a:11")
}

// SPEC 4.8, 11.2: writes that were begun and not ended are known.
func TestIntents(t *testing.T) {
	var l log
	w := func(call, tool string) event.Writing {
		return event.Writing{Call: call, Tool: tool, Files: []event.FileChanged{by(tool, call, "a", "1", "2"), by(tool, call, "b", "1", "2"), by(tool, call, "c", "1", "2")}}
	}
	l.add(w("1", "edit"), w("2", "write"), w("3", "write"), w("4", "write"))
	l.add(by("edit", "1", "a", "1", "2"), event.CallDone{ID: "3"}, event.Writing{Call: "4", Tool: "write"})
	got := l.Intents()
	if len(got) != 1 || got[0].Call != "2" {
		t.Fatalf("%+v", got)
	}
	fate := got[0].Outcome(func(p string) (tool.Hash, bool) {
		return map[string]tool.Hash{"a": "1", "b": "2", "c": "3"}[p], true
	})
	if len(fate.Due) != 1 || fate.Due[0].Path != "a" || fate.Done[0].Path != "b" || fate.Lost[0].Path != "c" {
		t.Errorf("%+v", fate)
	}
	l.add(event.Writing{Tool: Tool, Files: w("", Tool).Files}, event.Undone{}, event.Writing{Tool: RedoTool, Files: w("", RedoTool).Files}, event.Redone{})
	if n := len(l.Intents()); n != 1 {
		t.Errorf("%d are open", n)
	}
}

// Memory is bounded, and what is kept is the newest.
func TestBounds(t *testing.T) {
	var l log
	for range 3 * maxChanges / 10 {
		l.add(event.Prompted{Source: event.Person, Text: strings.Repeat("é", 500)}, by("edit", "", "a", "1", "2"), by("edit", "", "b", "1", "2"), by("edit", "", "c", "1", "2"), by("edit", "", "d", "1", "2"))
		l.add(by(Tool, "", "x", "1", "2"), event.Undone{Changes: []int64{l.seq - 1}})
	}
	if len(l.changes) > maxChanges+maxChanges/10 || len(l.applied) > maxPuts || len(l.turns) > len(l.changes)/4+2 {
		t.Errorf("%d changes, %d puts, %d turns", len(l.changes), len(l.applied), len(l.turns))
	}
	if u, err := l.Select(Selector{Kind: ByTurn}); err != nil || len(u.Files) != 3 || len(u.Text) > maxText+3 {
		t.Errorf("%v %v", places(u), err)
	}
	// What was forgotten is told where it may belong to what is undone.
	for kind, told := range map[Kind]bool{ByTurn: false, ByAll: true} {
		if u, err := l.Select(Selector{Kind: kind}); err != nil || u.Forgotten > 0 != told {
			t.Errorf("%s: %d forgotten, %v", kind, u.Forgotten, err)
		}
	}
}

// SPEC 11.2: an undo of a turn with more changes than are kept says that some stay.
func TestForgottenOfATurn(t *testing.T) {
	var l log
	l.add(event.Prompted{Source: event.Person, Text: "many"})
	for i := range maxChanges + maxChanges/10 + 1 {
		l.add(by("bash", "", fmt.Sprint(i), "", "1"))
	}
	if u, err := l.Select(Selector{Kind: ByTurn}); err != nil || u.Forgotten != maxChanges/10 {
		t.Errorf("%d forgotten, %v", u.Forgotten, err)
	}
}

// SPEC 11.2: what is done to a file, by how it is now.
func TestDecide(t *testing.T) {
	h := func(s string) tool.Hash {
		if s == "" {
			return ""
		}
		return edits.HashOf([]byte(s))
	}
	fc := func(before, after string) event.FileChanged { return by("edit", "1", "f", h(before), h(after)) }
	with := func(c event.FileChanged, f func(*event.FileChanged)) event.FileChanged { f(&c); return c }
	link := uint32(fs.ModeSymlink)
	loose := func(c event.FileChanged) event.FileChanged {
		c.Unattributed = true
		return c
	}
	for _, c := range []struct {
		name    string
		changes []event.FileChanged
		now     string
		mode    uint32
		action  Action
		to, ask string
		why     string
		toMode  uint32
	}{
		{name: "as it was left", changes: []event.FileChanged{fc("a\n", "b\n")}, now: "b\n", action: PutBack, to: "a\n"},
		{name: "several are one", changes: []event.FileChanged{fc("a\n", "b\n"), fc("b\n", "c\n")}, now: "c\n", action: PutBack, to: "a\n"},
		{name: "put back by somebody", changes: []event.FileChanged{fc("a\n", "b\n")}, now: "a\n", action: Same, to: "a\n"},
		{name: "created", changes: []event.FileChanged{fc("", "b\n")}, now: "b\n", action: Delete},
		{name: "created and changed since", changes: []event.FileChanged{fc("", "b\n")}, now: "b\nmine\n", action: Clash, why: "created"},
		{name: "created and gone since", changes: []event.FileChanged{fc("", "b\n")}, now: "", action: Same},
		{name: "removed", changes: []event.FileChanged{fc("a\n", "")}, now: "", action: PutBack, to: "a\n"},
		{name: "removed, and another is there", changes: []event.FileChanged{fc("a\n", "")}, now: "x\n", action: Clash, why: "another file"},
		{name: "removed since", changes: []event.FileChanged{fc("a\n", "b\n")}, now: "", action: PutBack, to: "a\n", ask: "removed since"},
		{name: "a later edit elsewhere", changes: []event.FileChanged{fc("a\n1\n2\n", "b\n1\n2\n")}, now: "b\n1\n2\nmine\n", action: Beside, to: "a\n1\n2\nmine\n"},
		{name: "a later edit of the same", changes: []event.FileChanged{fc("a\n", "b\n")}, now: "mine\n", action: Clash, why: "same lines"},
		{name: "somebody deleted what the agent changed", changes: []event.FileChanged{fc("a\n1\n2\n", "b\n1\n2\n")}, now: "1\n2\n", action: Clash, why: "same lines"},
		{name: "somebody's edit between two changes stays", changes: []event.FileChanged{fc("a\n1\n2\n", "b\n1\n2\n"), fc("b\n1\n2\nmine\n", "c\n1\n2\nmine\n")}, now: "c\n1\n2\nmine\n", action: Beside, to: "a\n1\n2\nmine\n"},
		{name: "made and removed again", changes: []event.FileChanged{fc("", "b\n"), fc("b\n", "")}, now: "mine\n", action: Same, to: "mine\n"},
		{name: "binary", changes: []event.FileChanged{fc("a\x00\n", "b\x00\n")}, now: "b\x00\nmine\n", action: Clash, why: "not text"},
		{name: "not kept", changes: []event.FileChanged{with(fc("a\n", "b\n"), func(c *event.FileChanged) { c.Kept = false })}, now: "b\n", action: Lost, why: "not kept"},
		{name: "not kept, but back already", changes: []event.FileChanged{with(fc("a\n", "b\n"), func(c *event.FileChanged) { c.Kept = false })}, now: "a\n", action: Same, to: "a\n"},
		{name: "unattributed", changes: []event.FileChanged{with(fc("a\n", "b\n"), func(c *event.FileChanged) { c.Unattributed = true })}, now: "b\n", action: PutBack, to: "a\n", ask: "not certain"},
		{name: "unattributed, and overwritten again", changes: []event.FileChanged{loose(fc("a\n", "b\n")), fc("b\n", "a\n")}, now: "a\n", action: PutBack, to: "b\n", ask: "lost again"},
		{name: "unattributed, and overwritten by two", changes: []event.FileChanged{fc("c\n", "a\n"), loose(fc("a\n", "b\n")), fc("b\n", "a\n"), fc("a\n", "c\n")}, now: "c\n", action: PutBack, to: "b\n", ask: "lost again"},
		{name: "unattributed twice", changes: []event.FileChanged{loose(fc("a\n", "b\n")), loose(fc("b\n", "a\n"))}, now: "a\n", action: PutBack, to: "b\n", ask: "lost again"},
		{name: "made by somebody, and removed", changes: []event.FileChanged{loose(with(fc("", "b\n"), func(c *event.FileChanged) { c.Mode = 0o755 })), with(fc("b\n", ""), func(c *event.FileChanged) { c.ModeBefore = 0o755 })}, now: "", action: PutBack, to: "b\n", toMode: 0o755, ask: "lost again"},
		{name: "overwritten, and another content is there", changes: []event.FileChanged{loose(fc("a\n", "b\n")), fc("b\n", "c\n"), fc("c\n", "a\n")}, now: "b\n", action: Same, to: "b\n"},
		{name: "overwritten, and not kept", changes: []event.FileChanged{loose(fc("a\n", "b\n")), with(fc("b\n", "a\n"), func(c *event.FileChanged) { c.Kept = false })}, now: "a\n", action: Same, to: "a\n"},
		{name: "mode comes back", changes: []event.FileChanged{with(fc("a\n", "b\n"), func(c *event.FileChanged) { c.ModeBefore, c.Mode = 0o755, 0o644 })}, now: "b\n", mode: 0o644, action: PutBack, to: "a\n", toMode: 0o755},
		{name: "only the mode", changes: []event.FileChanged{with(fc("a\n", "a\n"), func(c *event.FileChanged) { c.ModeBefore, c.Mode = 0o644, 0o755 })}, now: "a\nmine\n", mode: 0o755, action: PutBack, to: "a\nmine\n", toMode: 0o644},
		{name: "a later mode stays", changes: []event.FileChanged{with(fc("a\n", "b\n"), func(c *event.FileChanged) { c.ModeBefore, c.Mode = 0o755, 0o644 })}, now: "b\n", mode: 0o600, action: PutBack, to: "a\n"},
		{name: "removed with its mode", changes: []event.FileChanged{with(fc("a\n", ""), func(c *event.FileChanged) { c.ModeBefore = 0o755 })}, now: "", action: PutBack, to: "a\n", toMode: 0o755},
		{name: "created, and its mode changed since", changes: []event.FileChanged{with(fc("", "a\n"), func(c *event.FileChanged) { c.Mode = 0o644 })}, now: "a\n", mode: 0o755, action: Delete, ask: "mode"},
		{name: "a link became a file", changes: []event.FileChanged{with(fc("target", "b\n"), func(c *event.FileChanged) { c.ModeBefore, c.Mode = link, 0o644 })}, now: "b\n", mode: 0o644, action: PutBack, to: "target", toMode: link},
		{name: "a file of unknown mode became a link", changes: []event.FileChanged{with(fc("a\n", "target"), func(c *event.FileChanged) { c.Mode = link })}, now: "target", mode: link, action: PutBack, to: "a\n", toMode: 0o600},
		{name: "a link that was changed since", changes: []event.FileChanged{with(fc("target", "other"), func(c *event.FileChanged) { c.ModeBefore, c.Mode = link, link })}, now: "third", mode: link, action: Clash, why: "symlink"},
		{name: "a file became a link since", changes: []event.FileChanged{with(fc("a\n", "b\n"), func(c *event.FileChanged) { c.ModeBefore, c.Mode = 0o644, 0o644 })}, now: "b\n", mode: link, action: Clash, why: "symlink"},
	} {
		var l log
		l.add(event.Prompted{Source: event.Person})
		contents := map[tool.Hash][]byte{h(c.now): []byte(c.now)}
		for _, b := range c.changes {
			l.add(b, event.Replied{})
		}
		for _, s := range []string{"a\n", "b\n", "c\n", "a\n1\n2\n", "b\n1\n2\n", "c\n1\n2\nmine\n", "b\n1\n2\nmine\n", "a\x00\n", "b\x00\n"} {
			contents[h(s)] = []byte(s)
		}
		u, err := l.Select(Selector{Kind: ByTurn})
		if err != nil {
			t.Fatal(c.name, err)
		}
		now := FileState{Hash: h(c.now), Mode: c.mode}
		wanted := map[tool.Hash][]byte{}
		for _, w := range u.Files[0].NeededContents(now.Hash) {
			wanted[w] = contents[w]
		}
		f := u.Files[0].Decide(now, wanted)
		if f.Action != c.action || !f.Blocked() && (f.To != h(c.to) || f.Mode != c.toMode) {
			t.Errorf("%s: %+v", c.name, f)
		}
		if (c.ask == "") != (f.Ask == "") || !strings.Contains(f.Ask, c.ask) || (c.why == "") != (f.Why == "") || !strings.Contains(f.Why, c.why) {
			t.Errorf("%s: asks %q, says %q", c.name, f.Ask, f.Why)
		}
	}
}

// A file is not deleted where its content would be nowhere then.
func TestDeleteKeepsContent(t *testing.T) {
	var l log
	l.add(event.Prompted{Source: event.Person}, by("bash", "1", "copy", "", "x"), event.Replied{}, by("bash", "2", "orig", "x", ""))
	u := must.Get(l.Select(Selector{Kind: ByFile, Path: "copy"}))(t)
	if f := u.Files[0].Decide(FileState{Hash: "x"}, nil); f.Action != Delete || !strings.Contains(f.Ask, "orig") {
		t.Errorf("%+v", f)
	}
	// A move whose old name is in use stays as it is, both halves of it.
	var m log
	m.add(event.Prompted{Source: event.Person}, by("bash", "1", "old", "x", ""), by("bash", "1", "new", "", "x"), by("bash", "1", "other", "1", "2"))
	u = must.Get(m.Select(Selector{Kind: ByChange}))(t)
	p := Plan{Files: []File{u.Files[0].Decide(FileState{Hash: "mine"}, nil), u.Files[1].Decide(FileState{Hash: "x"}, nil), u.Files[2].Decide(FileState{Hash: "2"}, nil)}}
	if _, _, err := p.Choose(Consent{}); !strings.Contains(fmt.Sprint(err), "old") || p.NeedsNoConsent() {
		t.Errorf("%v", err)
	}
	do, left, err := p.Choose(Consent{LeaveOut: []string{"old"}})
	if err != nil || len(do) != 1 || do[0].Path != "other" || len(left) != 2 {
		t.Errorf("%+v %+v %v", do, left, err)
	}
}

// What cannot be undone is passed over: every kind of unit then selects among the changes
// before it, and the changes that are passed over stay in effect.
//
// SPEC 11.2
func TestBefore(t *testing.T) {
	var l log
	l.add(event.Prompted{Source: event.Person}, by("edit", "1", "a", "1", "2"), by("edit", "2", "a", "2", "3")) // 2, 3
	run := by("bash", "3", "b", "1", "2")
	run.Does = tool.Exec
	l.add(run)                                                                  // 4
	l.add(event.Prompted{Source: event.Person}, by("edit", "4", "a", "3", "4")) // 6
	l.want(t, Selector{Kind: ByChange, Before: 6}, "b:4")
	l.want(t, Selector{Kind: ByChange, Before: 4}, "a:3")
	l.want(t, Selector{Kind: ByTurn, Before: 6}, "a:2,3 b:4")
	l.want(t, Selector{Kind: ByTurn, Before: 3}, "a:2")
	l.want(t, Selector{Kind: ByCommand, Before: 6}, "b:4")
	l.want(t, Selector{Kind: ByFile, Path: "a", Before: 6}, "a:3")
	l.want(t, Selector{Kind: ByAll, Before: 6}, "a:2,3 b:4")
	l.want(t, Selector{Kind: ByRewind, Prompt: 1, Before: 4}, "a:2,3")
	for _, w := range []Selector{{Kind: ByChange, Before: 2}, {Kind: ByCommand, Before: 4}, {Kind: ByRewind, Prompt: 5, Before: 6}} {
		if _, err := l.Select(w); !errors.Is(err, ErrNothing) {
			t.Errorf("%+v: %v", w, err)
		}
	}
	l.want(t, Selector{Kind: ByChange}, "a:6") // nothing of it was undone
}

// SPEC 11.2: undoing a redo does not delete unasked what somebody had removed and the redo
// brought back.
func TestUndoOfARedoThatBroughtBack(t *testing.T) {
	var l log
	l.add(event.Prompted{Source: event.Person}, by("edit", "1", "a", "1", "2"))
	undone := l.add(by(Tool, "", "a", "2", "1"), event.Undone{What: "turn", Prompt: 1, Changes: []int64{2}, Paths: []string{"a"}})
	l.add(by(RedoTool, "", "a", "", "2"), event.Redone{Undone: undone, Paths: []string{"a"}})
	u := must.Get(l.Select(Selector{Kind: ByTurn}))(t)
	if f := u.Files[0].Decide(FileState{Hash: "2"}, nil); f.Action != Delete || !strings.Contains(f.Ask, "a redo brought it back") {
		t.Errorf("%+v", f)
	}
}
