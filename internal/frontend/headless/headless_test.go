package headless

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, m *llmtest.Model) (*session.Session, string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, err := workspace.Open(dir, workspace.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(t.Context(), session.Config{
		Store: memory.New(time.Now), ID: "s1", Dir: dir, Frontend: "headless", Version: "test", Model: m,
		Tools: tool.Set{tools.Write(), tools.Read(), tools.Todo()}, Files: ws, Locks: turn.NewLocks(8),
		Permission: permission.New(permission.Config{Mode: permission.AcceptEdits, Root: dir}),
		Mask:       secrets.New(), SpillDir: t.TempDir(),
		Now: time.Now, Sleep: session.SleepFor, Jitter: func() float64 { return 0 }, NewID: func() string { return "q" },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(); _ = ws.Close() })
	return s, dir
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
	r, err := Run(t.Context(), s, "go", opts(Stream, &out, &errs))
	if err != nil {
		t.Fatal(err)
	}
	v := newValidator(t)
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	kinds := map[string]int{}
	for _, l := range lines {
		if err := v.check([]byte(l)); err != nil {
			t.Errorf("%v\n%s", err, l)
		}
		var e struct{ Type string }
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Fatal(err)
		}
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
	if r.ExitCode != 8 && r.ExitCode != 0 || len(r.Files) != 1 || len(r.Denials) != 1 {
		t.Errorf("%+v", r)
	}
}

// SPEC 16.11: nothing that comes from a model reaches the terminal raw; the
// answer alone is on stdout.
func TestTextIsSanitised(t *testing.T) {
	m := llmtest.New(llmtest.Turn{Text: "aside \x1b]0;evil\x07", Calls: llmtest.Use("read", `{"files":[{"path":"\u001b[31mred"}]}`).Calls}, llmtest.Say("answer \x1b[2J\u202e"))
	s, _ := open(t, m)
	var out, errs bytes.Buffer
	if _, err := Run(t.Context(), s, "go", opts(Text, &out, &errs)); err != nil {
		t.Fatal(err)
	}
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
	if _, err := Run(t.Context(), s, "go", o); err != nil {
		t.Fatal(err)
	}
	if code := <-codes; code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}
