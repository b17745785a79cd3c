package edits

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func saw(s *Seen, path string, from, to int, h tool.Hash) {
	s.Apply(event.Event{Body: event.FileSeen{Spans: []tool.Span{{Path: path, From: from, To: to, Hash: h}}}})
}

func changed(s *Seen, by, path string, before, after tool.Hash) {
	s.Apply(event.Event{Body: event.Completed(event.FileChanged{Tool: by, Path: path, Before: before, After: after})})
}

// edited is an edit of the file a, from the content g to h.
func edited(s *Seen, from, to, added, removed int) {
	s.Apply(event.Event{Body: event.FileChanged{Tool: "edit", Does: tool.Edit, Path: "a", Before: "g", After: "h", From: from, To: to, Added: added, Removed: removed}})
}

func blind(path string, n int, h tool.Hash) tool.Footprint {
	return tool.Footprint{Blind: true, Writes: []tool.Span{{Path: path, From: min(n, 1), To: n, Hash: h}}}
}

func edit(path string, h tool.Hash) tool.Footprint {
	return tool.Footprint{Writes: []tool.Span{{Path: path, Hash: h}}}
}

func ranged(path string, from, to int, h tool.Hash) tool.Footprint {
	return tool.Footprint{Writes: []tool.Span{{Path: path, From: from, To: to, Hash: h}}}
}

// SPEC 4.6: a command that changes a file's mode only leaves it shown.
func TestModeOnly(t *testing.T) {
	t.Parallel()
	var s Seen
	saw(&s, "a", 0, 0, "h1")
	changed(&s, "bash", "a", "h1", "h1")
	if v := s.Check(blind("a", 3, "h1")); !v.OK {
		t.Errorf("chmod: %s", v.Reason)
	}
	changed(&s, "bash", "a", "h1", "h2")
	if v := s.Check(blind("a", 3, "h2")); v.OK {
		t.Error("what a command wrote counts as shown")
	}
	if v := s.Check(edit("a", "h2")); !v.OK {
		t.Errorf("an edit of a file that was seen: %s", v.Reason)
	}
}

