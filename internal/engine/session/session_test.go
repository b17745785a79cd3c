package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is the shared rig, with what the tests of this package ask of it.
type rig struct{ *sessiontest.Rig }

func newRig(t *testing.T, mode string, m *llmtest.Model, change ...func(*session.Config)) *rig {
	t.Helper()
	r := &rig{sessiontest.New(t, m)}
	r.Cfg.System, r.Cfg.Permission, r.Cfg.Mask = "be good", policy(t, mode, r.Dir), secrets.New("hunter2hunter2")
	r.Cfg.Tools = tool.Set{tools.Read(), tools.Edit(), tools.Write(), tools.Bash(), tools.Todo(), tools.AskUser()}
	for _, c := range change {
		c(&r.Cfg)
	}
	// What it did is then taken up from snapshots too (SPEC 19.3).
	snap := r.Cfg
	snap.Program, snap.Permission = "test", r.Cfg.Permission.Copy()
	t.Cleanup(func() {
		if t.Failed() || snap.Fold != nil {
			return
		}
		if log := readLog(snap.Store, snap.ID); len(log) > 0 {
			checkSnapshots(t, snap, log, len(log)/2)
		}
	})
	r.Open()
	return r
}

// readLog is what a store still has of a session.
func readLog(st event.Store, id string) (log []event.Event) {
	for e, err := range st.Read(context.Background(), id, 0) {
		if err != nil {
			return nil // closed, or made to fail
		}
		log = append(log, e)
	}
	return log
}

func policy(t *testing.T, mode, dir string) *permission.Policy {
	t.Helper()
	m := must.Get(permission.ParseMode(mode))(t)
	return permission.New(permission.Config{Mode: m, Root: dir, Home: "/home/nobody", Sandbox: permission.Sandbox{Off: true}})
}

// over is a rig whose session is opened as it is configured.
func over(t *testing.T, cfg session.Config) *rig {
	t.Helper()
	r := &rig{sessiontest.Of(t, cfg)}
	r.Open()
	return r
}

// do does an operation and waits for its end. Its error is that end's.
func (r *rig) do(op session.Op) (event.OpDone, error) {
	r.T.Helper()
	done, err := r.Do(r.T.Context(), op)
	if err == nil && done.Error != nil {
		err = &fault.Error{Category: fault.Category(done.Error.Category), Message: done.Error.Message}
	}
	return done, err
}

// onEvent calls do for the events of one kind.
func onEvent[B event.Body](do func(B)) func(event.Event) {
	return func(e event.Event) {
		if b, ok := e.Body.(B); ok {
			do(b)
		}
	}
}

func find[B event.Body](es []event.Event) []B { return sessiontest.Find[B](es) }

// undo does what is planned for a unit.
func (r *rig) undo(unit undo.Kind, leave ...string) (changes.Undone, error) {
	r.T.Helper()
	p, err := r.View().Changes().Plan(r.T.Context(), undo.Selector{Kind: unit})
	if err != nil {
		return changes.Undone{}, err
	}
	return session.DoPlan(r.T.Context(), r.Session, p, undo.Consent{LeaveOut: leave})
}

