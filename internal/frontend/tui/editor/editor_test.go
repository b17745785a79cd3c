package editor

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// shown is the text with the caret as ^.
func shown(e *Editor) string {
	return e.displayText(e.text[:e.caret]) + "^" + e.displayText(e.text[e.caret:])
}

// press plays a script: words are typed, <Name> is a key.
func press(e *Editor, script string) {
	keys := map[string]func(){
		"Left": e.Left, "Right": e.Right, "WordLeft": e.WordLeft, "WordRight": e.WordRight, "Home": e.Home, "End": e.End,
		"Backspace": e.Backspace, "Delete": e.Delete, "KillWord": e.KillWord, "KillBack": e.KillBack, "KillWordBack": e.KillWordBack,
		"KillLine": e.KillLine, "KillStart": e.KillStart, "Yank": e.Yank, "YankPop": e.YankPop, "Undo": e.Undo, "Redo": e.Redo, "NL": func() { e.Type("\n") },
		"Up": func() { e.Up(10) }, "Down": func() { e.Down(10) }, "Older": func() { e.Older() }, "Newer": func() { e.Newer() },
		"Search": e.Search, "Found": func() { e.EndSearch(true) }, "Stop": func() { e.EndSearch(false) },
		"Long":  func() { e.Paste(strings.Repeat("line\r\n", 20)) },
		"Short": func() { e.Paste("a\rb") },
	}
	for script != "" {
		if rest, ok := strings.CutPrefix(script, "<"); ok {
			k, after, _ := strings.Cut(rest, ">")
			keys[k]()
			script = after
			continue
		}
		n := strings.IndexByte(script, '<')
		if n < 0 {
			n = len(script)
		}
		for _, r := range script[:n] {
			if _, _, on := e.Searching(); on {
				e.ExtendSearch(string(r))
			} else {
				e.Type(string(r))
			}
		}
		script = script[n:]
	}
}

// SPEC 10.1, 18.3
func TestKeys(t *testing.T) {
	for script, want := range map[string]string{
		"abc<Left>x":                                                   "abx^c",
		"one two<WordLeft>x":                                           "one x^two",
		"one two<Home><WordRight>x":                                    "onex^ two",
		"a<NL>b<Home>x<Home><Home>y":                                   "y^a xb",
		"a<NL>bc<Up>x":                                                 "ax^ bc",
		"one two three<Up>^":                                           "one t^^wo three", // broken behind "two "
		"one two three<Up><Down>x":                                     "one two threex^",
		"漢字x<Left><Left><Backspace>":                                   "^字x",
		"e\u0301x<Left><Backspace>":                                    "^x",
		"one two<KillBack>x":                                           "one x^",
		"a/b c/d<KillWordBack>":                                        "a/b c/^",
		"one two<Home><KillWord><End><Yank>":                           " twoone^",
		"one two<KillStart><Yank><Yank>":                               "one twoone two^",
		"a<NL>b<Home><Home><KillLine><KillLine>":                       "^b",
		"one two<KillWordBack><KillWordBack><Yank>":                    "one two^",
		"one two<KillWordBack>x<KillWordBack><Yank>":                   "one x^",
		"one two<KillWordBack>x<KillWordBack><Yank><YankPop>":          "one two^",
		"one two<KillWordBack>x<KillWordBack><Yank><YankPop><YankPop>": "one x^",
		"one two<KillWordBack>x<KillWordBack><Yank><Left><YankPop>":    "one ^x",
		"ab<Left><KillStart><KillLine><Yank>":                          "ab^",
		"one two<Undo><Redo>":                                          "one two^",
		"one two<Undo><Undo><Undo><Redo><Redo><Redo><Redo>":            "one two^",
		"one two<Undo>x<Redo>":                                         "one x^",
		"<YankPop><Redo>x":                                             "x^",
		"one two<Undo>":                                                "one ^",
		"one two<Undo><Undo>":                                          "one^",
		"one<Backspace><Backspace><Undo>":                              "on^",
		"x<Long>y<Left><Left>z":                                        "xz^[pasted text 1: 20 lines]y",
		"x<Long><Backspace>":                                           "x^",
		"x<Long><Backspace><Undo>":                                     "x[pasted text 1: 20 lines]^",
		"x<Long><WordLeft>y":                                           "xy^[pasted text 1: 20 lines]",
		"<Short>":                                                      "a b^",
		"new<Older>":                                                   "last one^",
		"new<Older><Older><Older>":                                     "first^",
		"new<Older><Newer>":                                            "new^",
		"new<Search>fi":                                                "first^",
		"new<Search>zz<Stop>":                                          "new^",
		"new<Search>st":                                                "last one^",
		"new<Search>st<Search>":                                        "first^",
		"new<Search>on<Found>x":                                        "last onex^",
		"new<Search>i<Search><Found><Undo>":                            "new^",
		"a\U000F2000b":                                                 "a\uFFFDb^",
	} {
		e := New()
		e.SetHistory([]string{"first", "last one"})
		press(e, script)
		if got := shown(e); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

// SPEC 18.3
func TestPastedComesOutAsItWentIn(t *testing.T) {
	e := New()
	big := strings.Repeat("0123456789\n", 1<<20)
	e.Type("see ")
	e.Paste(big)
	if got := shown(e); got != "see [pasted text 1: 1048576 lines, 11.5 MB]^" {
		t.Errorf("it is shown as %.80q", got)
	}
	if got := e.Take(); got != "see "+big {
		t.Errorf("%d bytes came out, want %d", len(got), len(big)+4)
	}
	if !e.Empty() {
		t.Error("it is still there")
	}
}

// Whatever is pressed: the caret is within the text and on a row that is shown,
// and no row is wider than it may be.
//
// SPEC 18.3, 18.5
func TestCaretIsShown(t *testing.T) {
	keys := []string{"a", "word ", "漢", "👩‍👧", "e\u0301", "<NL>", "<Left>", "<Right>", "<WordLeft>", "<WordRight>", "<Home>", "<End>", "<Backspace>", "<Delete>", "<KillBack>", "<KillLine>", "<KillWordBack>", "<Yank>", "<YankPop>", "<Undo>", "<Redo>", "<Up>", "<Down>", "<Long>", "<Older>", "<Newer>"}
	rapid.Check(t, func(t *rapid.T) {
		e := New()
		e.SetHistory([]string{"old 漢字\nentry"})
		columns, most := rapid.IntRange(8, 30).Draw(t, "columns"), rapid.IntRange(1, 5).Draw(t, "most")
		for range rapid.IntRange(1, 60).Draw(t, "keys") {
			press(e, rapid.SampledFrom(keys).Draw(t, "key"))
			lines, row, col := e.Render(columns, most)
			if row < 0 || row >= len(lines) || len(lines) > most || col > columns || col > lines[row].Width() {
				t.Fatalf("the caret is at %d,%d of %q", row, col, lines)
			}
			for _, l := range lines {
				if l.Width() > columns && !strings.Contains(l.String(), "pasted") {
					t.Fatalf("%q is wider than %d", l.String(), columns)
				}
			}
		}
	})
}
