package tui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
)

// Each text that was entered or typed is in the prompt or in the queue, and only once: Up
// takes back what waits, also above a draft, and Esc the rest.
//
// SPEC 10.1, 18.3
func TestDraftAndQueue(t *testing.T) {
	first := llmtest.Use("bash", `{"command":"echo begun; sleep 1000"}`)
	r := newTestScreen(t, llmtest.New(first, llmtest.Say("all done")))
	r.mode = "yolo"
	r.begin()
	r.see("  begun")
	for _, text := range []string{"first entry", "second entry"} {
		r.enter(text)
		r.see("◦ " + text)
	}
	r.say("a draft")
	r.press("up")
	r.see("› second entry\n  a draft")
	r.until("one waits", func(string) bool { return !strings.Contains(r.screen(), "◦ second entry") })
	r.press("esc")
	r.see("› first entry\n  second entry\n  a draft")
	for _, text := range []string{"first entry", "second entry", "a draft"} {
		if n := strings.Count(r.text(), text); n != 1 {
			t.Errorf("%s is there %d times:\n%s", text, n, r.text())
		}
	}
}

// One key answers what a command asks, none of it is answered by keys from before it was
// seen, and Esc chooses nothing.
//
// SPEC 18.3, 18.4
func TestOneKeyAnswers(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.mode = "yolo"
	r.begin()
	r.rest(1)
	r.clock.stand()
	seen := func(answers string) {
		r.enter("/undo")
		r.see("y  yes\n  n  no")
		r.say("y")
		r.see("› y")
		r.press("backspace")
		r.passed(time.Second)
		r.see("press a key")
		r.press(answers)
		r.passed(time.Second)
	}
	seen("esc")
	r.see("nothing was changed")
	if _, err := os.Stat(filepath.Join(r.dir, "new.txt")); err != nil {
		t.Fatal("Esc was a yes")
	}
	seen("y")
	r.see("undone: new.txt (removed)")
}

// Esc does not end the program at a question before the start, whatever its kind.
//
// SPEC 18.3
func TestEscapeBeforeTheStart(t *testing.T) {
	r := newTestScreen(t, llmtest.New())
	var got []string
	r.before = func(ctx context.Context, p chat.Person) error {
		for _, options := range [][]choice.Option{choice.YesNo(), nil} {
			answer, err := p.Ask(ctx, "the question is longer than the row of the screen on which it is, trust the folder of it?", options...)
			if err != nil {
				return err
			}
			got = append(got, answer)
		}
		return nil
	}
	r.start("")
	r.see("it is, trust the\n  folder of it?")
	r.see("Esc cancels\n")
	r.press("esc")
	r.see("answer: ")
	r.say("some words")
	r.press("esc")
	r.see("answer first")
	r.press("enter")
	r.see("mode ask; /help")
	if len(got) != 2 || got[0] != "" || got[1] != "some words" {
		t.Errorf("%q", got)
	}
}

// The number of an option answers the model's question at once; a text that begins with it
// is an answer of its own.
//
// SPEC 18.3
func TestNumberAnswers(t *testing.T) {
	for typed, want := range map[string]string{"2": "blue", "2 of them": "2 of them"} {
		r := newTestScreen(t, llmtest.New(llmtest.Use("ask_user", `{"question":"Which?","options":["red","blue"]}`), llmtest.Say("all done")))
		r.begin()
		r.see("Enter answers")
		if typed == "2" {
			r.press("2")
		} else {
			r.clock.stand()
			r.say(typed)
			r.see("answer: " + typed)
			r.press("enter")
		}
		r.rest(1)
		if !strings.Contains(r.text(), "→ "+want) {
			t.Errorf("%s:\n%s", typed, r.text())
		}
	}
}

// The reason of a no may begin with a letter that would be an answer: nothing is allowed by
// it, however long the person stops after it.
//
// SPEC 4.7, 18.3
func TestReasonIsNoAnswer(t *testing.T) {
	for _, reason := range []string{"yes is wrong", "s", "always", "edit the other", "x", "no"} {
		r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
		r.begin()
		r.see("press a key")
		r.clock.stand()
		r.press("n")
		r.say(reason[:1])
		r.passed(time.Minute)
		r.see("what to do instead: " + reason[:1])
		r.enter(reason[1:])
		r.see("→ not allowed: " + reason)
		if _, err := os.Stat(filepath.Join(r.dir, "new.txt")); err == nil {
			t.Errorf("%q allowed the call", reason)
		}
	}
}

// Tab goes from a question to the prompt, and no later letter is an answer, however long the
// person thinks.
//
// SPEC 18.4
func TestTabLeavesAQuestion(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.asked()
	r.press("tab")
	r.passed(time.Minute)
	r.press("y")
	r.passed(time.Minute)
	r.see("› y")
	r.unmade("a letter after Tab allowed the call")
}

// A menu that a person opens beside a question hides none of its answers, in a small window
// either.
//
// SPEC 18.2, 18.4
func TestMenuHidesNoAnswer(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.mode = "ask"
	r.start("")
	r.resize(40, 20)
	r.enter("go")
	r.see("n  no, and what to do instead")
	r.press("tab")
	r.say("/")
	r.see("/help")
	r.see("n  no, and what to do instead")
	r.see("Tab answers")
	for _, row := range []string{"y  yes", "n  no, and", "Tab answers", "/help"} {
		if !strings.Contains(r.screen(), row) {
			t.Errorf("%q is not seen:\n%s", row, r.screen())
		}
	}
}