func args(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// SPEC 4.6, 10.4, 11.1, 11.2: a change is recorded with what was before, undone
// once, and never over somebody else's.
func TestEditAndUndo(t *testing.T) {
	edit := llmtest.Use("edit", args(map[string]string{"path": "a.txt", "old": "one", "new": "two"}))
	m := llmtest.New(llmtest.Use("read", `{"files":[{"path":"a.txt"}]}`), edit, llmtest.Say("done"))
	r := newRig(t, "accept-edits", m)
	r.Put("a.txt", "one\n")
	es := r.Run("change it", nil)
	if r.File("a.txt") != "two\n" {
		t.Fatalf("the file is %q; %+v", r.File("a.txt"), find[event.CallDone](es))
	}
	changed := find[event.FileChanged](es)
	if len(changed) != 1 || !changed[0].Kept || changed[0].Path != "a.txt" {
		t.Fatalf("%+v", changed)
	}
	proof := r.View().Evidence()
	if len(proof.Files) != 1 || proof.Verified != nil {
		t.Errorf("%+v", proof)
	}
	d, err := r.View().Changes().Diff(t.Context(), undo.Selector{Kind: undo.ByTurn})
	if err != nil || !strings.Contains(d, "-one") || !strings.Contains(d, "+two") {
		t.Errorf("diff %q %v", d, err)
	}
	r.Put("a.txt", "mine\n")
	if _, err := r.undo(undo.ByTurn); err == nil || !strings.Contains(err.Error(), "a.txt") || r.File("a.txt") != "mine\n" {
		t.Errorf("undo over a person's edit: %v, the file is %q", err, r.File("a.txt"))
	}
	r.Put("a.txt", "two\n")
	if _, err := r.undo(undo.ByTurn); err != nil || r.File("a.txt") != "one\n" {
		t.Errorf("undo: %v, the file is %q", err, r.File("a.txt"))
	}
	if _, err := r.undo(undo.ByTurn); !errors.Is(err, undo.ErrNothing) {
		t.Error("the same change was undone twice")
	}
}

// SPEC 4.6: a write over a file that was not shown is refused with its lines,
// and may then be made.
func TestReadBeforeWrite(t *testing.T) {
	write := args(map[string]string{"path": "a.txt", "content": "new\n"})
	m := llmtest.New(llmtest.Use("write", write), llmtest.Use("write", write))
	r := newRig(t, "accept-edits", m)
	r.Put("a.txt", "precious\n")
	es := r.Run("write it", nil)
	done := find[event.CallDone](es)
	if len(done) != 2 || done[0].Outcome != event.Denied || !strings.Contains(done[0].Result.Text, "1\tprecious") {
		t.Fatalf("%+v", done)
	}
	if done[1].Outcome != event.OK || r.File("a.txt") != "new\n" {
		t.Errorf("%+v, the file is %q", done[1], r.File("a.txt"))
	}
	// In one step: the read comes first, so the write may follow.
	m2 := llmtest.New(llmtest.Use("read", `{"files":[{"path":"b.txt"}]}`, "write", args(map[string]string{"path": "b.txt", "content": "x"})))
	r2 := newRig(t, "accept-edits", m2)
	r2.Put("b.txt", "old\n")
	r2.Run("go", nil)
	if r2.File("b.txt") != "x" {
		t.Errorf("read and write in one step: %q", r2.File("b.txt"))
	}
}

// SPEC 4.7, 4.15, 10.4: headless, what would ask is denied and listed; the run
// goes on.
func TestDeniedWithoutAPerson(t *testing.T) {
	m := llmtest.New(llmtest.Use("bash", `{"command":"curl https://example.com -o x"}`), llmtest.Say("I could not"))
	r := newRig(t, "accept-edits", m)
	es := r.Run("fetch", nil)
	blocked := find[event.Blocked](es)
	if len(blocked) != 1 || blocked[0].By != "headless" || find[event.Ended](es)[0].End != event.EndDone {
		t.Errorf("%+v %+v", blocked, find[event.Ended](es))
	}
	if d := r.View().Evidence().Denials; len(d) != 1 {
		t.Errorf("%+v", d)
	}
}

// SPEC 4.7: several calls are asked once; No ends the turn with the marker, No
// with a reason goes on, a grant for the session is not asked again.
func TestConsent(t *testing.T) {
	person := func(c *session.Config) { c.Person = true }
	answer := func(r *rig, scopes ...event.Verdict) func(event.Event) {
		return func(e event.Event) {
			q, ok := e.Body.(event.Asked)
			if !ok {
				return
			}
			if len(q.Questions) != len(scopes) {
				t.Errorf("%d questions, want %d", len(q.Questions), len(scopes))
			}
			for i := range scopes {
				scopes[i].Call = q.Questions[i].Call
			}
			if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Verdicts: scopes}); err != nil {
				t.Error(err)
			}
		}
	}
	two := func() llmtest.Turn {
		return llmtest.Use("bash", `{"command":"touch a"}`, "bash", `{"command":"touch b"}`)
	}
	r := newRig(t, "ask", llmtest.New(two(), llmtest.Say("ok")), person)
	es := r.Run("go", answer(r, event.Verdict{Scope: event.Once}, event.Verdict{Scope: event.No, Why: "not b"}))
	done := find[event.CallDone](es)
	if done[0].Outcome != event.OK || !strings.Contains(done[1].Result.Text, "not b") || find[event.Ended](es)[0].End != event.EndDone {
		t.Errorf("%+v", done)
	}

	r = newRig(t, "ask", llmtest.New(two()), person)
	es = r.Run("go", answer(r, event.Verdict{Scope: event.Once}, event.Verdict{Scope: event.No}))
	// Each answer stands (SPEC 18.3).
	if done := find[event.CallDone](es); done[0].Outcome != event.OK || done[1].Outcome != event.Denied {
		t.Errorf("%+v", done)
	}
	if find[event.Ended](es)[0].End != event.EndPermission || len(find[event.Interrupted](es)) != 1 {
		t.Errorf("%+v", es[len(es)-1])
	}
	if r.File("a") != "" {
		t.Errorf("what was allowed did not run: %s", r.File("a"))
	}

	// What needs no permission and stands before an allowed call is what that
	// builds on; what stands behind the last one is cancelled, as all is where
	// nothing was allowed.
	four := func() llmtest.Turn {
		return llmtest.Use("bash", `{"command":"echo 1"}`, "bash", `{"command":"touch a"}`, "bash", `{"command":"echo 2"}`, "bash", `{"command":"touch b"}`)
	}
	for _, c := range []struct {
		verdicts []event.Verdict
		ends     []event.Outcome
	}{
		{[]event.Verdict{{Scope: event.Once}, {Scope: event.No}}, []event.Outcome{event.OK, event.OK, event.Cancelled, event.Denied}},
		{[]event.Verdict{{Scope: event.No}, {Scope: event.No}}, []event.Outcome{event.Cancelled, event.Denied, event.Cancelled, event.Denied}},
		{[]event.Verdict{{Scope: event.No}, {Scope: event.Once}}, []event.Outcome{event.OK, event.Denied, event.OK, event.OK}},
	} {
		r = newRig(t, "ask", llmtest.New(four()), person)
		es = r.Run("go", answer(r, c.verdicts...))
		for i, d := range find[event.CallDone](es) {
			if d.Outcome != c.ends[i] {
				t.Errorf("%+v: call %d ended %s, want %s", c.verdicts, i+1, d.Outcome, c.ends[i])
			}
		}
		if find[event.Ended](es)[0].End != event.EndPermission {
			t.Errorf("%+v: %+v", c.verdicts, es[len(es)-1])
		}
	}

	r = newRig(t, "ask", llmtest.New(llmtest.Use("bash", `{"command":"touch a"}`), llmtest.Use("bash", `{"command":"touch b"}`)), person)
	es = r.Run("go", answer(r, event.Verdict{Scope: event.Session}))
	if n := len(find[event.Asked](es)); n != 1 {
		t.Errorf("asked %d times, want 1: %+v", n, find[event.Granted](es))
	}
}

