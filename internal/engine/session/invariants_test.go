package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

type in struct {
	Path string `json:"path"`
}

// wild are tools that do everything a tool may do wrong.
func wild(release <-chan struct{}) tool.Set {
	made := func(name string, run func(context.Context, tool.Env) (tool.Result, error)) tool.Tool {
		return tool.New(name, "a tool", func(tool.Env, in) (tool.Footprint, error) { return tool.Footprint{Unknown: name == "slow"}, nil },
			func(ctx context.Context, e tool.Env, _ in) (tool.Result, error) { return run(ctx, e) })
	}
	look := made("look", func(context.Context, tool.Env) (tool.Result, error) { return tool.Text("seen"), nil })
	look.ReadOnly = true
	measured := made("unmeasured", nil)
	measured.Footprint = func(tool.Env, json.RawMessage) (tool.Footprint, error) { panic("no measure") }
	later := made("later", func(_ context.Context, e tool.Env) (tool.Result, error) {
		if e.Shell == nil { // a preview, on drafts
			panic("no preview")
		}
		return tool.Text("x"), nil
	})
	later.Kind = tool.Edit
	n := 0
	later.Footprint = func(tool.Env, json.RawMessage) (tool.Footprint, error) {
		if n++; n%2 == 0 { // only when it is measured again
			panic("no measure")
		}
		return tool.Footprint{Writes: []tool.Span{{Path: "later"}}}, nil
	}
	return tool.Set{
		look, measured, later,
		made("fails", func(context.Context, tool.Env) (tool.Result, error) { return tool.Errorf("no"), nil }),
		made("breaks", func(context.Context, tool.Env) (tool.Result, error) { return tool.Result{}, errors.New("broken") }),
		made("panics", func(context.Context, tool.Env) (tool.Result, error) { panic("ouch") }),
		made("asks", func(ctx context.Context, e tool.Env) (tool.Result, error) {
			s, err := e.Ask.Question(ctx, "which?", nil)
			return tool.Text(s), err
		}),
		made("slow", func(ctx context.Context, _ tool.Env) (tool.Result, error) {
			select {
			case <-release:
				return tool.Text("late"), nil
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
		}),
		tools.Read(), tools.Write(), tools.Edit(), tools.Todo(),
	}
}

const waiting = "I am thinking about it"

// drawTurn draws one answer of the model.
func drawTurn(t *rapid.T) llmtest.Turn {
	switch rapid.SampledFrom([]string{"calls", "calls", "calls", "text", "empty", "busy", "fatal", "length", "paused", "wait"}).Draw(t, "answer") {
	case "text":
		return llmtest.Say("words")
	case "empty":
		return llmtest.Turn{Stop: llm.StopOther}
	case "busy":
		return llmtest.Turn{Text: "half of a", Err: fault.NewProvider("p", 529, "busy", nil)}
	case "fatal":
		return llmtest.Turn{Err: fault.NewProvider("p", 400, "bad", nil)}
	case "length":
		return llmtest.Turn{Text: "and then", Stop: llm.StopLength}
	case "paused":
		return llmtest.Turn{Text: "more", Stop: llm.StopPaused}
	case "wait":
		return llmtest.Turn{Text: waiting}
	}
	turn := llmtest.Turn{Text: rapid.SampledFrom([]string{"", "doing"}).Draw(t, "words")}
	for range rapid.IntRange(1, 5).Draw(t, "calls") {
		turn.Calls = append(turn.Calls, drawCall(t))
	}
	return turn
}

func drawCall(t *rapid.T) llm.Call {
	c := llm.Call{
		ID: rapid.SampledFrom([]string{"", "", "0", "1", "2", "a"}).Draw(t, "id"),
		Name: rapid.SampledFrom([]string{
			"look", "look", "LOOK", "fails", "breaks", "panics", "slow", "asks", "unmeasured", "later", "read", "write", "write", "edit", "todo",
			"nothing_of_that_name", "", strings.Repeat("x", 3000),
		}).Draw(t, "name"),
	}
	switch path := rapid.SampledFrom([]string{"a.txt", "b.txt", "../out.txt"}).Draw(t, "path"); c.Name {
	case "read":
		c.Args = json.RawMessage(args(map[string]any{"files": []any{map[string]any{"path": path}}}))
	case "write":
		c.Args = json.RawMessage(args(map[string]string{"path": path, "content": rapid.SampledFrom([]string{"", "one\n", "two\n"}).Draw(t, "content")}))
	case "edit":
		c.Args = json.RawMessage(args(map[string]string{"path": path, "old": "one", "new": "two"}))
	case "todo":
		c.Args = json.RawMessage(`{"items":[{"text":"x","status":"done"}]}`)
	default:
		c.Args = json.RawMessage(args(in{path}))
	}
	switch rapid.SampledFrom([]string{"", "", "", "", "", "wrong", "missing", "bad", "huge"}).Draw(t, "how") {
	case "wrong":
		c.Args = json.RawMessage(`{"path":{"x":[1]}}`)
	case "missing":
		c.Args = json.RawMessage(`{}`)
	case "bad":
		c.Args, c.Sent, c.Bad = json.RawMessage(`{}`), `{"pa`, "cut off"
	case "huge":
		c.Args = json.RawMessage(args(map[string]string{"path": strings.Repeat("h", 20_000)}))
	}
	return c
}

// drawn is one drawn session and the person in front of it.
type drawn struct {
	*rig
	rt      *rapid.T
	next    func() (event.Event, error, bool)
	stop    func()
	release chan struct{}
	waits   chan struct{} // a token lets a waiting model go on
	tools   map[string]string

	interrupts map[int]bool // at the nth event
	prompts    map[int]bool
	ops        map[int]session.Op // refused or not
	choices    []string           // what the person does where something waits
	n          int
	calm       bool // nothing is interrupted any more
	dropped    bool // the last event led to an interrupt
}

// SPEC 1.3, 2.3, 2.4, 3.3, 3.4, 4.3, 4.4, 4.7, 4.8, 10.3, 10.4: whatever model, tools and
// person do, the log stays in order, the model is sent pairs, and folding the
// log again produces the same state.
func TestInvariants(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawSession(t, rt)
		defer w.close()
		w.play("first")
		if rapid.Bool().Draw(rt, "second") {
			w.play("second")
		}
		w.calm = true
		w.play("the last")

		all := stored(rt, w.Store, "s1")
		checkFold(rt, all)
		w.legal()
		for i, r := range w.Model.Requests() {
			pairs(rt, i, r.Messages)
		}
		w.sameAgain(all)
		w.cutAt(all[:whole(all, rapid.IntRange(1, len(all)).Draw(rt, "cut"))])
	})
}

