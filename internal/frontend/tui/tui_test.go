package tui

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// A prompt, a reply with Markdown, and out: what is seen is there once, and a
// session that is opened again looks as it did.
//
// SPEC 18.1, 18.4
func TestConversation(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Turn{Reasoning: "I think.", Text: "# Head\n\nSome **bold** text and `code`.\n\n- one\n- two\n\n```go\nfunc f() {}\n```\n", Piece: 3}))
	r.start("")
	r.enter("hello")
	r.rest(1)
	want := `pawl  scripted/script from this test, $1/$10 per M tokens; mode ask; /help

› hello

∴ thought

Head

Some bold text and code.

• one
• two

go
func f() {}

$0.0003, 1 model reply, 100 tokens in (0 cached), 20 out
`
	if got, _, _ := strings.Cut(r.text(), "\n› \n"); cmp.Diff(want, got) != "" {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
	r.press("ctrl+d")
	if e := r.left(); e.By != "" {
		t.Errorf("it ended by %s", e.By)
	}
	if got := r.text(); got != want+"to continue this session: pawl --resume s1\n" {
		t.Errorf("it leaves\n%s", got)
	}
	again := newTestScreen(t, llmtest.New())
	again.store, again.dir = r.store, r.dir
	again.start("s1")
	again.see("model reply")
	again.until("ready", func(s string) bool { return strings.Contains(s, invitation) })
	if got, _, _ := strings.Cut(again.text(), "\n› "+invitation); cmp.Diff(want, got) != "" {
		t.Errorf("opened again (-want +got):\n%s", cmp.Diff(want, got))
	}
	again.press("ctrl+d")
	again.left()
}

// SPEC 4.7, 18.2, 18.3
func TestQuestion(t *testing.T) {
	write := llmtest.Use("write", `{"path":"new.txt","content":"one\ntwo\n"}`)
	for _, c := range []struct {
		name  string
		keys  []string
		sees  []string
		never []string
		file  string
	}{
		{"yes", []string{"y"}, []string{"→ allowed once", "● write new.txt"}, nil, "one\ntwo\n"},
		{"for the session", []string{"s"}, []string{"→ allowed for this session", "allowed for this session: edits in new.txt"}, nil, "one\ntwo\n"},
		{"edits from now on", []string{"e"}, []string{"mode accept-edits"}, nil, "one\ntwo\n"},
		{"no", []string{"n", "enter"}, []string{"you did not allow it"}, []string{"all done"}, ""},
		{"no and why", []string{"n", "b", "a", "d", "enter"}, []string{"→ not allowed: bad", "all done"}, nil, ""},
		{"no, taken back", []string{"n", "x", "esc", "y"}, []string{"→ allowed once"}, nil, "one\ntwo\n"},
		{"escape", []string{"esc"}, []string{"interrupted"}, []string{"all done"}, ""},
		{"a mode by command", []string{"/", "m", "o", "d", "e", " ", "a", "u", "t", "o", "enter"}, []string{"mode auto", "all done"}, nil, "one\ntwo\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newTestScreen(t, llmtest.New(write, llmtest.Say("all done")))
			r.begin()
			r.see("press a key")
			r.see("+one")
			if n := strings.Count(r.text(), "+one"); n != 1 {
				t.Errorf("the change is shown %d times", n)
			}
			var seen []string
			for _, k := range c.keys {
				r.press(k)
				seen = append(seen, r.text())
			}
			for _, text := range c.sees {
				if !strings.Contains(strings.Join(seen, "\n"), text) {
					r.see(text)
				}
			}
			r.rest(1)
			text := r.text()
			for _, s := range c.never {
				if strings.Contains(text, s) {
					t.Errorf("%q is seen:\n%s", s, text)
				}
			}
			if n := strings.Count(text, "+one"); n != 1 {
				t.Errorf("the change is shown %d times:\n%s", n, text)
			}
			b, _ := os.ReadFile(filepath.Join(r.dir, "new.txt"))
			if string(b) != c.file {
				t.Errorf("the file holds %q, want %q", b, c.file)
			}
			r.press("ctrl+d")
			r.left()
		})
	}
}

// Enter alone answers nothing, and neither does a word that begins with no
// answer, whatever letters follow: it goes to the prompt.
//
// SPEC 4.7, 18.3
func TestAWordIsNoAnswer(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.begin()
	r.see("press a key")
	r.press("enter")
	r.see("please answer")
	r.say("use essays") // s and y and e and a among it
	r.see("› use essays")
	r.see("Tab answers")
	r.unmade("typing allowed the call")
	r.press("enter")
	r.see("◦ use essays") // what waits is seen below the question
	r.press("up")
	r.see("› use essays")
	r.press("tab")
	r.see("press a key")
	r.press("y")
	r.see("→ allowed once")
	r.rest(1)
	if text := r.text(); strings.Contains(text, "allowed for this session") || !strings.Contains(text, "› use essays") {
		t.Error(text)
	}
}

