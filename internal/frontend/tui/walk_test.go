package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// What a walk through the screen as a stranger has shown.

// Of requests that fail one after the other one line is on the screen: it moves on, and stays
// when a reply begins, or what ends the tries.
//
// SPEC 5.4, 18.2
func TestTriesAlike(t *testing.T) {
	busy := event.Fault{Message: "busy"}
	retried := func(n int) event.Body {
		return event.Retried{Attempt: n, Error: busy, Wait: 3 * time.Second, Left: time.Minute}
	}
	for _, c := range []struct {
		bodies     []event.Body
		live, kept string
	}{
		{[]event.Body{retried(1)}, "! busy; waiting 3s before try 2, gives up in 1m3s", ""},
		{[]event.Body{retried(1), event.Waiting{Left: time.Second}}, "! busy; waiting 1s before try 2, gives up in 1m1s", ""},
		{[]event.Body{retried(1), event.Requested{Attempt: 2}, retried(2)}, "! busy; waiting 3s before try 3, gives up in 1m3s", ""},
		{[]event.Body{retried(1), event.Requested{Attempt: 2}, event.TextDelta{Text: "I do it.\n\n"}}, "", "! busy; 1 try failed\nI do it."},
		{[]event.Body{retried(1), retried(2), event.TextDelta{Text: "I do it.\n\n"}, event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{llm.TextPart("I do it.")}}}}}, "", "! busy; 2 tries failed\nI do it."},
		{[]event.Body{retried(1), retried(2), event.Interrupted{}}, "", "! busy; 2 tries failed\ninterrupted; say what to do instead"},
		{[]event.Body{retried(1), event.Retried{Attempt: 2, Error: busy, Model: "m/o"}}, "", "! busy; 2 tries failed, m/o goes on from here"},
		{[]event.Body{retried(1), event.Ended{End: event.EndProvider, Error: &event.Fault{Message: "after 2 tries: busy"}}}, "", "! after 2 tries: busy\n$0, no model reply"},
	} {
		p, line := &renderer{width: 80}, &chat.Timeline{}
		for i, b := range c.bodies {
			for _, ch := range line.Apply(event.Event{Seq: int64(i + 1), Body: b}) {
				p.apply(ch)
			}
		}
		text := func(ls []styled.Line) string {
			var lines []string
			for _, l := range ls {
				if text := strings.TrimSpace(l.String()); text != "" {
					lines = append(lines, text)
				}
			}
			return strings.Join(lines, "\n")
		}
		if live, kept := text(p.openRows(time.Now())), text(p.takeFinished()); live != c.live || kept != c.kept {
			t.Errorf("live %q, kept %q; want %q, %q", live, kept, c.live, c.kept)
		}
	}
}

// The head line of a session that is resumed at once is not written a second time, if it says
// the same; only the numbers of the sessions differ.
//
// SPEC 18.3
func TestHeadOnce(t *testing.T) {
	p := &renderer{width: 80}
	ids := 0
	start := func(model string, notes ...string) {
		ids++
		p.apply(chat.Change{What: chat.Added, Block: chat.Block{ID: "s", Body: chat.Start{ID: strings.Repeat("i", ids), Model: model, Mode: "ask", Notes: notes}}})
	}
	model := strings.Repeat("m", 55)
	start(model)
	start(model)
	start(model, "a note")
	start("other")
	start("other")
	p.apply(chat.Change{What: chat.Finished, Block: chat.Block{ID: "n", Body: chat.Note{Kind: chat.OfInterrupt, Text: "interrupted"}}})
	start("other")
	got := ""
	for _, l := range p.takeFinished() {
		got += strings.NewReplacer(model, "M", "; mode ask; /help", "").Replace(l.String()) + "\n"
	}
	if want := "pawl  M\n! a note\npawl  M\npawl  other\ninterrupted; say what to do instead\npawl  other\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A slash command does not answer a question of another one: it leaves the question.
//
// SPEC 18.3
func TestCommandInsteadOfAnAnswer(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.mode = "yolo"
	r.begin()
	r.rest(1)
	r.enter("/undo")
	r.see("y  yes\n  n  no")
	r.enter("/todo")
	r.see("there is no list of steps yet")
	r.enter("/undo turn")
	after := func(want string) func(string) bool {
		return func(s string) bool {
			_, after, _ := strings.Cut(s, "› /undo turn\nwould undo: new.txt")
			return strings.Contains(after, want) && strings.Count(s, "› /undo") == 2
		}
	}
	r.until("its question takes keys", after("press a key"))
	r.say("n")
	r.until("the command stands once above all that it shows", after("nothing was changed"))
	if text := r.text(); strings.Contains(text, "not understood") {
		t.Errorf("it was taken for an answer:\n%s", text)
	}
}

// SPEC 18.2: how much is not shown counts what the result itself lacks.
func TestMissingLines(t *testing.T) {
	for line, want := range map[string]int64{
		"[… 3781 lines, 18905 bytes left out; the whole is in /tmp/x …]": 3781,
		"[… 1 line, 9 bytes left out; the whole is in /tmp/x …]":         1,
		"[… 900 bytes left out; the whole is in /tmp/x …]":               0,
		"3781 lines": -1, "[… more]": -1,
	} {
		n, ok := tool.Missing(line)
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("%s: %d, want %d", line, n, want)
		}
	}
}