func drawSession(t *testing.T, rt *rapid.T) *drawn {
	dir := must.Get(os.MkdirTemp(t.TempDir(), "w"))(rt)
	dir = must.Get(filepath.EvalSymlinks(dir))(rt)
	must.Write(rt, filepath.Join(dir, "a.txt"), "one\n")
	ws := must.Get(workspace.Open(dir, workspace.Options{Outside: true}))(rt)
	w := &drawn{
		rt: rt, release: make(chan struct{}, 1000), waits: make(chan struct{}, 1000), tools: map[string]string{},
		interrupts: map[int]bool{}, prompts: map[int]bool{}, ops: map[int]session.Op{},
		choices: rapid.SliceOfN(rapid.SampledFrom([]string{"once", "session", "always", "no", "why", "interrupt", "go", "go", "go"}), 1, 12).Draw(rt, "choices"),
	}
	for _, n := range rapid.SliceOfN(rapid.IntRange(1, 80), 0, 3).Draw(rt, "interrupts") {
		w.interrupts[n] = true
	}
	for _, n := range rapid.SliceOfN(rapid.IntRange(1, 60), 0, 3).Draw(rt, "prompts") {
		w.prompts[n] = true
	}
	for _, n := range rapid.SliceOfN(rapid.IntRange(1, 60), 0, 6).Draw(rt, "ops") {
		w.ops[n] = rapid.SampledFrom([]session.Op{
			session.Pause{},
			session.Pause{},
			session.Phase{Text: "a part"},
			session.Phase{Number: 2, Text: "another"},
			session.Phase{},
			session.Phase{Close: true},
			session.Phase{Plan: []event.PhaseStep{{Text: "x"}, {Text: "y", Expected: 1}}},
			session.SetMode{Mode: "plan"},
		}).Draw(rt, "op")
	}
	var script []llmtest.Turn
	for range rapid.IntRange(1, 10).Draw(rt, "answers") {
		a := drawTurn(rt)
		if a.Text == waiting {
			a.Wait = w.waits
		}
		script = append(script, a)
	}
	m := llmtest.New(script...)
	mode := rapid.SampledFrom([]string{"ask", "plan", "accept-edits", "auto", "yolo", "yolo"}).Draw(rt, "mode")
	ids := 0
	w.rig = &rig{sessiontest.Of(t, session.Config{
		Tuning: session.Tuning{Progress: progress.Config{Enable: rapid.Bool().Draw(rt, "judged"), ProgressCheckInterval: 1}},
		Store:  memory.New(time.Now), ID: "s1", Dir: dir, Frontend: "test", Version: "test", System: "be good", Model: m,
		Tools: wild(w.release), Files: ws, Permission: modeIn(rt, mode, dir), Person: rapid.Bool().Draw(rt, "person"),
		Locks: turn.NewLocks(8), Mask: secrets.New(), SpillDir: filepath.Join(dir, "spill"),
		Now: time.Now, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Jitter: func() float64 { return 0 }, NewID: func() string { ids++; return fmt.Sprint("q", ids) },
	})}
	w.start()
	return w
}