// What is typed when a question comes is not an answer to it, and is kept.
//
// SPEC 18.3, 18.4
func TestQuestionTakesNoTyping(t *testing.T) {
	asks := make(chan struct{})
	first := llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`)
	first.Wait = asks
	r := newTestScreen(t, llmtest.New(first, llmtest.Say("all done")))
	r.clock.stand()
	r.begin()
	r.see("esc interrupts")
	r.say("but ")
	close(asks)
	r.see("Tab answers")
	r.say("yes") // a y among it
	r.pass(10 * time.Second)
	r.say("y")
	r.see("› but yesy")
	r.unmade("typing allowed the call")
	r.press("tab")
	r.see("press a key")
	r.press("y")
	r.rest(1)
	r.see("› but yesy")
	r.press("ctrl+c")
	r.see("cleared; Up brings it back")
	r.press("up")
	r.see("› but yesy")
}

// A word that begins like an answer is a prompt; the letter alone answers.
//
// SPEC 18.4
func TestQuestionTakesNoWord(t *testing.T) {
	for _, word := range []string{"yes it may", "sure", "all of them", "also this", "e2e tests", "y?", "ok then"} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
			r.asked()
			for _, c := range word {
				r.pass(letterDelay / 2)
				r.say(string(c))
			}
			r.see("› " + word)
			r.passed(time.Minute)
			r.see("Tab answers")
			r.unmade("a word allowed the call")
			r.press("tab")
			r.press("y")
			r.rest(1)
			if _, err := os.Stat(filepath.Join(r.dir, "new.txt")); err != nil {
				t.Fatal("the letter alone did not")
			}
		})
	}
}

// A paste is no answer, and neither is a letter that follows it: they are one prompt.
//
// SPEC 18.4
func TestPasteIsNoAnswer(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("all done")))
	r.asked()
	r.send(keys.Paste{Text: "y"})
	r.say("e")
	r.passed(time.Minute)
	r.see("› ye")
	r.unmade("a paste allowed the call")
	r.press("tab")
	r.press("y")
	r.rest(1)
}

// A letter answers one call of a batch, however long it stays the last key.
//
// SPEC 4.7, 18.4
func TestALetterAnswersOneCall(t *testing.T) {
	two := llmtest.Use("write", `{"path":"old.txt","content":"x\n"}`)
	two.Calls = append(two.Calls, llm.Call{ID: "second", Name: "write", Args: json.RawMessage(`{"path":"new.txt","content":"x\n"}`)})
	r := newTestScreen(t, llmtest.New(two, llmtest.Say("all done")))
	r.asked()
	for i, key := range []string{"o", "y"} {
		r.press(key)
		r.passed(time.Second)
		r.passed(time.Minute)
		r.see(fmt.Sprintf("? %d of 2", i+1))
	}
	r.unmade("the letter for the first call allowed the second")
	r.press("n", "enter")
	r.passed(time.Second)
	r.rest(1)
	r.unmade("a call that was not allowed ran")
}

// Keys that were pressed as a question was drawn, or while somebody types, do not answer it.
//
// SPEC 18.4
func TestQuestionWaits(t *testing.T) {
	asks := make(chan struct{})
	first := llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`)
	first.Wait = asks
	r := newTestScreen(t, llmtest.New(first, llmtest.Say("all done")))
	r.clock.stand()
	r.begin()
	r.see("esc interrupts")
	r.pass(time.Minute) // nobody types
	close(asks)
	r.see("y  yes")
	r.press("y") // the question was seen only now
	r.see("› y")
	r.pass(quietTime - 100*time.Millisecond)
	r.press("backspace")
	r.pass(200 * time.Millisecond)
	r.press("y") // the last key was pressed only now
	r.see("› y")
	r.press("backspace", "enter")
	r.passed(time.Second)
	r.see("press a key")
	r.press("y")
	r.passed(time.Second)
	r.see("all done")
}

// Shift+Tab goes through the modes, and never to the one that asks nothing.
//
// SPEC 4.15, 18.3
func TestNextMode(t *testing.T) {
	r := newTestScreen(t, llmtest.New())
	r.start("")
	r.see("mode ask; /help")
	for _, mode := range []string{"accept-edits", "plan", "auto", "ask"} {
		r.press("shift+tab")
		r.see("mode " + mode)
	}
	if strings.Contains(r.text(), "yolo") {
		t.Error(r.text())
	}
}

