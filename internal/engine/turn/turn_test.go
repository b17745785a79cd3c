package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a loop with everything around it kept in memory.
type bench struct {
	Loop
	mu     sync.Mutex
	events []event.Body
	slept  time.Duration
	live   []event.Body
	spilt  map[string]string
	conv   window.Conversation
}

type pathArg struct {
	Path string `json:"path"`
}

// fileTool is a tool that reads or writes a path and runs a function.
func fileTool(name string, writes bool, run func(ctx context.Context, path string) (tool.Result, error)) tool.Tool {
	t := tool.New(name, "a tool", func(_ tool.Env, in pathArg) (tool.Footprint, error) {
		sp := []tool.Span{{Path: in.Path}}
		if writes {
			return tool.Footprint{Writes: sp}, nil
		}
		return tool.Footprint{Reads: sp}, nil
	}, func(ctx context.Context, _ tool.Env, in pathArg) (tool.Result, error) { return run(ctx, in.Path) })
	t.ReadOnly = !writes
	t.Example = `{"path": "main.go"}`
	return t
}

func newBench(m llm.Model, tools ...tool.Tool) *bench {
	b := &bench{spilt: map[string]string{}}
	env := func(*Pending) tool.Env { return tool.Env{Out: func(string) {}} }
	b.Loop = Loop{
		Model: m, Tools: tools, Env: env, Locks: NewLocks(8),
		Stages:   Stages{Gates: []Gate{Exists{Tools: tools}, Arguments{Env: env}, Repeated{}}},
		Requests: b, Log: b,
		Results: Results{
			Mask: func(s string) string { return s }, Cap: func(string) int { return 250 },
			Spill: func(_ context.Context, call, text string) (string, error) {
				b.spilt[call] = text
				return "/spill/" + call, nil
			}},
		Retry: Retry{Jitter: func() float64 { return 1 }},
		Clock: Clock{Now: time.Now, Sleep: func(ctx context.Context, d time.Duration) error {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.slept += d
			return ctx.Err()
		}},
	}
	return b
}

func (b *bench) Build(context.Context) (*llm.Request, *float64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := window.NewBuilder(&b.conv, nil).Request(llm.Tail{})
	return r, nil, err
}

func (b *bench) Done(context.Context, RequestResult) error { return nil }
func (b *bench) Size() window.Size                         { return window.Size{} }
func (b *bench) Cost(llm.Usage) *float64                   { return nil }
func (b *bench) CutLoops() bool                            { return false }

func (b *bench) Unique(m llm.Message) llm.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conv.Unique(m)
}

func (b *bench) Append(ctx context.Context, ds ...event.Draft) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ctx.Err() != nil {
		return ctx.Err() // as the log of a session
	}
	for _, d := range ds {
		b.events = append(b.events, d.Body)
		b.conv.Apply(event.Event{Body: d.Body})
	}
	return nil
}

func (b *bench) Publish(e event.Body) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live = append(b.live, e)
}

func (b *bench) results() []event.CallDone {
	var out []event.CallDone
	for _, e := range b.events {
		if d, ok := e.(event.CallDone); ok {
			out = append(out, d)
		}
	}
	return out
}

// oneResultEach checks SPEC 4.8 on what was recorded.
func (b *bench) oneResultEach(t *testing.T) {
	t.Helper()
	var asked, done []string
	for _, e := range b.events {
		switch e := e.(type) {
		case event.CallAsked:
			asked = append(asked, e.ID)
		case event.CallDone:
			done = append(done, e.ID)
		}
	}
	if fmt.Sprint(asked) != fmt.Sprint(done) {
		t.Errorf("asked %v, done %v", asked, done)
	}
}

