package tui

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// With the keys of vi, Esc does one thing at a time, and an empty prompt never
// stands between it and what runs.
//
// SPEC 10.3, 18.3
func TestEscapeWithVi(t *testing.T) {
	hang := func() *llmtest.Model {
		return llmtest.New(llmtest.Turn{Text: "half a\n\nword", Piece: 4, Wait: make(chan struct{})}, llmtest.Say("all done"))
	}
	for _, c := range []struct {
		name   string
		before []string // keys while it works
		esc    int      // how many until it is interrupted
		text   string   // the prompt then
	}{
		{"an empty prompt", nil, 1, ""},
		{"an empty prompt, left in normal mode", []string{"x", "esc", "x"}, 1, ""},
		{"a text", []string{"a", "b"}, 2, "ab"},
		{"a text in normal mode", []string{"a", "b", "esc"}, 1, "ab"},
		{"half a command", []string{"a", "b", "esc", "2", "d"}, 2, "ab"},
		{"half a replacement", []string{"a", "b", "esc", "r"}, 2, "ab"},
		{"an open menu", []string{"@", "c"}, 3, "@c"},
		{"a search", []string{"ctrl+r", "g"}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newTestScreen(t, hang())
			r.vi = true
			r.begin()
			r.see("half a")
			r.press(c.before...)
			for n := 1; n <= c.esc; n++ {
				if strings.Contains(r.text(), "interrupted") {
					t.Fatalf("Esc %d interrupted already:\n%s", n-1, r.text())
				}
				r.press("esc")
				r.send(keys.Focus{In: true}) // it has been dealt with
			}
			r.see("interrupted")
			r.until("the prompt", func(s string) bool { return strings.Contains(s, "\n› "+c.text) })
			if c.text == "" { // what is typed next is text
				r.say("hello")
				r.see("› hello")
				r.see("INSERT")
			}
		})
	}
}

// Esc twice at an empty prompt goes back to an earlier one, whose text is typed on.
//
// SPEC 10.2, 18.3
func TestViRewinds(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Say("all done")))
	r.vi = true
	r.start("")
	r.enter("first")
	r.rest(1)
	r.see("INSERT")
	r.press("esc")
	r.see("NORMAL")
	r.press("esc")
	r.see("go back to before a prompt")
	r.see("❯ first")
}

// The status line tells the mode and what was typed of a command; a question's
// letters stay letters; what begins no command is said not to be typed.
//
// SPEC 18.3
func TestViKeys(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.vi = true
	r.start("")
	r.see("INSERT · ask")
	r.say("one two three")
	r.press("esc")
	r.see("NORMAL · ask")
	r.say("0d2")
	r.see("NORMAL d2 · ask")
	r.say("w")
	r.see("› three")
	r.say("u")
	r.see("› one two three")
	r.press("ctrl+r")
	r.see("› three")
	r.say("Z")
	r.see("normal mode: i types")
	r.press("backspace", "delete")
	r.see("› hree")
	r.say("$")
	r.press("a")
	r.send(keys.Paste{Text: " p"})
	r.press("esc", ".")
	r.see("› hree p p")
	r.press("enter")
	r.see("press a key")
	r.press("n", "k", "enter") // a no and its reason
	r.see("not allowed: k")
	r.see("all done")
}

// Objects, repeating, and a search through entries, which begins with a slash.
//
// SPEC 18.3
func TestViChanges(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Say("all done")))
	r.vi = true
	r.start("")
	r.enter("first of all")
	r.rest(1)
	r.say("say (漢字 שלום) twice")
	r.press("esc")
	r.say("0f(ci(x")
	r.see("› say (x) twice")
	r.press("esc")
	r.say("u")
	r.see("› say (漢字 שלום) twice")
	r.say("/all")
	r.see("search: all")
	r.press("enter")
	r.see("› first of all")
}