// SPEC 4.6, row by row.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		given func(*Seen)
		fp    tool.Footprint
		ok    bool
		need  string // from-to of what must be shown
	}{
		{"a new file needs nothing", func(*Seen) {}, blind("a", 0, ""), true, ""},
		{"write over an unseen file", func(*Seen) {}, blind("a", 9, "h"), false, "1-9"},
		{"write over a file seen whole", func(s *Seen) { saw(s, "a", 0, 0, "h") }, blind("a", 9, "h"), true, ""},
		{"write over a file seen in slices", func(s *Seen) { saw(s, "a", 5, 9, "h"); saw(s, "a", 1, 4, "h") }, blind("a", 9, "h"), true, ""},
		{"write with a gap", func(s *Seen) { saw(s, "a", 1, 3, "h"); saw(s, "a", 6, 9, "h") }, blind("a", 9, "h"), false, "4-5"},
		{"slices of another content do not count", func(s *Seen) { saw(s, "a", 1, 5, "g"); saw(s, "a", 6, 9, "h") }, blind("a", 9, "h"), false, "1-5"},
		{"write after someone changed it", func(s *Seen) { saw(s, "a", 0, 0, "g") }, blind("a", 9, "h"), false, "1-9"},
		{"write over what was written", func(s *Seen) { changed(s, "write", "a", "", "h") }, blind("a", 9, "h"), true, ""},
		{"write after own edit of a file seen whole", func(s *Seen) { saw(s, "a", 0, 0, "g"); changed(s, "edit", "a", "g", "h") }, blind("a", 9, "h"), true, ""},
		{"write after own edit of a file seen in part", func(s *Seen) { saw(s, "a", 1, 2, "g"); changed(s, "edit", "a", "g", "h") }, blind("a", 9, "h"), false, "1-9"},
		{"write after a command changed it", func(s *Seen) { saw(s, "a", 0, 0, "g"); changed(s, "bash", "a", "g", "h") }, blind("a", 9, "h"), false, "1-9"},
		{"write over what a patch made", func(s *Seen) { changed(s, "apply_patch", "a", "", "h") }, blind("a", 9, "h"), true, ""},
		{"write over what a patch moved there", func(s *Seen) {
			for _, c := range []event.FileChanged{{Path: "b", Before: "g"}, {Path: "a", After: "h"}} {
				c.Call, c.Tool = "1", "apply_patch"
				s.Apply(event.Event{Body: event.Completed(c)})
			}
		}, blind("a", 9, "h"), false, "1-9"},
		{"unreadable content", func(s *Seen) { saw(s, "a", 1, 3, "h") }, tool.Footprint{Blind: true, Writes: []tool.Span{{Path: "a", Hash: "h"}}}, false, "0-0"},

		{"edit of an unseen file", func(*Seen) {}, edit("a", "h"), false, "0-0"},
		{"edit of a file seen in part", func(s *Seen) { saw(s, "a", 3, 3, "h") }, edit("a", "h"), true, ""},
		{"edit after a formatter ran", func(s *Seen) { saw(s, "a", 3, 3, "g") }, edit("a", "h"), true, ""},
		{"edit of a deleted and remade file", func(s *Seen) { saw(s, "a", 0, 0, "g"); changed(s, "bash", "a", "g", "") }, edit("a", "h"), false, "0-0"},
		{"edit after compaction", func(s *Seen) {
			saw(s, "a", 0, 0, "h")
			s.Apply(event.Event{Body: event.Rebased{Why: "compaction"}})
		}, edit("a", "h"), false, "0-0"},
		{"edit after another rebase", func(s *Seen) {
			saw(s, "a", 0, 0, "h")
			s.Apply(event.Event{Body: event.Rebased{Why: "model"}})
		}, edit("a", "h"), true, ""},

		{"lines that were shown", func(s *Seen) { saw(s, "a", 3, 7, "h") }, ranged("a", 4, 7, "h"), true, ""},
		{"lines that were not shown", func(s *Seen) { saw(s, "a", 3, 7, "h") }, ranged("a", 6, 9, "h"), false, "8-9"},
		{"lines whose numbers may have moved", func(s *Seen) { saw(s, "a", 0, 0, "g"); changed(s, "edit", "a", "g", "h") }, ranged("a", 4, 7, "h"), false, "4-7"},
		{"lines above an edit", func(s *Seen) { saw(s, "a", 3, 20, "g"); edited(s, 10, 12, 5, 3) }, ranged("a", 4, 9, "h"), true, ""},
		{"lines above and of an edit", func(s *Seen) { saw(s, "a", 3, 20, "g"); edited(s, 10, 12, 5, 3) }, ranged("a", 8, 12, "h"), false, "10-12"},
		{"lines below an edit that moved them", func(s *Seen) { saw(s, "a", 3, 20, "g"); edited(s, 10, 12, 5, 3) }, ranged("a", 14, 15, "h"), false, "14-17"},
		{"lines far below an edit that moved them", func(s *Seen) { saw(s, "a", 3, 40, "g"); edited(s, 10, 12, 9, 3) }, ranged("a", 20, 21, "h"), false, "20-2126-27"},
		{"lines that moved and moved back", func(s *Seen) {
			saw(s, "a", 3, 20, "f")
			s.Apply(event.Event{Body: event.FileChanged{Tool: "edit", Does: tool.Edit, Path: "a", Before: "f", After: "g", From: 5, To: 4, Added: 2}})
			edited(s, 8, 9, 0, 2)
		}, ranged("a", 10, 20, "h"), true, ""},
		{"lines below an edit of as many lines", func(s *Seen) { saw(s, "a", 3, 20, "g"); edited(s, 10, 12, 3, 3) }, ranged("a", 13, 20, "h"), true, ""},
		{"lines above an insertion in a file seen whole", func(s *Seen) { saw(s, "a", 0, 0, "g"); edited(s, 10, 9, 2, 0) }, ranged("a", 1, 9, "h"), true, ""},
		{"lines that were never shown, above an edit", func(s *Seen) { saw(s, "a", 8, 20, "g"); edited(s, 10, 12, 3, 3) }, ranged("a", 4, 9, "h"), false, "4-7"},
		{"lines above an edit of another content", func(s *Seen) { saw(s, "a", 3, 20, "f"); edited(s, 10, 12, 3, 3) }, ranged("a", 4, 9, "h"), false, "4-9"},
		{"lines between edits, from the end to the beginning", func(s *Seen) {
			saw(s, "a", 3, 20, "f")
			s.Apply(event.Event{Body: event.FileChanged{Tool: "edit", Does: tool.Edit, Path: "a", Before: "f", After: "g", From: 18, To: 18, Added: 4, Removed: 1}})
			edited(s, 10, 12, 5, 3)
		}, ranged("a", 3, 9, "h"), true, ""},
		{"lines shown by the edit's own result", func(s *Seen) {
			saw(s, "a", 0, 0, "g")
			changed(s, "edit", "a", "g", "h")
			saw(s, "a", 4, 7, "h")
		}, ranged("a", 4, 7, "h"), true, ""},
	} {
		var s Seen
		c.given(&s)
		for range 2 { // and again after a checkpoint
			v := s.Check(c.fp)
			need := ""
			for _, n := range v.Need {
				need += fmt.Sprintf("%d-%d", n.From, n.To)
				if n.Path != "a" || n.Hash != "h" {
					t.Errorf("%s: need %+v", c.name, n)
				}
			}
			if v.OK != c.ok || need != c.need || v.OK != (v.Reason == "") {
				t.Errorf("%s: %+v", c.name, v)
			}
			b := must.Get(s.Save())(t)
			s = Seen{}
			must.Do(t, s.Load(b))
		}
	}
}

