package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, m *llmtest.Model) (*session.Session, string) {
	t.Helper()
	dir := must.Dir(t)
	cfg := sessiontest.Config(t, dir, m, nil)
	cfg.Tools = tool.Set{tools.Write(), tools.Read(), tools.Todo()}
	return sessiontest.Open(t, cfg), dir
}

func opts(f Format, out, errs io.Writer) Options {
	return Options{Format: f, Out: out, Err: errs, Now: time.Now}
}

// Every line of a run's stream is as doc/stream.schema.json says, and the last
// one is the result.
func TestStreamIsAsTheSchemaSays(t *testing.T) {
	m := llmtest.New(
		llmtest.Turn{Text: "half", Err: fault.NewProvider("p", 529, "busy", nil)},
		llmtest.Turn{Reasoning: "hm", Text: "I write", Calls: llmtest.Use("write", `{"path":"a.txt","content":"x"}`, "todo", `{"items":[{"text":"t","status":"done"}]}`).Calls},
		llmtest.Use("write", `{"path":".git/hooks/pre-commit","content":"x"}`, "nonsense", `{}`),
		llmtest.Say("done"),
	)
	s, _ := open(t, m)
	var out, errs bytes.Buffer
	r := must.Get(Run(t.Context(), s, "go", opts(Stream, &out, &errs)))(t)
	v := newValidator(t)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	kinds := map[string]int{}
	for _, l := range lines {
		if err := v.check([]byte(l)); err != nil {
			t.Errorf("%v\n%s", err, l)
		}
		var e struct{ Type string }
		must.Do(t, json.Unmarshal([]byte(l), &e))
		kinds[e.Type]++
	}
	for _, want := range []string{"opened", "rebased", "prompted", "requested", "retried", "text_delta", "reasoning_delta", "replied", "call_asked", "call_done", "file_changed", "planned", "blocked", "ended", "result"} {
		if kinds[want] == 0 {
			t.Errorf("no %s in the stream: %v", want, kinds)
		}
	}
	if !strings.Contains(lines[len(lines)-1], `"type":"result"`) || errs.Len() != 0 {
		t.Errorf("the last line is %s; stderr %q", lines[len(lines)-1], errs.String())
	}
	if r.ExitCode != 0 || r.Outcome != "done" || len(r.Files) != 1 || len(r.Denials) != 1 {
		t.Errorf("%+v", r)
	}
}

// SPEC 18.1: the stream of a run in a session that is taken up again begins with the run.
func TestStreamOfAResumedSession(t *testing.T) {
	cfg := sessiontest.Config(t, must.Dir(t), llmtest.New(llmtest.Say("one"), llmtest.Say("two")), nil)
	for _, prompt := range []string{"the first prompt", "the second prompt"} {
		s := sessiontest.Open(t, cfg)
		var out bytes.Buffer
		must.Get(Run(t.Context(), s, prompt, opts(Stream, &out, io.Discard)))(t)
		must.Do(t, s.Close())
		if strings.Contains(out.String(), "the first prompt") == (prompt != "the first prompt") {
			t.Errorf("%s: %s", prompt, &out)
		}
	}
}

// SPEC 10.4: a run whose log cannot be written any more, at whatever event, ends with an error.
func TestFullDisk(t *testing.T) {
	for room := 1; ; room++ {
		cfg := sessiontest.Config(t, must.Dir(t), llmtest.New(llmtest.Say("done")), nil)
		store := sessiontest.Fill(cfg.Store, 1000)
		cfg.Store = store
		s := sessiontest.Open(t, cfg)
		store.Leave(room)
		var out bytes.Buffer
		r, err := Run(t.Context(), s, "go", opts(JSON, &out, io.Discard))
		if r.Outcome == "done" {
			return
		}
		if err == nil {
			t.Errorf("room for %d appends: %+v, %s", room, r, &out)
		}
	}
}

// SPEC 10.4, 20.2: a refusal after which the model ended by itself is in the result. It is
// the run's outcome only where the run did nothing besides.
func TestRefusedAtTheEnd(t *testing.T) {
	asked := llmtest.Use("write", `{"path":"AGENTS.md","content":"x"}`)
	for name, c := range map[string]struct {
		turns   []llmtest.Turn
		outcome string
		code    int
	}{
		"after the work":   {[]llmtest.Turn{llmtest.Use("write", `{"path":"a.txt","content":"x"}`), asked, llmtest.Say("done")}, "done", 0},
		"and nothing else": {[]llmtest.Turn{asked, llmtest.Say("I could not")}, "permission", 8},
		"after a look":     {[]llmtest.Turn{llmtest.Use("todo", `{"items":[]}`), asked, llmtest.Say("I could not")}, "permission", 8},
	} {
		s, _ := open(t, llmtest.New(c.turns...))
		var out, errs bytes.Buffer
		r, err := Run(t.Context(), s, "go", opts(JSON, &out, &errs))
		if err != nil || r.Outcome != c.outcome || r.ExitCode != c.code || len(r.Denials) != 1 {
			t.Errorf("%s: %s, %d, %+v, %v", name, r.Outcome, r.ExitCode, r.Denials, err)
		}
	}
}

