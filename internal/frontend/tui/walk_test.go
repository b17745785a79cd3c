package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// What a walk through the screen as a stranger has shown.

// Requests that fail for the same reason are written once, and then said together;
// another reason is another line, and Ctrl+O has them all.
//
// SPEC 5.4, 18.2
func TestTriesAlike(t *testing.T) {
	retry := func(id string, n int, why string) chat.Change {
		return chat.Change{What: chat.Finished, Block: chat.Block{ID: id, Body: chat.Retry{Attempt: n, Text: "try " + string(rune('0'+n)) + " failed: " + why + "; retry in 1 s", Reason: why, Wait: time.Second}}}
	}
	note := chat.Change{What: chat.Finished, Block: chat.Block{ID: "n", Body: chat.Note{Kind: chat.OfInterrupt, Text: "interrupted"}}}
	for _, c := range []struct {
		name    string
		whole   bool
		changes []chat.Change
		want    string
	}{
		{"one", false, []chat.Change{retry("a", 1, "x"), note}, "! try 1 failed: x; retry in 1 s\ninterrupted; say what to do instead"},
		{"two", false, []chat.Change{retry("a", 1, "x"), retry("b", 2, "x"), note}, "! try 1 failed: x; retry in 1 s\n! try 2 failed for the same reason\ninterrupted; say what to do instead"},
		{"four", false, []chat.Change{retry("a", 1, "x"), retry("b", 2, "x"), retry("c", 3, "x"), retry("d", 4, "x"), note}, "! try 1 failed: x; retry in 1 s\n! tries 2 to 4 failed for the same reason\ninterrupted; say what to do instead"},
		{"another reason", false, []chat.Change{retry("a", 1, "x"), retry("b", 2, "x"), retry("c", 3, "y"), note}, "! try 1 failed: x; retry in 1 s\n! try 2 failed for the same reason\n! try 3 failed: y; retry in 1 s\ninterrupted; say what to do instead"},
		{"another request", false, []chat.Change{retry("a", 1, "x"), note, retry("b", 1, "x")}, "! try 1 failed: x; retry in 1 s\ninterrupted; say what to do instead\n! try 1 failed: x; retry in 1 s"},
		{"nothing folded", true, []chat.Change{retry("a", 1, "x"), retry("b", 2, "x"), note}, "! try 1 failed: x; retry in 1 s\n! try 2 failed: x; retry in 1 s\ninterrupted; say what to do instead"},
	} {
		p := &renderer{width: 80, whole: c.whole}
		for _, ch := range c.changes {
			p.apply(ch)
		}
		var lines []string
		for _, l := range p.takeFinished() {
			if text := strings.TrimSpace(l.String()); text != "" {
				lines = append(lines, text)
			}
		}
		if got := strings.Join(lines, "\n"); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// A slash command does not answer a question of another one: it leaves the question.
//
// SPEC 18.3
func TestCommandInsteadOfAnAnswer(t *testing.T) {
	r := newRig(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.mode = "yolo"
	r.start("")
	r.say("go")
	r.press("enter")
	r.rest(1)
	r.say("/undo")
	r.press("enter")
	r.see("y  yes\n  n  no")
	r.say("/todo")
	r.press("enter")
	r.see("there is no list of steps yet")
	r.say("/undo turn")
	r.press("enter")
	r.see("› /undo turn\nwould undo: new.txt")
	r.say("n")
	r.until("the command stands once above all that it shows", func(s string) bool {
		_, after, _ := strings.Cut(s, "› /undo turn")
		return strings.Contains(after, "nothing was changed") && strings.Count(s, "› /undo") == 2
	})
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
	r := newRig(t, llmtest.New(llmtest.Say("all done")))
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
		r := newRig(t, llmtest.New(llmtest.Say(text.String())))
		r.start("")
		r.resize(80, height)
		r.say("go")
		r.press("enter")
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
	r := newRig(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.mode = "yolo"
	r.start("")
	r.say("go")
	r.press("enter")
	r.rest(1)
	r.say("/diff")
	r.press("enter")
	r.see("› /diff\n  --- /dev/null\n  +++ b/new.txt")
	r.say("/undo")
	r.press("enter")
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
	r := newRig(t, llmtest.New())
	r.start("")
	r.resize(40, 20)
	r.press("?")
	r.see("  Enter\n      send; while it works, deliver\n      before its next request\n  Esc\n")
	r.see("· q leaves")
}