// SPEC 10.3, 4.11: an interrupt cancels what runs with its whole group.
func TestInterruptARunningCommand(t *testing.T) {
	m := llmtest.New(llmtest.Use("bash", `{"command":"echo started; sleep 1000 & sleep 1000"}`))
	r := newRig(t, "yolo", m)
	es := r.Run("hang", func(e event.Event) {
		if b, ok := e.Body.(event.OutputDelta); ok && strings.Contains(b.Text, "started") {
			if _, err := r.Submit(t.Context(), session.Interrupt{By: "person"}); err != nil {
				t.Error(err)
			}
		}
	})
	done := find[event.CallDone](es)
	if len(done) != 1 || done[0].Outcome != event.Cancelled || done[0].Took > time.Minute {
		t.Errorf("%+v", done)
	}
	if find[event.Ended](es)[0].End != event.EndInterrupted || find[event.Interrupted](es)[0].By != "person" {
		t.Errorf("%+v", es[len(es)-2:])
	}
	// The next turn tells the model.
	r.Run("again", nil)
	last := m.Requests()[1].Messages
	if !strings.Contains(fmt.Sprint(last), "interrupted by user") {
		t.Errorf("%+v", last)
	}
}

// SPEC 10.3: an interrupt also cancels a request, and keeps nothing of it.
func TestInterruptARequest(t *testing.T) {
	r := (*rig)(nil)
	m := llmtest.New(llmtest.Turn{Text: "half", Wait: make(chan struct{})})
	r = newRig(t, "ask", m)
	es := r.Run("go", func(e event.Event) {
		if _, ok := e.Body.(event.TextDelta); ok {
			_, _ = r.Submit(t.Context(), session.Interrupt{By: "SIGINT"})
		}
	})
	if len(find[event.Replied](es)) != 0 || find[event.Ended](es)[0].End != event.EndInterrupted {
		t.Errorf("%+v", es)
	}
}