// SPEC 10.1, 18.3
func TestSteering(t *testing.T) {
	goes, arrived := make(chan struct{}), make(chan struct{})
	first := llmtest.Use("read", `{"path":"a.txt"}`)
	first.Wait = goes
	first.Before = func(*llm.Request) { close(arrived) }
	r := newTestScreen(t, llmtest.New(first, llmtest.Say("all done")))
	r.begin()
	r.see("esc interrupts")
	<-arrived // what is said before goes with this request
	r.enter("do it like this")
	r.see("◦ do it like this  sent with the next request")
	r.enter("and that")
	r.see("◦ and that")
	r.press("up")
	r.see("› and that")
	r.press("ctrl+u")
	close(goes)
	r.see("delivered while it works")
	r.rest(1)
	text := r.text()
	if strings.Contains(text, "◦") || strings.Count(text, "do it like this") != 1 || strings.Contains(text, "and that") {
		t.Errorf("seen:\n%s", text)
	}
}

// SPEC 10.3, 18.3
func TestInterrupt(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("bash", `{"command":"echo begun; sleep 1000"}`), llmtest.Say("and now?")))
	r.mode = "yolo"
	r.begin()
	r.see("  begun") // live output
	r.say("half a thought")
	r.press("esc")
	r.see("interrupted")
	r.until("rest", func(string) bool { return !strings.Contains(r.screen(), "esc interrupts") })
	r.see("› half a thought")
	r.press("ctrl+c")
	r.see("cleared; Up brings it back")
	r.clock.pass(time.Second)
	r.press("ctrl+c")
	r.see("press Ctrl+C again to leave")
	r.press("ctrl+c")
	if e := r.left(); e.By != "" {
		t.Errorf("it ended by %q", e.By)
	}
}

// SPEC 10.3
func TestThreeInterrupts(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("bash", `{"command":"sleep 1000"}`)))
	r.mode = "yolo"
	r.clock.stand()
	r.begin()
	r.see("● bash sleep 1000")
	r.say("typed")
	r.press("ctrl+c", "ctrl+c", "ctrl+c")
	if e := r.left(); e.By != "SIGINT" {
		t.Errorf("it ended by %q", e.By)
	}
	r.see("what you were typing is in the history")
	r.see("to continue this session")
	for _, mode := range []string{"2004", "1004"} {
		if r.term.Mode(mode) {
			t.Errorf("mode %s is left on", mode)
		}
	}
}

// Three interrupts in a row end the program, and what was being typed is in the history and
// that is said, whatever comes between them: what ran ends or does not, or a view is open.
//
// SPEC 10.3, 18.3
func TestThreeInterruptsInAnyOrder(t *testing.T) {
	for name, press := range map[string]func(*testScreen){
		"it runs on": func(r *testScreen) {
			r.swarm = func(string) {} // an interrupt does not end it
			r.start("")
			r.see("esc interrupts")
			r.say("typed")
			r.press("ctrl+c", "ctrl+c", "ctrl+c")
		},
		"it ends after the first": func(r *testScreen) {
			r.begin()
			r.see("esc interrupts")
			r.say("typed")
			r.press("ctrl+c")
			r.until("rest", func(string) bool { return !strings.Contains(r.screen(), "esc interrupts") })
			r.press("ctrl+c", "ctrl+c")
		},
		"nothing ran": func(r *testScreen) {
			r.start("")
			r.see("mode ask; /help")
			r.say("typed")
			r.press("ctrl+c", "ctrl+c", "ctrl+c")
		},
		"a view is open": func(r *testScreen) {
			r.start("")
			r.see("mode ask; /help")
			r.say("typed")
			r.press("ctrl+t", "ctrl+c", "ctrl+c", "ctrl+c")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTestScreen(t, llmtest.New(llmtest.Turn{Wait: make(chan struct{})}))
			r.clock.stand()
			press(r)
			if e := r.left(); e.By != "SIGINT" {
				t.Errorf("it ended by %q", e.By)
			}
			if !strings.Contains(r.text(), "what you were typing is in the history") || strings.Contains(r.text(), "› typed") {
				t.Errorf("it closes with\n%s", r.text())
			}
		})
	}
}

