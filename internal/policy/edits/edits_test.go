package edits

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func saw(s *Seen, path string, from, to int, h tool.Hash) {
	s.Apply(event.Event{Body: event.FileSeen{Spans: []tool.Span{{Path: path, From: from, To: to, Hash: h}}}})
}

func changed(s *Seen, by, path string, before, after tool.Hash) {
	s.Apply(event.Event{Body: event.Completed(event.FileChanged{Tool: by, Path: path, Before: before, After: after})})
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
			b, err := s.Save()
			if err != nil {
				t.Fatal(err)
			}
			s = Seen{}
			if err := s.Load(b); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// SPEC 4.6: what the results of a step show, the model has read in the next
// request, not when it wrote the other calls of the step. A text may be looked
// for there all the same, and the file be written whole.
func TestSameStep(t *testing.T) {
	t.Parallel()
	var s Seen
	apply := func(bs ...event.Body) {
		for _, b := range bs {
			s.Apply(event.Event{Body: b})
		}
		state, err := s.Save()
		if err != nil {
			t.Fatal(err)
		}
		s = Seen{}
		if err := s.Load(state); err != nil {
			t.Fatal(err)
		}
	}
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
