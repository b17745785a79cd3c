package putback

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

var (
	sure    = undo.File{Path: "sure", Action: undo.PutBack, Diff: "--- a/sure\n"}
	loose   = undo.File{Path: "loose\x1b[31m", Action: undo.PutBack, Ask: "it changed while a command ran"}
	blocked = undo.File{Path: "blocked", Action: undo.Clash, Why: "the same lines", Places: []undo.Conflict{{Line: 3, Ours: []byte("mine\x1b]0;x\a"), Theirs: []byte("theirs\n")}}}
	same    = undo.File{Path: "same", Action: undo.Same, Now: undo.FileState{Hash: "1"}}
	passed  = undo.File{Path: "scratch", Action: undo.Same} // made and removed
)

// SPEC 11.2: each file that needs a word is asked about by its name, and what
// is left is agreed to.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		name     string
		files    []undo.File
		answers  string
		ok       bool
		yes, out string
		asked    int
	}{
		{name: "sure", files: []undo.File{sure, same}, answers: "y", ok: true, asked: 1},
		{name: "not wanted", files: []undo.File{sure}, answers: "maybe n", asked: 2},
		{name: "one is loose", files: []undo.File{sure, loose}, answers: "yes y", ok: true, yes: loose.Path, asked: 2},
		{name: "and stays", files: []undo.File{sure, loose}, answers: "n y", ok: true, out: loose.Path, asked: 2},
		{name: "only loose", files: []undo.File{loose}, answers: "y", ok: true, yes: loose.Path, asked: 1},
		{name: "only loose, and stays", files: []undo.File{loose}, answers: "n", out: loose.Path, asked: 1},
		{name: "two are loose, all are wanted", files: []undo.File{sure, loose, other}, answers: "y", ok: true, yes: loose.Path + " other", asked: 1},
		{name: "neither is wanted", files: []undo.File{sure, loose, other}, answers: "no y", ok: true, out: loose.Path + " other", asked: 2},
		{name: "one by one", files: []undo.File{sure, loose, other}, answers: "/diff o y n y", ok: true, yes: loose.Path, out: "other", asked: 5},
		{name: "blocked", files: []undo.File{sure, blocked}, answers: "y", ok: true, out: "blocked", asked: 1},
		{name: "blocked, and nothing is wanted", files: []undo.File{sure, blocked}, answers: "N", out: "blocked", asked: 1},
		{name: "only blocked", files: []undo.File{blocked}, out: "blocked"},
	} {
		answers, asked := strings.Fields(c.answers), 0
		got, ok, err := Agree(undo.Plan{Files: c.files}, "", choice.Lines(func(q string) (string, error) {
			asked++
			if asked > 1 && answers[asked-2] == "/diff" && !strings.HasPrefix(q, "not understood: answer y, o or n") || asked > 1 && answers[asked-2] == "maybe" && !strings.HasPrefix(q, "not understood: answer y or n") {
				t.Errorf("%s: what is understood is not said: %q", c.name, q)
			}
			if strings.Contains(q, "\x1b") {
				t.Errorf("%s: asked %q", c.name, q)
			}
			return answers[asked-1], nil
		}))
		if err != nil || ok != c.ok || asked != c.asked || strings.Join(got.Confirmed, " ") != c.yes || strings.Join(got.LeaveOut, " ") != c.out {
			t.Errorf("%s: %+v %v %v, asked %d times", c.name, got, ok, err, asked)
		}
	}
}

var other = undo.File{Path: "other", Action: undo.PutBack, Ask: "it may be somebody else's"}

func TestSettled(t *testing.T) {
	c := Settled(undo.Plan{Files: []undo.File{sure, loose, blocked}}, []string{loose.Path, "blocked"})
	if !slices.Equal(c.Confirmed, []string{loose.Path}) || !slices.Equal(c.LeaveOut, []string{"blocked"}) {
		t.Errorf("%+v", c)
	}
	if c = Settled(undo.Plan{Files: []undo.File{sure, loose}}, nil); len(c.Confirmed) != 0 || len(c.LeaveOut) != 1 {
		t.Errorf("%+v", c)
	}
}

// SPEC 11.2, 16.11: both sides of a conflict are shown, and nothing that a
// terminal would obey.
func TestShow(t *testing.T) {
	var b bytes.Buffer
	Show(&b, undo.Plan{Note: "it was stopped", Files: []undo.File{sure, loose, blocked, same, passed, {Path: "made", Action: undo.Delete, Step: 2, Description: "a \x1bnote"}, {Path: "with it", Step: 2, Description: "a \x1bnote"}, {Path: "both", Action: undo.Beside}}})
	Done(&b, "undone", changes.Undone{Done: []undo.File{sure, same, passed}, Left: []undo.File{blocked, {Path: "half", With: []string{"other"}}}})
	for _, want := range []string{
		"\nstep 2: a ", "made (removes it: the agent had created it)\nwould undo: with it\n", "it was stopped", "would undo: sure\n    --- a/sure", "asks first: loose", "cannot undo: blocked: the same lines", "line 3, as it is now", "mine", "theirs",
		"already done: same", "the agent had created it", "a later edit by someone else is kept", "undone: sure", "same was already so",
		"left as it is: blocked: the same lines", "left as it is: half: it must be done together with other",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), passed.Path) {
		t.Errorf("a file that was there for a while only is worth a line:\n%s", b.String())
	}
	if strings.ContainsAny(b.String(), "\x1b\a") {
		t.Errorf("%q", b.String())
	}
}

// Only what can be done in no part is passed over, and only if the person says so.
//
// SPEC 11.2
func TestPassOver(t *testing.T) {
	stuck, other := blocked, blocked
	stuck.Changes, other.Changes = []int64{7, 9}, []int64{8}
	for name, c := range map[string]struct {
		plan   undo.Plan
		answer string
		want   int64
		asked  bool
		left   []string
	}{
		"one":         {undo.Plan{Selector: undo.Selector{Kind: undo.ByChange}, Files: []undo.File{stuck}}, "y", 7, true, nil},
		"two":         {undo.Plan{Selector: undo.Selector{Kind: undo.ByTurn}, Files: []undo.File{other, stuck, passed}}, "y", 7, true, nil},
		"declined":    {undo.Plan{Selector: undo.Selector{Kind: undo.ByCommand}, Files: []undo.File{stuck}}, "n", 0, true, nil},
		"a part can":  {undo.Plan{Selector: undo.Selector{Kind: undo.ByTurn}, Files: []undo.File{stuck, sure}}, "y", 0, false, nil},
		"may be done": {undo.Plan{Selector: undo.Selector{Kind: undo.ByTurn}, Files: []undo.File{loose}}, "y", 0, false, nil},
		"left":        {undo.Plan{Selector: undo.Selector{Kind: undo.ByTurn}, Files: []undo.File{loose, stuck}}, "y", 7, true, []string{loose.Path, stuck.Path}},
		"a named one": {undo.Plan{Selector: undo.Selector{Kind: undo.ByFile}, Files: []undo.File{stuck}}, "y", 0, false, nil},
		"all":         {undo.Plan{Selector: undo.Selector{Kind: undo.ByAll}, Files: []undo.File{stuck}}, "y", 0, false, nil},
	} {
		asked := false
		got, err := PassOver(c.plan, c.left, func(string, ...choice.Option) (string, error) { asked = true; return c.answer, nil })
		if got != c.want || asked != c.asked || err != nil {
			t.Errorf("%s: %d, asked %v, %v", name, got, asked, err)
		}
	}
}