// SPEC 18.5: who waits for a run is told what it is busy with, until that is over.
func TestRunningCallsAreTold(t *testing.T) {
	told := &telling{of: "(still runs, 2ms)", came: make(chan struct{})}
	waits := tool.New("wait", "Waits.", func(tool.Env, struct{}) (tool.Footprint, error) { return tool.Footprint{}, nil }, func(context.Context, tool.Env, struct{}) (tool.Result, error) {
		<-told.came
		return tool.Result{Text: "waited", Note: "waited"}, nil
	})
	waits.ReadOnly = true
	cfg := sessiontest.Config(t, must.Dir(t), llmtest.New(llmtest.Use("wait", `{}`), llmtest.Say("done")), nil)
	cfg.Tools = tool.Set{waits}
	o := opts(Text, io.Discard, told)
	o.Speak = time.Millisecond
	must.Done(t)(Run(t.Context(), sessiontest.Open(t, cfg), "go", o))
	said := told.String()
	if n, over := strings.Index(said, "  wait (still runs, 1ms)\n  wait (still runs, 2ms)\n"), strings.Index(said, "  wait  → waited"); n < 0 || over < n || strings.Contains(said[max(over, 0):], "still") {
		t.Errorf("%q", said)
	}
}

// telling says when a text was written to it.
type telling struct {
	bytes.Buffer
	of   string
	came chan struct{}
}

func (w *telling) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.of) {
		close(w.came)
	}
	return w.Buffer.Write(b)
}

// SPEC 16.11: nothing that comes from a model reaches the terminal raw; the
// answer alone is on stdout.
func TestTextIsSanitised(t *testing.T) {
	m := llmtest.New(llmtest.Turn{Text: "aside \x1b]0;evil\x07", Calls: llmtest.Use("read", `{"files":[{"path":"\u001b[31mred"}]}`).Calls}, llmtest.Say("answer \x1b[2J\u202e"))
	s, _ := open(t, m)
	var out, errs bytes.Buffer
	must.Done(t)(Run(t.Context(), s, "go", opts(Text, &out, &errs)))
	if strings.ContainsAny(out.String()+errs.String(), "\x1b\x07\u202e") {
		t.Errorf("%q %q", out.String(), errs.String())
	}
	if !strings.HasPrefix(out.String(), "answer") || strings.Contains(out.String(), "aside") {
		t.Errorf("stdout is %q", out.String())
	}
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		run    session.Outcome
		files  int
		verify bool
		code   int
	}{
		{"done", session.Outcome{Ended: event.Ended{End: event.EndDone}}, 1, false, 0},
		{"denied at the end", session.Outcome{Ended: event.Ended{End: event.EndDone}, Unanswered: true}, 0, false, 8},
		{"SIGTERM", session.Outcome{Ended: event.Ended{End: event.EndInterrupted}, By: "SIGTERM"}, 0, false, 143},
		{"SIGHUP", session.Outcome{Ended: event.Ended{End: event.EndInterrupted}, By: "SIGHUP"}, 0, false, 129},
		{"time", session.Outcome{Ended: event.Ended{End: event.EndTimeout}}, 0, false, 124},
		{"stuck", session.Outcome{Ended: event.Ended{End: event.EndStuck}}, 0, false, 5},
		{"budget", session.Outcome{Ended: event.Ended{End: event.EndBudget}}, 0, false, 6},
		{"provider", session.Outcome{Ended: event.Ended{End: event.EndProvider}}, 0, false, 4},
		{"refused by the model", session.Outcome{Ended: event.Ended{End: event.EndRefused}}, 0, false, 4},
	} {
		s, _ := open(t, llmtest.New())
		if r := resultOf(s, c.run, Options{Verify: c.verify}); r.ExitCode != c.code {
			t.Errorf("%s: exit code %d, want %d", c.name, r.ExitCode, c.code)
		}
	}
	// A refusal of the model has words of its own beside those of an outage,
	// with which it shares the code.
	seen := map[int]string{}
	for _, c := range Codes() {
		if was, ok := seen[c.Code]; ok && (was != "provider" || c.Outcome != "refused" || !strings.Contains(c.Meaning, "the model refused to answer")) {
			t.Errorf("exit code %d is listed twice", c.Code)
		}
		seen[c.Code] = c.Outcome
	}
	if seen[4] != "refused" || Failure(4, event.Fault{}).Outcome != "provider" {
		t.Errorf("%v, %s", seen, Failure(4, event.Fault{}).Outcome)
	}
}

type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, os.ErrClosed
	}
	return len(p), nil
}

// A reader that goes away ends the run: no model is paid for what nobody reads.
func TestOutputThatCannotBeWritten(t *testing.T) {
	m := llmtest.New(llmtest.Use("todo", `{"items":[]}`))
	s, _ := open(t, m)
	_, err := Run(t.Context(), s, "go", Options{Format: Stream, Out: &failing{n: 100}, Err: &bytes.Buffer{}, Now: time.Now})
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

// Three signals end what does not let itself be interrupted.
func TestThirdSignalAborts(t *testing.T) {
	held, free := make(chan struct{}), make(chan struct{})
	m := llmtest.New(llmtest.Turn{Text: "x", Before: func(*llm.Request) { close(held); <-free }})
	s, _ := open(t, m)
	signals, codes := make(chan string), make(chan int, 1)
	go func() {
		<-held
		for range 3 {
			signals <- "SIGINT"
		}
	}()
	var out, errs bytes.Buffer
	o := opts(Text, &out, &errs)
	o.Signals, o.Abort = signals, func(code int) {
		codes <- code
		close(free)
	}
	must.Done(t)(Run(t.Context(), s, "go", o))
	if code := <-codes; code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