// SPEC 18.2, 18.4
func TestLongOutput(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("bash", `{"command":"seq 10000; exit 3"}`), llmtest.Say("all done")))
	r.mode = "yolo"
	r.begin()
	r.see("all done")
	r.rest(1)
	text := r.text()
	for _, s := range []string{"exit code 3", "\n  1\n  2\n", "… 9988 lines between; Ctrl+O shows more", "\n  10000\n"} {
		if !strings.Contains(text, s) {
			t.Errorf("%q is not seen:\n%s", s, text)
		}
	}
	if n := strings.Count(text, "\n"); n > 60 {
		t.Errorf("it takes %d lines", n)
	}
	r.enter("!seq 10000")
	r.see("\n9999\n10000\n")
	r.until("rest", func(string) bool { return strings.Contains(r.screen(), "\n›\nyolo") })
	text = r.text()
	last := 0
	for i := 1; i <= 10000; i++ {
		at := strings.Index(text[last:], fmt.Sprintf("\n%d\n", i))
		if at < 0 {
			t.Fatalf("line %d is not there, or out of order", i)
		}
		last += at
	}
	if n := strings.Count(text, "! seq 10000"); n != 1 {
		t.Errorf("the command is seen %d times", n)
	}
}

// Nothing of what a model, a tool, a file or a person's paste holds is obeyed.
//
// SPEC 16.11
func TestHostileText(t *testing.T) {
	evil := "a\x1b]52;c;ZXZpbA==\x07b\x1b]2;title\x1b\\c\x1b[2J\x1b[1;1Hd\u009b31me\u202ef\x1b]8;;http://evil\x1b\\g\x1b[?1049hh\rI\x08\x07\x1bP1$r\x1b\\j\x1bck"
	r := newTestScreen(t, llmtest.New(
		llmtest.Turn{Reasoning: evil, Text: evil + "\n```go\n" + evil + "\n```\n| " + evil + " | b |\n|--|--|\n| " + evil + " | x |\n[x](" + evil + ") [y](http://a/\x1b]0;t\x07)\n", Piece: 2},
		llmtest.Use("bash", `{"command":"printf '\\033]52;c;x\\007\\033[2J\\233evil\\n'; cat hostile; exit 1"}`),
		llmtest.Use("edit", `{"path":"hostile","old":"one","new":"two"}`),
		llmtest.Say("all done")))
	r.theme = styled.Dark
	r.theme.Links = true
	r.mode = "yolo"
	must.Write(t, filepath.Join(r.dir, "hostile"), evil+"\none\n")
	r.start("")
	r.send(keys.Paste{Text: evil})
	r.press("enter")
	r.rest(1)
	r.enter("go")
	r.see("all done")
	r.rest(2)
	r.enter("!cat hostile")
	r.until("rest", func(s string) bool {
		return strings.Contains(s, "! cat hostile") && strings.Contains(r.screen(), "\n›\nyolo")
	})
	if len(r.term.Copied) > 0 || r.term.Bells > 0 || r.term.Alternate() {
		t.Errorf("copied %q, %d bells, alternate %v", r.term.Copied, r.term.Bells, r.term.Alternate())
	}
	for _, title := range r.term.Titles {
		if !strings.HasSuffix(title, "pawl project") {
			t.Errorf("a title was set: %q", title)
		}
	}
	if strings.ContainsAny(r.text(), "\u202e\u009b") || strings.Contains(r.term.Styled(), "evil}") {
		t.Errorf("seen:\n%s", r.text())
	}
}

// SPEC 18.2
func TestUnfold(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Turn{Reasoning: "a secret thought", Calls: llmtest.Use("bash", `{"command":"seq 100; exit 1"}`).Calls}, llmtest.Say("all done")))
	r.mode = "yolo"
	r.begin()
	r.see("all done")
	r.rest(1)
	before := r.text()
	if strings.Contains(before, "a secret thought") || strings.Contains(before, "\n  50\n") {
		t.Errorf("it is not folded:\n%s", before)
	}
	r.press("ctrl+o")
	r.see("\n  18\n")
	r.see("%; PgUp, PgDn; Ctrl+O folds it")
	if strings.Contains(r.screen(), "\n  30\n") || strings.Contains(r.screen(), "secret") {
		t.Errorf("it is more than the first page of the block:\n%s", r.screen())
	}
	r.press("pgdown")
	r.see("\n  30\n")
	r.say("typed")
	r.see("› typed")
	r.press("ctrl+o", "ctrl+c")
	r.see("cleared")
	r.press("left")
	r.until("folded", func(s string) bool { return s == before })
	r.press("ctrl+t")
	r.until("the pager", func(s string) bool {
		return strings.Contains(s, "session, unfolded") && strings.Contains(s, "all done")
	})
	r.press("/")
	r.enter("secret")
	r.see("a secret thought")
	r.press("home")
	r.see("› go")
	r.press("q")
	r.until("back", func(s string) bool { return s == before })
	r.press("?")
	r.see("Ctrl+R")
	r.press("esc")
	r.until("back", func(s string) bool { return s == before })
}