// applying returns what applies events, and saves and loads the fold after them.
func applying(t *testing.T, s *Seen) func(...event.Body) {
	return func(bs ...event.Body) {
		for _, b := range bs {
			s.Apply(event.Event{Body: b})
		}
		state := must.Get(s.Save())(t)
		*s = Seen{}
		must.Do(t, s.Load(state))
	}
}

// SPEC 4.6: what the results of a step show, the model has read in the next
// request, not when it wrote the other calls of the step. A text may be looked
// for there all the same, and the file be written whole.
func TestSameStep(t *testing.T) {
	t.Parallel()
	var s Seen
	apply := applying(t, &s)
	look := func(when string, text, numbers, whole bool) {
		t.Helper()
		if a, b, c := s.Check(edit("a", "h")).OK, s.Check(ranged("a", 2, 3, "h")).OK, s.Check(blind("a", 3, "h")).OK; a != text || b != numbers || c != whole {
			t.Errorf("%s: by text %v, by numbers %v, whole %v", when, a, b, c)
		}
	}
	shown := event.FileSeen{Call: "1", Spans: []tool.Span{{Path: "a", From: 1, To: 3, Hash: "h"}}}
	apply(event.CallAsked{ID: "1"}, event.CallAsked{ID: "2"}, shown, event.CallDone{ID: "1"})
	look("in the step", true, false, true)
	apply(event.Requested{})
	look("in the next", true, true, true)
	apply(event.CallAsked{ID: "3"}, event.FileChanged{Call: "3", Tool: "bash", Path: "a", Before: "h", After: "g"}, shown, event.FileSeen{Call: "4", Spans: []tool.Span{{Path: "a", From: 1, To: 3, Hash: "g"}}}, event.Ended{})
	if v := s.Check(ranged("a", 2, 3, "g")); !v.OK {
		t.Errorf("what was shown last counts: %s", v.Reason)
	}
	if v := s.Check(ranged("a", 2, 3, "h")); v.OK {
		t.Error("a content that is gone counts as shown")
	}
}