func modeIn(t *rapid.T, mode, dir string) *permission.Policy {
	m := must.Get(permission.ParseMode(mode))(t)
	p := permission.New(permission.Config{Mode: m, Root: dir, Home: "/home/nobody", Sandbox: permission.Sandbox{Off: true}})
	return p
}

func (w *drawn) start() {
	s, err := session.Open(context.Background(), w.Cfg)
	must.Do(w.rt, err)
	w.Session = s
	// One reader for all: what is shown between two prompts counts too.
	// What hangs is a failure and not the end of the test run.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	next, stop := iter.Pull2(s.Events(ctx, s.View().Last()))
	w.next, w.stop = next, func() { stop(); cancel() }
}

func (w *drawn) close() {
	w.stop()
	_ = w.Close()
	if c, ok := w.Cfg.Files.(interface{ Close() error }); ok {
		_ = c.Close()
	}
}

// play prompts and follows until the turn that took the prompt has ended.
func (w *drawn) play(prompt string) {
	must.Done(w.rt)(w.Submit(context.Background(), session.Prompt{Text: prompt}))
	seen := false
	for {
		e, err, ok := w.next()
		if !ok {
			w.rt.Fatal("the events ended before the turn")
		}
		must.Do(w.rt, err)
		w.n++
		if p, ok := e.Body.(event.Prompted); ok && p.Text == prompt {
			seen = true
		}
		if w.react(e); w.dropped && !seen {
			// An interrupt drops the prompts that wait: say it again.
			w.submit(session.Prompt{Text: prompt})
		}
		w.dropped = false
		if _, ok := e.Body.(event.Ended); ok && seen {
			return
		}
	}
}

// react does what the drawn person does at an event.
func (w *drawn) react(e event.Event) {
	ctx := context.Background()
	if !w.calm && w.interrupts[w.n] {
		w.submit(session.Interrupt{By: "person"})
	}
	if !w.calm && w.prompts[w.n] && w.Busy() {
		w.submit(session.Prompt{Text: fmt.Sprint("also ", w.n)})
	}
	if op := w.ops[w.n]; op != nil && !w.calm {
		_, _ = w.Submit(ctx, op) // what it may not do now is refused
	}
	switch b := e.Body.(type) {
	case event.CallAsked:
		w.tools[b.ID] = b.Tool
	case event.CallStarted:
		if w.tools[b.ID] == "slow" {
			w.goOn(w.release)
		}
	case event.TextDelta:
		if strings.HasPrefix(waiting, b.Text) {
			w.goOn(w.waits)
		}
	case event.Asked:
		_ = w.answer(ctx, b) // an interrupt may have been faster: the question is closed
	}
}

func (w *drawn) submit(op session.Op) {
	if _, ok := op.(session.Interrupt); ok {
		w.dropped = true
	}
	if _, err := w.Submit(context.Background(), op); err != nil {
		w.rt.Errorf("%T: %v", op, err)
	}
}

// choose returns the next of the drawn choices.
func (w *drawn) choose() string {
	c := w.choices[0]
	w.choices = append(w.choices[1:], c)
	return c
}