// A prompt while a turn runs joins it at its next request.
func TestPromptJoinsTheRunningTurn(t *testing.T) {
	r := (*rig)(nil)
	m := llmtest.New(llmtest.Turn{Calls: llmtest.Use("todo", `{"items":[{"text":"x","status":"pending"}]}`).Calls, Before: func(*llm.Request) {
		if _, err := r.Submit(t.Context(), session.Prompt{Text: "and this"}); err != nil {
			t.Error(err)
		}
	}}, llmtest.Say("both"))
	r = newRig(t, "ask", m)
	r.Run("do that", nil)
	if rs := m.Requests(); len(rs) != 2 || !strings.Contains(fmt.Sprint(rs[1].Messages), "and this") {
		t.Errorf("%d requests: %+v", len(rs), rs[len(rs)-1].Messages)
	}
	if len(r.View().Plan()) != 1 {
		t.Errorf("plan %+v", r.View().Plan())
	}
}

// SPEC 16.7: what is masked never reaches the log or the model.
func TestSecretsAreMasked(t *testing.T) {
	m := llmtest.New(llmtest.Use("bash", `{"command":"echo the password is hunter2hunter2"}`))
	r := newRig(t, "yolo", m)
	r.Run("go; the password is hunter2hunter2", nil)
	var es []event.Event
	for e, err := range r.Store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		es = append(es, e)
	}
	for _, e := range es {
		if strings.Contains(args(e.Body), "hunter2hunter2") {
			t.Errorf("%+v", e.Body)
		}
	}
	if len(find[event.Warned](es)) != 1 {
		t.Error("the person is not told that the prompt was masked")
	}
}

// SPEC 4.8, 10.4: wherever a process dies, the session reopens; every call has
// exactly one result, nothing runs again, and the next request is the same as
// it would have been, plus the closing results.
func TestReopenAtEveryEvent(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("read", `{"files":[{"path":"a.txt"}]}`, "bash", `{"command":"echo 1 >> count"}`),
		llmtest.Use("edit", args(map[string]string{"path": "a.txt", "old": "one", "new": "two"})),
		llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m)
	r.Put("a.txt", "one\n")
	r.Run("work", nil)
	var all []event.Event
	for e, err := range r.Store.Read(t.Context(), "s1", 0) {
		must.Do(t, err)
		all = append(all, e)
	}
	ran := r.File("count")
	for n := 1; n < len(all); n++ {
		st := memory.New(time.Now)
		last := int64(0)
		for _, e := range all[:n] {
			es := must.Get(st.Append(t.Context(), "s1", last, event.Draft{Cause: e.Cause, Body: e.Body}))(t)
			last = es[0].Seq
		}
		next := llmtest.New(llmtest.Say("go on"))
		cfg := r.Cfg
		cfg.Store, cfg.Model, cfg.Permission = st, next, policy(t, "yolo", r.Dir)
		r2 := over(t, cfg)
		if got := next.Requests(); len(got) != 0 {
			t.Fatalf("cut at %d: reopening asked the model", n)
		}
		r2.Run("and then?", nil)
		checkPairs(t, n, next.Requests()[0].Messages)
		// What was in the log comes first, as the live session would have had it.
		if n > 2 {
			if text := next.Requests()[0].Messages[0].Text(); text != "work" {
				t.Errorf("cut at %d: the first message is %q", n, text)
			}
		}
	}
	if r.File("count") != ran {
		t.Errorf("a call ran again: %q, was %q", r.File("count"), ran)
	}
}