// SPEC 4.1: what does not conflict runs together, results come in the order
// asked.
func TestParallelInOrder(t *testing.T) {
	both := make(chan struct{}, 2)
	release := make(chan struct{})
	meet := fileTool("meet", false, func(ctx context.Context, path string) (tool.Result, error) {
		both <- struct{}{}
		if len(both) == 2 {
			close(release)
		}
		<-release
		return tool.Text(path), nil
	})
	b := newBench(llmtest.New(llmtest.Use("meet", `{"path":"a"}`, "meet", `{"path":"b"}`)), meet)
	if end, err := b.Run(t.Context()); end != event.EndDone || err != nil {
		t.Fatal(end, err)
	}
	rs := b.results()
	if len(rs) != 2 || rs[0].Result.Text != "a" || rs[1].Result.Text != "b" {
		t.Errorf("%+v", rs)
	}
	b.oneResultEach(t)
}

// SPEC 4.1: calls that conflict run in order.
func TestConflictsRunInOrder(t *testing.T) {
	content := "old"
	write := fileTool("put", true, func(context.Context, string) (tool.Result, error) { content = "new"; return tool.Text("ok"), nil })
	read := fileTool("look", false, func(context.Context, string) (tool.Result, error) { return tool.Text(content), nil })
	b := newBench(llmtest.New(llmtest.Use("look", `{"path":"a"}`, "put", `{"path":"a"}`, "look", `{"path":"a"}`)), write, read)
	must.Done(t)(b.Run(t.Context()))
	if rs := b.results(); rs[0].Result.Text != "old" || rs[2].Result.Text != "new" {
		t.Errorf("%+v", rs)
	}
}