// SPEC 4.6: the result of an edit tells the numbers of the lines that it wrote: they are
// known in the next request, also below and above other edits of the same reply.
func TestLinesThatEditsWrote(t *testing.T) {
	t.Parallel()
	var s Seen
	apply := applying(t, &s)
	wrote := func(before, after tool.Hash, from, to, added, removed int) event.Body {
		return event.FileChanged{Call: "1", Tool: "edit", Does: tool.Edit, Path: "a", Before: before, After: after, From: from, To: to, Added: added, Removed: removed}
	}
	look := func(when string, hash tool.Hash, from, to int, want bool) {
		t.Helper()
		if v := s.Check(ranged("a", from, to, hash)); v.OK != want {
			t.Errorf("%s: %v: %s", when, v.OK, v.Reason)
		}
	}
	apply(event.CallAsked{ID: "1"}, wrote("e", "f", 20, 20, 2, 1), wrote("f", "g", 30, 29, 1, 0), wrote("g", "h", 5, 6, 5, 2))
	look("in the same reply", "h", 5, 9, false)
	apply(event.CallDone{}, event.FileSeen{Call: "4", Spans: []tool.Span{{Path: "b", From: 1, To: 50, Hash: "e"}, {Path: "c", Hash: "e"}}})
	for _, name := range []string{"b", "c"} {
		of := wrote("e", "h", 20, 20, 3, 1).(event.FileChanged)
		of.Path = name
		apply(of)
	}
	apply(event.Requested{})
	look("the last one's", "h", 5, 9, true)
	look("those of the first, further down", "h", 23, 24, true)
	look("those of the second, further down", "h", 33, 33, true)
	look("beside them", "h", 22, 24, false)
	for _, name := range []string{"b", "c"} { // read before an edit of the same reply
		for from, want := range map[int]bool{1: true, 19: true, 22: true, 23: false} {
			if v := s.Check(ranged(name, from, from, "h")); v.OK != want {
				t.Errorf("line %d of %s: %v: %s", from, name, v.OK, v.Reason)
			}
		}
	}
	if v := s.Check(ranged("b", 30, 30, "h")); !strings.Contains(v.Reason, "32 now") {
		t.Error(v.Reason)
	}
	apply(event.CallAsked{ID: "2"}, wrote("h", "i", 40, 49, 3, 2), event.Requested{})
	look("lines of the file are between those that it changed", "i", 40, 42, false)
	apply(event.CallAsked{ID: "3"}, wrote("i", "j", 60, 60, 1, 1), event.FileChanged{Call: "3", Tool: "bash", Path: "a", Before: "j", After: "k"}, event.Requested{})
	look("somebody else wrote after it", "k", 60, 60, false)
}