// A prompt that was begun waits for another one; nothing of it is lost.
//
// SPEC 18.3
func TestPutAside(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Say("all done")))
	r.start("")
	r.see("enter a task")
	long := strings.Repeat("a line\n", 30)
	r.say("first half ")
	r.send(keys.Paste{Text: long})
	r.see("[pasted text 1: 30 lines]")
	r.press("ctrl+s")
	r.see("stashed: ")
	r.say("urgent")
	r.see("› urgent")
	r.press("enter")
	r.rest(1)
	r.see("› first half [pasted text 1: 30 lines]")
	r.press("ctrl+s", "ctrl+s")
	r.see("› first half [pasted text 1: 30 lines]")
	r.press("ctrl+s")
	r.say("other")
	r.press("ctrl+s")
	r.see("› first half")
	r.press("ctrl+u", "ctrl+s")
	r.see("› other")
}

// An empty screen keeps what was there in the scrollback, and the prompt.
//
// SPEC 18.1, 18.3
func TestClearedScreen(t *testing.T) {
	var text strings.Builder
	for i := range 30 {
		fmt.Fprintf(&text, "row%02d of it\n\n", i)
	}
	for _, height := range []int{10, 24, 80} {
		r := newTestScreen(t, llmtest.New(llmtest.Say(text.String())))
		r.start("")
		r.resize(80, height)
		r.enter("go")
		r.rest(1)
		r.say("half a prompt")
		r.press("ctrl+l")
		r.until("an empty screen", func(string) bool {
			return strings.HasPrefix(strings.TrimLeft(r.screen(), "\n"), "› half a prompt\n")
		})
		at := 0
		for i := range 30 {
			row := fmt.Sprintf("row%02d of it", i)
			if n := strings.Count(r.text(), row); n != 1 {
				t.Errorf("height %d: %s is there %d times", height, row, n)
			}
			if next := strings.Index(r.text(), row); next < at {
				t.Errorf("height %d: %s is out of order", height, row)
			} else {
				at = next
			}
		}
		r.say(" more")
		r.see("› half a prompt more")
	}
}

// What was entered stands above a diff that it shows, once.
//
// SPEC 18.2
func TestDiffHasItsCommand(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.mode = "yolo"
	r.begin()
	r.rest(1)
	r.enter("/diff")
	r.see("› /diff\n  --- /dev/null\n  +++ b/new.txt")
	r.enter("/undo")
	r.until("the command and its question", func(text string) bool {
		return strings.Contains(text, "› /undo") && strings.Contains(text, "y  yes\n  n  no")
	})
	if n := strings.Count(r.text(), "› /undo"); n != 1 {
		t.Errorf("the command is there %d times:\n%s", n, r.text())
	}
}

// Where it is narrow the list of keys can be read and left.
//
// SPEC 18.3
func TestKeysWhereItIsNarrow(t *testing.T) {
	r := newTestScreen(t, llmtest.New())
	r.start("")
	r.resize(40, 20)
	r.press("?")
	r.see("  Enter\n      send; while it works, deliver\n      before its next request\n  Esc\n")
	r.see("· q leaves")
}

// On a low screen each answer has its key, and a screen that is higher again shows what is asked.
//
// SPEC 18.3
func TestQuestionOnALowScreen(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("bash", `{"command":"echo a b c > new.txt"}`), llmtest.Say("done")))
	r.begin()
	r.see("press a key")
	r.resize(20, 6)
	r.until("the keys", func(string) bool { return strings.Contains(r.screen(), "y  ") && strings.Contains(r.screen(), "  n\n") })
	r.resize(80, 24)
	r.until("the question again", func(string) bool {
		return strings.Contains(r.screen(), "echo a b c > new.txt") && strings.Contains(r.screen(), "press a key")
	})
	r.enter("n")
}