// SPEC 10.1, 18.3
func TestCompletion(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Say("all done")))
	r.start("")
	r.say("/mo")
	r.see("show or set the permission mode")
	r.press("tab")
	r.see("› /mod")
	r.press("down", "down", "enter", "p", "l", "a", "n", "enter")
	r.see("› /mode plan\nmode plan")
	r.say("/moed")
	r.see("did you mean this?")
	r.press("ctrl+u")
	r.press("shift+tab")
	r.see("mode auto")
	r.say("/")
	r.see("\nmodel, rights and servers (10)\n  /help          list the commands\n  /model         list the models, or change the model\n")
	r.press("down", "down")
	r.see("  /model [PROVIDER/MODEL] list the models")
	r.say("re")
	r.until("no groups", func(string) bool {
		return strings.Contains(r.screen(), "/rewind") && !strings.Contains(r.screen(), "changes (4)")
	})
	r.press("ctrl+u")
	r.say("see @ca")
	r.press("tab", "enter")
	r.rest(1)
	r.see("› see @calc.go")
	r.press("up")
	r.see("› see @calc.go")
	r.press("ctrl+u", "ctrl+r", "m", "o", "d", "enter")
	r.until("found", func(string) bool { return strings.Contains(r.screen(), "› /mode plan\n") })
}

// SPEC 18.3
func TestNotice(t *testing.T) {
	asks := make(chan struct{})
	first := llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`)
	first.Wait = asks
	r := newTestScreen(t, llmtest.New(first, llmtest.Say("all done")))
	r.begin()
	r.see("esc interrupts")
	r.send(keys.Focus{In: false})
	close(asks)
	r.see("press a key")
	r.clock.pass(time.Minute)
	r.press("y")
	r.rest(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := cmp.Diff([]string{"pawl asks in project", "pawl is done in project"}, r.term.Notices); d != "" || r.term.Bells != 2 {
		t.Errorf("%d bells; notices (-want +got):\n%s", r.term.Bells, d)
	}
	if d := cmp.Diff([]string{"● pawl project", "? pawl project", "● pawl project", "pawl project"}, r.term.Titles[max(0, len(r.term.Titles)-4):]); d != "" {
		t.Errorf("titles (-want +got):\n%s", d)
	}
}

// At rest nothing is written, whatever time passes and whatever is looked at.
//
// SPEC 18.4
func TestRestWritesNothing(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Say("all done")))
	r.begin()
	r.rest(1)
	r.press("left") // which changes nothing: all before it is drawn
	r.mu.Lock()
	before := r.term.Bytes
	r.mu.Unlock()
	for range 5 {
		r.clock.pass(time.Minute)
		r.send(keys.Focus{In: false})
		r.send(keys.Focus{In: true})
	}
	r.press("left")
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := r.term.Bytes - before; n > 0 {
		t.Errorf("%d bytes are written at rest", n)
	}
}

// SPEC 18.5
func TestNarrow(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Use("write", `{"path":"a-file-with-quite-a-long-name.txt","content":"漢字\n"}`), llmtest.Say(reply)))
	r.width = 40
	r.start("")
	r.enter("go 漢字 and a prompt that is longer than the window")
	r.see("press a key")
	r.press("y")
	r.rest(1)
	for l := range strings.Lines(r.screen()) {
		if n := styled.Width(strings.TrimSuffix(l, "\n")); n > 40 {
			t.Errorf("%q is %d columns wide", l, n)
		}
	}
}

// SPEC 10.3
func TestSignals(t *testing.T) {
	for _, name := range []string{"SIGTERM", "SIGHUP"} {
		r := newTestScreen(t, llmtest.New(llmtest.Use("bash", `{"command":"sleep 1000"}`)))
		r.mode = "yolo"
		r.begin()
		r.see("● bash sleep 1000")
		r.send(Signal{Name: name})
		if e := r.left(); e.By != name {
			t.Errorf("%s: it ended by %q", name, e.By)
		}
		r.see("to continue this session")
	}
}

// SPEC 18.3
func TestEditor(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Say("all done")))
	r.start("")
	r.say("text")
	r.press("ctrl+g")
	r.see("an editor")
	r.see("› text edited")
	if n := strings.Count(r.text(), "› text"); n != 1 {
		t.Errorf("the prompt is there %d times:\n%s", n, r.text())
	}
	r.press("ctrl+_")
	r.until("undone", func(string) bool { return strings.Contains(r.screen(), "› text\n") })
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.term.Mode("2004") {
		t.Error("pastes are not told apart any more")
	}
}
