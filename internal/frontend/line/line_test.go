package line

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// A whole conversation, as it is seen: words, thinking, calls, consent, an
// edit with evidence, a question of the model, a person's own command.
// SPEC 4.7, 5.3, 5.5, 10.1, 13.3
func TestConversation(t *testing.T) {
	m := llmtest.New(
		llmtest.Turn{Reasoning: "They greet me.\nSo I greet them.", Text: "\n\nHello.\nHow are you?"},
		llmtest.Turn{Text: "I look first.", Calls: llmtest.Use("read", `{"files":[{"path":"a.txt"}]}`).Calls},
		llmtest.Use("edit", `{"path":"a.txt","old":"one","new":"two"}`),
		llmtest.Say("Changed."),
		llmtest.Use("ask_user", `{"question":"Which colour?","options":["red","blue"]}`),
		llmtest.Say("Blue it is."),
	)
	r := newTestConversation(t, m, keysOf("hi", "", "change it", "yes", `paint\`, "it", "2", "!printf 'a\\nb'; exit 3", "!", "quit")...)
	r.put("a.txt", "one\n")
	exit, seen := r.run()
	if exit.By != "" || r.file("a.txt") != "two\n" {
		t.Errorf("%+v; the file is %q", exit, r.file("a.txt"))
	}
	shown(t, "conversation", seen)
	safe(t, seen)
	if p := events[event.Prompted](r, "s1"); len(p) != 3 || p[2].Text != "paint\nit" {
		t.Errorf("%+v", p)
	}
	if a := events[event.Answered](r, "s1"); len(a) != 2 || a[1].Text != "blue" {
		t.Errorf("%+v", a)
	}
	if p := events[event.PersonRan](r, "s1"); len(p) != 1 || p[0].Output == "" || *p[0].Exit != 3 {
		t.Errorf("%+v", p)
	}
}

// SPEC 3.4: what was shown of a reply that failed is said to be withdrawn, and
// the next one is shown whole. SPEC 3.3: what ends a turn is said.
func TestRetry(t *testing.T) {
	m := llmtest.New(
		llmtest.Turn{Text: "Half a re", Err: &fault.Error{Category: fault.Provider, Retryable: true, Message: "overloaded \x1b[2J"}},
		llmtest.Say("The whole reply."),
		llmtest.Turn{Err: fault.NewConfiguration("set another", "the key is wrong")},
	)
	r := newTestConversation(t, m, keysOf("go", "again")...)
	_, seen := r.run()
	shown(t, "retry", seen)
	safe(t, seen)
}

// SPEC 5.4: a reply is shown once, streamed or not.
func TestNothingTwice(t *testing.T) {
	r := newTestConversation(t, llmtest.New(llmtest.Say("unmistakable words"), llmtest.Turn{
		Text: "before the call", Calls: llmtest.Use("bash", `{"command":"echo output of it"}`).Calls,
	}), keysOf("one", "two", "y", "!echo mine")...)
	_, seen := r.run()
	for _, s := range []string{"unmistakable words", "before the call", "bash echo output of it  →", "\nmine\n"} {
		if n := strings.Count(seen, s); n != 1 {
			t.Errorf("%q is shown %d times in\n%s", s, n, seen)
		}
	}
}

// SPEC 16.11: the terminal obeys nothing in the text of a model, a file, a tool or
// an error.
func TestHostileText(t *testing.T) {
	const evil = "a\x1b]0;title\x07\x1b[2J\u202eb\u009b31mc\rd\x00"
	m := llmtest.New(
		llmtest.Turn{Reasoning: evil, Text: evil, Calls: llmtest.Use("bash", `{"command":"echo 'a\u001b[2Jb' '\u202ec'; exit 1"}`, "write", `{"path":"\u001b[31mx\u202e.txt","content":"\u001b]0;t\u0007\r"}`, "no\x1b[2Jtool", "{}").Calls},
		llmtest.Use("ask_user", `{"question":"q\u001b[2J","options":["o\u202e"]}`),
		llmtest.Turn{Err: fault.NewConfiguration("", "%s", evil)},
	)
	r := newTestConversation(t, m, keysOf("go", "y", "y", "1", `!printf 'x\033[2Jy\n\302\2331mz'`, "/permissions", "/diff", "/status", "/resume", "/\x1b[2J")...)
	r.typist.out = discard{r.paper} // what is typed is echoed by the terminal
	_, seen := r.run()
	safe(t, seen)
	for _, want := range []string{"permission", "the model asks", "exit code 1", "xy"} {
		if !strings.Contains(seen, want) {
			t.Errorf("no %q in\n%s", want, seen)
		}
	}
}

// discard keeps prompts and drops what is typed.
type discard struct{ p *paper }

func (d discard) Write(b []byte) (int, error) {
	if !strings.HasSuffix(string(b), "\n") {
		return d.p.Write(b)
	}
	return len(b), nil
}

// A model that does not stream is shown all the same, thinking apart if it is asked for.
func TestReplyWithoutStream(t *testing.T) {
	p := &paper{}
	v := newSeen(p, nil)
	v.verbose = true
	v.show(event.Event{Body: event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{
		{Kind: llm.Reasoning, Text: "a thought"}, llm.TextPart("a reply"),
	}}}}})
	if got := p.String(); got != "(thinking)\n  a thought\na reply\n" {
		t.Errorf("%q", got)
	}
}

// SPEC 3.4: a wait is counted down on one line; what failed and who goes on are
// lines of their own.
func TestCountDown(t *testing.T) {
	p := &paper{}
	v := newSeen(p, nil)
	down := event.Fault{Message: "a is overloaded"}
	for _, b := range []event.Body{
		event.TextDelta{Text: "half a"},
		event.Retried{Attempt: 1, Error: down, Wait: 11 * time.Second, Shown: true},
		event.Waiting{Attempt: 1, Left: 10 * time.Second},
		event.Waiting{Attempt: 1, Left: 9 * time.Second},
		event.Retried{Attempt: 2, Error: down, Wait: 20 * time.Second},
		event.Retried{Attempt: 3, Error: down, Model: "p/b"},
		event.Waiting{Attempt: 1, Left: time.Second},
		event.Interrupted{By: "person"},
	} {
		v.show(event.Event{Body: b})
	}
	want := "half a\npawl: a is overloaded; waiting 11s before try 2 (its text so far is discarded)\n" +
		"  waiting 10s before try 2      \r  waiting 9s before try 2       \r  waiting 20s before try 3      \npawl: a is overloaded; 3 tries failed, p/b goes on from here\n" +
		"interrupted\n"
	if got := p.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// Results come in the order of the calls; each call has one line, also when
// several run at once and start in another order.
func TestOneLineACall(t *testing.T) {
	p := &paper{}
	v := newSeen(p, nil)
	for i, b := range []event.Body{
		event.CallAsked{ID: "1", Tool: "bash", Args: []byte(`{"command":"first"}`)},
		event.CallAsked{ID: "2", Tool: "bash", Args: []byte(`{"command":"second"}`)},
		event.CallAsked{ID: "3", Tool: "bash", Args: []byte(`{"command":"third"}`)},
		event.CallStarted{ID: "2"},
		event.CallStarted{ID: "1"},
		event.CallStarted{ID: "3"},
		event.OutputDelta{Call: "1", Text: "not shown"},
		event.CallDone{ID: "1", Tool: "bash", Outcome: event.OK, Note: "fine"},
		event.CallDone{ID: "2", Tool: "bash", Outcome: event.Cancelled},
		event.Interrupted{By: "person"},
		event.CallDone{ID: "3", Tool: "bash", Outcome: event.OK},
	} {
		v.show(event.Event{Seq: int64(i + 1), Body: event.Completed(b)})
	}
	want := "  bash first  → fine\n  bash second  → cancelled\n  bash third\ninterrupted\n  bash third\n"
	if got := p.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// SPEC 13.3: a check of pawl's own is one line, which stands while it runs.
func TestOneLineACheck(t *testing.T) {
	p := &paper{}
	v := newSeen(p, nil)
	zero, one := 0, 1
	v.show(event.Event{Body: event.TextDelta{Text: "All tests pass"}})
	v.show(event.Event{Body: event.Checking{Command: "go test ./\x1b[2Ja"}})
	if got := p.String(); got != "All tests pass\n  check: go test ./a" {
		t.Errorf("while it runs: %q", got)
	}
	for _, b := range []event.Body{
		event.OutputDelta{Call: "check", Text: "not shown"},
		event.Checked{Command: "go test ./a", Exit: &one, Failures: 3},
		event.Prompted{Source: event.Autofix, Text: "not shown"},
		event.Checking{Command: "go test ./a"},
		event.Checked{Command: "go test ./a", Exit: &zero},
		event.Checked{Command: "go test ./...", Why: "you did not allow it"},
		event.Checked{Why: "no check found"},
	} {
		v.show(event.Event{Body: b})
	}
	want := "All tests pass\n  check: go test ./a  → exit code 1 (3 failures)\npawl: the model is asked to fix it\n" +
		"  check: go test ./a  → exit code 0\n  check: go test ./...  → you did not allow it\n"
	if got := p.String(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// SPEC 10.2: switching opens the other session and closes the old one; the
// log of both stays. What was said is recalled.
func TestSwitch(t *testing.T) {
	m := llmtest.New(llmtest.Say("first answer"), llmtest.Say("second answer"))
	r := newTestConversation(t, m, keysOf("first prompt", "/fork", "/clear", "second prompt", "/resume", "/resume s1", "/resume s1", "/resume nope", "/quit")...)
	exit, seen := r.run()
	if exit.By != "" || strings.Join(r.closed, " ") != "s1 s2 s3 s1" {
		t.Errorf("%+v, closed %v", exit, r.closed)
	}
	shown(t, "switch", seen)
	if p := events[event.Prompted](r, "s2"); len(p) != 1 || p[0].Text != "first prompt" {
		t.Errorf("the fork has %+v", p)
	}
}

// Slash commands, as they are seen; the list of the help grows and is not.
func TestSlashCommands(t *testing.T) {
	m := llmtest.New(llmtest.Use("todo", `{"items":[{"text":"try it","status":"in_progress"}]}`), llmtest.Use("write", `{"path":"new.txt","content":"x\n"}`), llmtest.Say("written"))
	r := newTestConversation(t, m, keysOf("/mode", "/mode yolo", "/mode nonsense", "write it", "/status", "/diff", "/undo", "n", "/undo", "y", "/undo", "/diff", "/redo", "y", "/undo turn", "y", "/cost",
		"/model", "/model other", "/permissions", "/m", "/unknown", "/exit", "never")...)
	_, seen := r.run()
	if !strings.HasPrefix(r.file("new.txt"), "error") {
		t.Error("the file is still there")
	}
	safe(t, seen)
	shown(t, "slash", seen)
}

// An opening that fails ends the conversation with its error.
func TestOpenFails(t *testing.T) {
	r := newTestConversation(t, llmtest.New())
	_, err := Run(t.Context(), r.config(), slash.Want{Resume: "nope"})
	if !errors.Is(err, event.ErrNoSession) {
		t.Error(err)
	}
}

func TestHelp(t *testing.T) {
	_, seen := newTestConversation(t, llmtest.New(), keysOf("/help")...).run()
	for _, c := range slash.All() {
		if !strings.Contains(seen, "  /"+c.Name) || !strings.Contains(seen, c.Doc) {
			t.Errorf("no /%s in\n%s", c.Name, seen)
		}
	}
}