// goOn lets go what waits, or interrupts.
func (w *drawn) goOn(ch chan struct{}) {
	if w.choose() == "interrupt" && !w.calm {
		w.submit(session.Interrupt{By: "person"})
		return
	}
	ch <- struct{}{}
}

func (w *drawn) answer(ctx context.Context, q event.Asked) error {
	if _, err := w.Submit(ctx, session.Answer{ID: "of nothing"}); err == nil {
		w.rt.Errorf("an answer to no question was taken")
	}
	a := session.Answer{ID: q.ID, Text: "this one"}
	for _, x := range q.Questions {
		v := event.Verdict{Call: x.Call, Scope: event.No}
		switch w.choose() {
		case "once", "go":
			v.Scope = event.Once
		case "session":
			v.Scope = event.Session
		case "always":
			v.Scope = event.Always
		case "why":
			v.Why = "not that"
		case "interrupt":
			if !w.calm {
				w.submit(session.Interrupt{By: "person"})
				return nil
			}
		}
		a.Verdicts = append(a.Verdicts, v)
	}
	_, err := w.Submit(ctx, a)
	return err
}

// whole moves a cut out of what is stored at once: a reply and its calls.
func whole(all []event.Event, n int) int {
	for n < len(all) {
		if _, ok := all[n].Body.(event.CallAsked); !ok {
			break
		}
		n++
	}
	return n
}

// legal checks that no event needed an illegal transition of any machine.
func (w *drawn) legal() {
	s := w.View().States()
	for _, v := range s.Violations {
		w.rt.Errorf("event %d %s: %v", v.Seq, v.Kind, v.Err)
	}
	if len(s.Calls) > 0 || s.Storage != lifecycle.Saved || s.Application != lifecycle.UserInput {
		w.rt.Errorf("at the end: %+v", s)
	}
}

// sameAgain folds the log again and compares.
func (w *drawn) sameAgain(all []event.Event) {
	cfg := w.Cfg
	cfg.Store, cfg.ReadOnly = copyOf(w.rt, all), true
	cfg.Permission = modeIn(w.rt, string(w.View().Mode()), w.Dir)
	again, err := session.Open(context.Background(), cfg)
	must.Do(w.rt, err)
	defer again.Close()
	state := func(s *session.Session) string {
		spent, turn := s.View().Spent()
		standing, ok := s.View().Changes().LastTurn()
		at := s.View().States()
		ph := s.View().Phases()
		files := []any{ph.Totals.Files, ph.Totals.TestsOK}
		for _, d := range ph.Done {
			files = append(files, d.Number, d.Description, d.Files, d.Blockers)
		}
		return fmt.Sprintf("%s %+v %v %v %+v %s", args([]any{spent, turn, s.View().Evidence(), s.View().Plan(), s.View().Mode(), s.View().Last(), ph.Plan, files}), standing, ok, s.View().Info().Ref(), at, phasesIn(s))
	}
	if a, b := state(w.Session), state(again); a != b {
		w.rt.Errorf("folded again:\n%s\n%s", a, b)
	}
}

// cutAt dies at an event, takes the session up and goes on: nothing runs by
// itself, and the log stays in order.
func (w *drawn) cutAt(events []event.Event) {
	m := llmtest.New()
	cfg := w.Cfg
	cfg.Store, cfg.Model = copyOf(w.rt, events), m
	next := &drawn{rig: &rig{sessiontest.Of(w.T, cfg)}, rt: w.rt, tools: w.tools, choices: w.choices, calm: true}
	next.start()
	defer next.Close()
	defer next.stop()
	if n := len(m.Requests()); n != 0 {
		w.rt.Errorf("taking a session up asked the model %d times", n)
	}
	next.play("go on")
	next.legal()
	all := stored(w.rt, cfg.Store, "s1")
	checkFold(w.rt, all)
	for _, e := range all[len(events):] {
		if c, ok := e.Body.(event.CallStarted); ok {
			w.rt.Errorf("call %s ran when the session was taken up", c.ID)
		}
	}
	pairs(w.rt, len(events), m.Requests()[0].Messages)
}

func copyOf(t *rapid.T, events []event.Event) event.Store {
	st := memory.New(time.Now)
	for i, e := range events {
		must.Done(t)(st.Append(context.Background(), e.Session, int64(i), event.Draft{Cause: e.Cause, Body: e.Body}))
	}
	return st
}