// SPEC 4.6: what a call shows is often told only after edits that ran beside it. It counts,
// by the numbers that the lines have then.
func TestShownBesideEdits(t *testing.T) {
	t.Parallel()
	var s Seen
	apply := applying(t, &s)
	wrote := func(before, after tool.Hash, from, to, added, removed int) event.Body {
		return event.FileChanged{Call: "2", Tool: "edit", Does: tool.Edit, Path: "a", Before: before, After: after, From: from, To: to, Added: added, Removed: removed}
	}
	apply(event.CallAsked{ID: "1"}, wrote("e", "f", 50, 50, 3, 1), wrote("f", "g", 20, 19, 5, 0), event.FileSeen{Call: "1", Spans: []tool.Span{{Path: "a", From: 10, To: 30, Hash: "e"}}})
	b, err := s.Save()
	var loaded Seen
	if err != nil || loaded.Load(b) != nil {
		t.Fatal(err)
	}
	s = loaded
	apply(wrote("g", "h", 60, 60, 1, 1), event.Requested{})
	for from, want := range map[int]bool{9: false, 10: true, 19: true, 25: false, 30: false, 60: true} {
		if v := s.Check(ranged("a", from, from, "h")); v.OK != want {
			t.Errorf("line %d: %v: %s", from, v.OK, v.Reason)
		}
	}
	if v := s.Check(ranged("a", 30, 30, "h")); !strings.Contains(v.Reason, "35 now") {
		t.Error(v.Reason)
	}
	// Of several that one edit moves each is moved once.
	apply(event.CallAsked{ID: "4"}, event.FileSeen{Call: "4", Spans: []tool.Span{{Path: "b", From: 80, To: 80, Hash: "e"}, {Path: "b", From: 90, To: 90, Hash: "e"}}})
	of := wrote("e", "f", 5, 4, 7, 0).(event.FileChanged)
	of.Path = "b"
	apply(of, event.Requested{})
	for was, now := range map[int]string{80: "87 now", 90: "97 now"} {
		if v := s.Check(ranged("b", was, was, "f")); !strings.Contains(v.Reason, now) {
			t.Error(v.Reason)
		}
	}
	apply(event.CallAsked{ID: "3"}, wrote("h", "i", 1, 0, 1, 0), event.FileSeen{Call: "3", Spans: []tool.Span{{Path: "a", From: 70, To: 70, Hash: "x"}}}, event.Requested{})
	if v := s.Check(ranged("a", 70, 70, "i")); v.OK {
		t.Error("what somebody else wrote counts")
	}
}

// SPEC 4.6: files with changes by someone else since are named.
func TestChangedSince(t *testing.T) {
	t.Parallel()
	var s Seen
	saw(&s, "same", 0, 0, "h")
	saw(&s, "other", 0, 0, "h")
	saw(&s, "gone", 0, 0, "h")
	changed(&s, "write", "own", "", "w")
	s.Apply(event.Event{Body: event.Rebased{Why: "compaction"}})
	fp := tool.Footprint{
		Reads:  []tool.Span{{Path: "same", Hash: "h"}, {Path: "other", Hash: "x"}, {Path: "gone"}},
		Writes: []tool.Span{{Path: "own", Hash: "w"}, {Path: "never", Hash: "n"}, {Path: "other", Hash: "x"}},
	}
	if got := s.ChangedSince(fp); strings.Join(got, " ") != "gone other" {
		t.Errorf("%q", got)
	}
	if paths := slices.Sorted(maps.Keys(s.files)); s.files["own"].Last != "w" || !slices.Equal(paths, []string{"gone", "other", "own", "same"}) {
		t.Errorf("%v", paths)
	}
}

// Runs of lines behave as a set of numbers.
func TestRuns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s Seen
		set := map[int]bool{}
		for i := range rapid.IntRange(0, 20).Draw(t, "n") {
			from := rapid.IntRange(1, 40).Draw(t, fmt.Sprint("from", i))
			to := from + rapid.IntRange(0, 6).Draw(t, fmt.Sprint("len", i))
			saw(&s, "a", from, to, "h")
			for l := from; l <= to; l++ {
				set[l] = true
			}
		}
		from := rapid.IntRange(1, 45).Draw(t, "from")
		to := from + rapid.IntRange(0, 10).Draw(t, "len")
		v := s.Check(ranged("a", from, to, "h"))
		missing := map[int]bool{}
		for _, n := range v.Need {
			for l := n.From; l <= n.To; l++ {
				missing[l] = true
			}
		}
		for l := from; l <= to; l++ {
			if missing[l] == set[l] {
				t.Fatalf("line %d: missing %v, shown %v", l, missing[l], set[l])
			}
		}
		if f := s.files["a"]; f != nil && len(f.Spans) > 1 {
			for i := 1; i < len(f.Spans); i++ {
				if f.Spans[i].From <= f.Spans[i-1].To+1 {
					t.Fatalf("not apart: %v", f.Spans)
				}
			}
		}
	})
}