func checkPairs(t *testing.T, n int, ms []llm.Message) {
	t.Helper()
	for i, m := range ms {
		for k, c := range m.Calls() {
			if i+1 >= len(ms) || ms[i+1].Role != llm.Tool || k >= len(ms[i+1].Parts) || ms[i+1].Parts[k].Result == nil || ms[i+1].Parts[k].Result.ID != c.ID {
				t.Errorf("cut at %d: call %s of message %d has no result behind it", n, c.ID, i)
			}
		}
	}
}

// SPEC 9.4, 10.4: reopening with the same model and tools is not a rebase; with
// another model it is one, and a model can be changed while nothing runs.
func TestRebase(t *testing.T) {
	m := llmtest.New()
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.OpenModel = func(ref, _ string) (llm.Model, error) {
			o := llmtest.New(llmtest.Say("from " + ref))
			o.InfoValue.Model = ref
			return o, nil
		}
	})
	r.Run("hello", nil)
	_ = r.Close()
	r.Cfg.System = "another prompt of a newer pawl"
	r.Open()
	rebases := func() (out []event.Rebased) {
		for e, err := range r.Store.Read(t.Context(), "s1", 0) {
			must.Do(t, err)
			if b, ok := e.Body.(event.Rebased); ok {
				out = append(out, b)
			}
		}
		return out
	}
	if n := len(rebases()); n != 1 {
		t.Errorf("%d rebases after reopening, want 1", n)
	}
	must.Done(t)(r.do(session.SetModel{Ref: "other"}))
	es := r.Run("hello", nil)
	if got := find[event.Replied](es)[0].Reply.Message.Text(); got != "from other" {
		t.Errorf("got %q", got)
	}
	bs := rebases()
	if len(bs) != 2 || bs[1].Why != "model" || bs[1].Head.System != "be good" {
		t.Errorf("%+v", bs)
	}
}

// A person's own command is in the conversation, both sides.
func TestPersonRuns(t *testing.T) {
	m := llmtest.New()
	r := newRig(t, "ask", m)
	// What it prints is nowhere in the command itself.
	const command = "printf 'stdout %d\\n' $((600+66)); printf 'stderr %d\\n' $((700+77)) >&2; exit 3"
	must.Done(t)(r.do(session.RunCommand{Command: command}))
	r.Run("what did I run?", nil)
	text := ""
	for _, m := range m.Requests()[0].Messages {
		text += m.Text() + "\n"
	}
	for _, want := range []string{command, "stdout 666\n", "stderr 777\n", "exit code 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}

// What another process appended while this one was idle is taken in.
func TestUndoElsewhere(t *testing.T) {
	m := llmtest.New(llmtest.Use("write", args(map[string]string{"path": "n.txt", "content": "new"})))
	r := newRig(t, "accept-edits", m)
	r.Run("make it", nil)
	cfg := r.Cfg
	cfg.ReadOnly, cfg.Permission = true, policy(t, "ask", r.Dir)
	other := must.Get(session.Open(t.Context(), cfg))(t)
	plan := must.Get(other.View().Changes().Plan(t.Context(), undo.Selector{Kind: undo.ByTurn}))(t)
	if _, err := session.DoPlan(t.Context(), other, plan, undo.Consent{}); err != nil || !strings.HasPrefix(r.File("n.txt"), "error") {
		t.Fatalf("%v; %q", err, r.File("n.txt"))
	}
	_ = other.Close()
	r.Run("go on", nil)
	if _, ok := r.View().Changes().LastTurn(); ok {
		t.Error("the first process does not know of the undo")
	}
}

// A slow reader gets every stored event, in order.
func TestSlowReader(t *testing.T) {
	m := llmtest.New()
	r := newRig(t, "ask", m)
	ctx, cancel := context.WithCancel(t.Context())
	events := r.Events(ctx, 0)
	for i := range 40 {
		r.Run(fmt.Sprint(i), nil)
	}
	last, prompts := int64(0), 0
	for e, err := range events {
		must.Do(t, err)
		if e.Seq != 0 {
			if e.Seq != last+1 {
				t.Fatalf("event %d after %d", e.Seq, last)
			}
			last = e.Seq
		}
		if _, ok := e.Body.(event.Prompted); ok {
			prompts++
		}
		if e.Seq == r.View().Last() {
			break
		}
	}
	cancel()
	if prompts != 40 {
		t.Errorf("%d prompts seen, want 40", prompts)
	}
}