// SPEC 4.4: a name that another agent's editor has leads to the tools that edit, also
// where no spelling is near.
func TestNearestDoTheSame(t *testing.T) {
	tools := tool.Set{{Spec: llm.ToolSpec{Name: "look"}}, {Spec: llm.ToolSpec{Name: "edits_nothing"}}}
	for _, name := range []string{"apply_patch", "write"} {
		tools = append(tools, tool.Tool{Spec: llm.ToolSpec{Name: name}, Facts: tool.Facts{Family: tool.EditFamily}})
	}
	for name, want := range map[string]string{
		"edit": "write, apply_patch, look", "str_replace": "apply_patch, write, look", "NotebookEdit": "write, apply_patch, look",
		"lok": "look, write, apply_patch",
	} {
		if got := strings.Join(nearest(name, tools, 3), ", "); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// SPEC 4.4, 4.5: aliases resolve, unknown names are answered with the nearest,
// a missing parameter with an example.
func TestNamesAndArguments(t *testing.T) {
	read := fileTool("look", false, func(_ context.Context, path string) (tool.Result, error) { return tool.Text("got " + path), nil })
	bash := fileTool("bash", false, func(_ context.Context, path string) (tool.Result, error) { return tool.Text("ran " + path), nil })
	bash.Aliases = []string{"runshellcommand"}
	bad := llm.Call{Name: "look", Args: json.RawMessage(`{}`), Sent: `{"path`, Bad: "unexpected end at 6"}
	b := newBench(llmtest.New(
		llmtest.Use("LOOK", `{"path":"1"}`, "look", `{"file_path":"2"}`, "lok", `{"path":"3"}`, "look", `{}`, "run_shell_command", `{"path":"4"}`),
		llmtest.Turn{Calls: []llm.Call{bad}},
	), read, bash)
	must.Done(t)(b.Run(t.Context()))
	want := []string{"got 1", "got 2", `no tool "lok". The nearest are: look`, `A call that works: {"path": "main.go"}`, "ran 4", "unexpected end at 6"}
	for i, r := range b.results() {
		if !strings.Contains(r.Result.Text, want[i]) {
			t.Errorf("result %d is %q, want %q in it", i, r.Result.Text, want[i])
		}
	}
	b.oneResultEach(t)
}

// The same read twice in one reply runs once; a write between them makes them
// different questions.
func TestRepeatedInOneStep(t *testing.T) {
	n := 0
	read := fileTool("look", false, func(context.Context, string) (tool.Result, error) { n++; return tool.Text("x"), nil })
	write := fileTool("put", true, func(context.Context, string) (tool.Result, error) { return tool.Text("ok"), nil })
	b := newBench(llmtest.New(llmtest.Use("look", `{"path":"a"}`, "look", `{"path":"a"}`, "put", `{"path":"a"}`, "look", `{"path":"a"}`)), read, write)
	must.Done(t)(b.Run(t.Context()))
	if n != 2 || b.results()[1].Outcome != event.Denied {
		t.Errorf("ran %d times: %+v", n, b.results())
	}
}

// SPEC 3.2, 3.3: a key that is not taken is a matter of configuration and is
// not tried again; Google says it with a 400. Any other 400 is the provider's.
func TestRefusedKey(t *testing.T) {
	for _, c := range []struct {
		status int
		said   string
		want   event.End
	}{
		{401, "p answered 401: invalid x-api-key", event.EndConfig},
		{403, "p answered 403: no access to this model", event.EndConfig},
		{400, "gemini answered 400: API key not valid. Please pass a valid API key.", event.EndConfig},
		{400, "p answered 400: unsupported parameter", event.EndProvider},
		{404, "p answered 404: no such model", event.EndProvider},
	} {
		m := llmtest.New(llmtest.Turn{Err: fault.NewProvider("p", c.status, c.said, nil)})
		if end, err := newBench(m).Run(t.Context()); end != c.want || err == nil || len(m.Requests()) != 1 {
			t.Errorf("%s: %v %v after %d requests", c.said, end, err, len(m.Requests()))
		}
	}
}

// SPEC 3.2: a reply without anything in it (Gemini's MALFORMED_FUNCTION_CALL
// and UNEXPECTED_TOOL_CALL come as one) is asked for again, nothing of it is
// recorded, and not for ever.
func TestEmptyReplies(t *testing.T) {
	for name, turn := range map[string]llmtest.Turn{
		"end":                    {Stop: llm.StopEnd},
		"other":                  {Stop: llm.StopOther},
		"length":                 {Stop: llm.StopLength},
		"calls without a call":   {Stop: llm.StopCalls},
		"blanks":                 {Text: " \n", Stop: llm.StopEnd},
		"thinking and then":      {Reasoning: "hm", Stop: llm.StopOther},
		"thinking and no answer": {Reasoning: "hm", Stop: llm.StopEnd},
	} {
		m := llmtest.New(turn, turn, llmtest.Say("done"))
		b := newBench(m)
		if end, err := b.Run(t.Context()); end != event.EndDone || err != nil || len(m.Requests()) != 3 {
			t.Errorf("%s: %v %v after %d requests, want 3", name, end, err, len(m.Requests()))
		}
		replies, retries := 0, 0
		for _, e := range b.events {
			switch e := e.(type) {
			case event.Replied:
				replies++
			case event.Retried:
				retries++
				if e.Error.Category != string(fault.LLM) || !e.Error.Retryable {
					t.Errorf("%s: %+v", name, e.Error)
				}
			}
		}
		if replies != 1 || retries != 2 {
			t.Errorf("%s: %d replies and %d retries recorded", name, replies, retries)
		}
		always := llmtest.New()
		always.Next = func(int, *llm.Request) llmtest.Turn { return turn }
		if end, err := newBench(always).Run(t.Context()); end != event.EndProvider || err == nil || len(always.Requests()) != maxRetries+1 {
			t.Errorf("%s: %v %v after %d requests", name, end, err, len(always.Requests()))
		}
	}
}

// SPEC 3.4: a provider that pauses its reply is asked again, but not for ever.
func TestPausedReplies(t *testing.T) {
	m := llmtest.New(llmtest.Turn{Stop: llm.StopPaused}, llmtest.Turn{Text: "more", Stop: llm.StopPaused}, llmtest.Say("done"))
	if end, err := newBench(m).Run(t.Context()); end != event.EndDone || err != nil || len(m.Requests()) != 3 {
		t.Errorf("%v %v after %d requests", end, err, len(m.Requests()))
	}
	m = llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn { return llmtest.Turn{Stop: llm.StopPaused} }
	if end, err := newBench(m).Run(t.Context()); end != event.EndProvider || err == nil || len(m.Requests()) != maxPaused+1 {
		t.Errorf("%v %v after %d requests", end, err, len(m.Requests()))
	}
}

// SPEC 4.8: a cancelled call has its result, and those behind it too.
func TestInterruptedCalls(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := &fault.Error{Category: fault.Cancellation, Kind: fault.ErrInterrupted, Message: "stop"}
	hang := fileTool("hang", true, func(ctx context.Context, _ string) (tool.Result, error) {
		cancel(why)
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	})
	b := newBench(llmtest.New(llmtest.Use("hang", `{"path":"a"}`, "hang", `{"path":"a"}`)), hang)
	end, err := b.Run(ctx)
	if end != event.EndInterrupted || !errors.Is(err, fault.ErrInterrupted) {
		t.Errorf("%v %v", end, err)
	}
	for _, r := range b.results() {
		if r.Outcome != event.Cancelled {
			t.Errorf("%+v", r)
		}
	}
	b.oneResultEach(t)
}

// SPEC 4.8, 9.2: a tool that breaks is a result; a long result keeps head and
// tail, whole runes, and says where the rest is.
func TestBrokenAndLong(t *testing.T) {
	boom := fileTool("boom", false, func(context.Context, string) (tool.Result, error) { panic("ouch") })
	long := fileTool("long", false, func(context.Context, string) (tool.Result, error) {
		return tool.Result{Text: "first\n" + strings.Repeat("é", 5000) + "\nlast", Seen: []tool.Span{{Path: "a"}}}, nil
	})
	b := newBench(llmtest.New(llmtest.Use("boom", `{"path":"a"}`, "long", `{"path":"b"}`)), boom, long)
	must.Done(t)(b.Run(t.Context()))
	rs := b.results()
	if rs[0].Outcome != event.Failed || !strings.Contains(rs[0].Result.Text, "ouch") {
		t.Errorf("%+v", rs[0])
	}
	text := rs[1].Result.Text
	if len(text) > 1200 || !strings.HasPrefix(text, "first") || !strings.HasSuffix(text, "last") || strings.Contains(text, "\uFFFD") || !strings.Contains(text, "/spill/") {
		t.Errorf("%d bytes: %.60q … %.60q", len(text), text, text[len(text)-60:])
	}
	for _, e := range b.events {
		if _, ok := e.(event.FileSeen); ok {
			t.Error("lines that were cut out count as seen")
		}
	}
}

// SPEC 4.11, 9.2: an output whose middle is missing already is cut further by
// what is known of it: the counts are of the whole, the file is the one that has
// it, and no other is written.
func TestGapsAreCutOnce(t *testing.T) {
	whole := ""
	for i := range 200 {
		whole += fmt.Sprintln(i + 1)
	}
	whole += strings.Repeat("middle\n", 50_000) + strings.Repeat("the last ones\n", 2_000)
	for name, c := range map[string]struct {
		head, tail int
		fix        string
		limit      int
	}{
		"narrower":        {500, 14_000, "", 250},
		"wide enough":     {500, 700, "", 5000},
		"with a fix":      {500, 14_000, "the name was corrected", 250},
		"only the head":   {692, 0, "", 150},
		"nearly nothing":  {3, 14, "", 250},
		"smallest window": {600, 14_000, "", 50},
	} {
		gap := &tool.Gap{Head: whole[:c.head], Tail: whole[len(whole)-c.tail:], Where: "the whole is in /whole", File: "/whole"}
		gone := whole[c.head : len(whole)-c.tail]
		gap.Bytes, gap.Lines = int64(len(gone)), int64(strings.Count(gone, "\n"))
		gap.Torn = !strings.HasSuffix(gone, "\n")
		run := fileTool("run", true, func(context.Context, string) (tool.Result, error) {
			return tool.Result{Text: strings.TrimSuffix(gap.Text(), "\n") + "\nexit code 0", Gap: gap, Seen: []tool.Span{{Path: "a", From: 1, To: 2}}}, nil
		})
		b := newBench(llmtest.New(llmtest.Use("run", `{"path":"a"}`)), run)
		b.Results.Cap = func(string) int { return c.limit }
		if c.fix != "" {
			b.Stages.Gates = append(b.Stages.Gates, gate(func(_ int, p *Pending) error { p.Corrected(c.fix); return nil }))
		}
		must.Done(t)(b.Run(t.Context()))
		d := b.results()[0]
		text := d.Result.Text
		if c.fix != "" {
			var ok bool
			if text, ok = strings.CutPrefix(text, "["+c.fix+"]\n"); !ok {
				t.Errorf("%s: %.80q", name, text)
			}
		}
		seen := false
		for _, e := range b.events {
			_, ok := e.(event.FileSeen)
			seen = seen || ok
		}
		if whole := name == "wide enough" || name == "nearly nothing"; seen != whole {
			t.Errorf("%s: its lines count as shown: %v", name, seen)
		}
		head, rest, _ := strings.Cut(text, "[… ")
		var lines, left int
		if head == "" || !strings.HasSuffix(head, "\n") {
			head, rest, _ = strings.Cut(text, "[… this line goes on]\n")
			_, rest, _ = strings.Cut(rest, "[… ")
		}
		if _, err := fmt.Sscanf(rest, "%d lines, %d bytes left out; the whole is in /whole …]", &lines, &left); err != nil {
			t.Fatalf("%s: %v in %q", name, err, text)
		}
		_, tail, _ := strings.Cut(rest, "…]\n")
		tail = strings.TrimPrefix(tail, "[the end of a line …]")
		tail, ok := strings.CutSuffix(tail, "exit code 0")
		if !ok {
			t.Fatalf("%s: %q", name, text)
		}
		tail = strings.TrimPrefix(tail, "\n")
		if !strings.HasPrefix(whole, head) || !strings.HasSuffix(whole, tail) || left != len(whole)-len(head)-len(tail) {
			t.Errorf("%s: %d bytes left out, %d and %d of %d shown: %q", name, left, len(head), len(tail), len(whole), text)
		}
		if d.Spill != "/whole" || len(b.spilt) != 0 || d.Bytes != int64(len(whole)+len("\nexit code 0")) && d.Bytes != int64(len(whole)+len("exit code 0")) {
			t.Errorf("%s: spill %q, %v, %d bytes", name, d.Spill, b.spilt, d.Bytes)
		}
	}
}

// gate does something with each call of a step.
type gate func(n int, p *Pending) error

func (g gate) Check(_ context.Context, step []*Pending) error {
	for i, p := range step {
		if err := g(i, p); err != nil {
			return err
		}
	}
	return nil
}

// SPEC 4.7, 18.3: after a No runs what was allowed, and what that depends on; where a gate
// breaks nothing runs.
func TestAnswersToAStep(t *testing.T) {
	for _, c := range []struct{ answers, ran string }{
		{"yes yes", "[0 1]"}, {"yes no", "[0]"}, {"no yes", "[1]"}, {"- yes no -", "[0 1]"}, {"- no -", "[]"}, {"yes broken", "[]"}, {"- -", "[0 1]"},
	} {
		answers := strings.Fields(c.answers)
		ran, use := []string{}, []string{}
		put := fileTool("put", true, func(_ context.Context, path string) (tool.Result, error) {
			ran = append(ran, path)
			return tool.Text("ok"), nil
		})
		for i := range answers {
			use = append(use, "put", fmt.Sprintf(`{"path":"%d"}`, i))
		}
		b := newBench(llmtest.New(llmtest.Use(use...)), put)
		b.Locks = NewLocks(1)
		b.Stages.Gates = append(b.Stages.Gates, gate(func(n int, p *Pending) error {
			switch answers[n] {
			case "yes":
				p.Allowed = true
			case "no":
				p.Refused = &Refusal{Outcome: event.Denied, EndTurn: true}
			case "broken":
				return errors.New("the gate broke")
			}
			return nil
		}))
		_, _ = b.Run(t.Context())
		if fmt.Sprint(ran) != c.ran {
			t.Errorf("%s: %v ran, want %s", c.answers, ran, c.ran)
		}
		b.oneResultEach(t)
	}
}

// SPEC 4.6: what a call shows that stands behind an agent is recorded before that has ended,
// and once.
func TestSeenBehindAnAgent(t *testing.T) {
	agent := tool.New("agent", "an agent", func(tool.Env, pathArg) (tool.Footprint, error) { return tool.Footprint{RunsChild: true}, nil },
		func(context.Context, tool.Env, pathArg) (tool.Result, error) { return tool.Text("done"), nil })
	look := fileTool("look", false, func(context.Context, string) (tool.Result, error) {
		return tool.Result{Text: "x", Seen: []tool.Span{{Path: "a"}}}, nil
	})
	b := newBench(llmtest.New(llmtest.Use("agent", `{"path":"x"}`, "look", `{"path":"a"}`)), agent, look)
	must.Done(t)(b.Run(t.Context()))
	seen := 0
	for _, e := range b.events {
		if _, ok := e.(event.FileSeen); ok {
			seen++
		}
	}
	if seen != 1 {
		t.Errorf("it is recorded %d times", seen)
	}
}

// SPEC 4.8: a reply that came whole is recorded, also where an interrupt came before its end.
func TestReplyThatCameWhole(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newBench(llmtest.New(llmtest.Turn{Text: "whole", Before: func(*llm.Request) { cancel() }}))
	_, _ = b.Run(ctx)
	if _, ok := b.events[len(b.events)-1].(event.Replied); !ok {
		t.Errorf("%+v", b.events)
	}
}

// Replies that are cut go on, but not for ever.
func TestCutReplies(t *testing.T) {
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn { return llmtest.Turn{Text: "and", Stop: llm.StopLength} }
	b := newBench(m)
	if end, err := b.Run(t.Context()); end != event.EndProvider || err == nil || len(m.Requests()) != maxCut+1 {
		t.Errorf("%v %v after %d requests", end, err, len(m.Requests()))
	}
}

// SPEC 4.8: no call of a model has the id of something that pawl runs by itself, so that
// neither its output nor its result is taken for that, nor that of another call of the
// session; other ids stay as they are.
func TestIDsOfPawlsOwn(t *testing.T) {
	look := fileTool("look", false, func(context.Context, string) (tool.Result, error) { return tool.Text("x"), nil })
	ids := []string{"check", "check-1", "check-12", "Stop", "PostToolUse", "", "checked", "Check", "0"}
	var calls []llm.Call
	for _, id := range ids {
		calls = append(calls, llm.Call{ID: id, Name: "look", Args: json.RawMessage(`{"path":"a"}`)})
	}
	b := newBench(llmtest.New(llmtest.Turn{Calls: calls}, llmtest.Turn{Calls: calls}, llmtest.Say("done")), look)
	if end, err := b.Run(t.Context()); end != event.EndDone || err != nil {
		t.Fatal(end, err)
	}
	b.oneResultEach(t)
	seen := map[string]bool{}
	for i, d := range b.results() {
		if kept := i >= 6 && i < len(ids); seen[d.ID] || slices.Contains(ids[:6], d.ID) || (d.ID == ids[i%len(ids)]) != kept {
			t.Errorf("the id %q became %q", ids[i%len(ids)], d.ID)
		}
		seen[d.ID] = true
	}
	if len(seen) != 2*len(ids) {
		t.Errorf("%d results", len(seen))
	}
}

// fullDisk is a log that takes nothing of running calls.
type fullDisk struct {
	*bench
	err error
}

func (f fullDisk) Append(ctx context.Context, ds ...event.Draft) error {
	if _, ok := ds[0].Body.(event.CallStarted); ok {
		return f.err
	}
	if _, ok := ds[len(ds)-1].Body.(event.CallDone); ok {
		return f.err
	}
	return f.bench.Append(ctx, ds...)
}

// SPEC 4.8, 10.4: a log that takes nothing ends the turn, and a call whose start cannot be
// recorded does not run.
func TestBrokenLogEndsTheTurn(t *testing.T) {
	ran := false
	put := fileTool("put", true, func(context.Context, string) (tool.Result, error) { ran = true; return tool.Text("x"), nil })
	b := newBench(llmtest.New(llmtest.Use("put", `{"path":"a"}`)), put)
	full := errors.New("disk full")
	b.Log = fullDisk{b, full}
	if end, err := b.Run(t.Context()); end != event.EndFailed || !errors.Is(err, full) || ran {
		t.Errorf("%v %v, ran %v", end, err, ran)
	}
}
