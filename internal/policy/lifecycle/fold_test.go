package lifecycle_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// folds is everything that follows events.
type folds struct {
	agent    lifecycle.Agent
	activity lifecycle.Activity
	calls    lifecycle.Calls
	app      lifecycle.Application
	storage  lifecycle.Storage
}

func (f *folds) apply(e event.Event) {
	for _, fold := range []event.Fold{&f.agent, &f.activity, &f.calls, &f.app, &f.storage} {
		fold.Apply(e)
	}
}

func (f *folds) violations() []lifecycle.Violation {
	return slices.Concat(f.agent.Violations(), f.activity.Violations(), f.calls.Violations(), f.app.Violations(), f.storage.Violations())
}

func pairsAllowed(t *fsm.Table, path []fsm.State) error {
	for i := 1; i < len(path); i++ {
		if err := t.Check(path[i-1], path[i]); err != nil {
			return err
		}
	}
	return nil
}

// SPEC 1.5, 2.2, 2.3, 2.4: whatever a session records, no event needs an
// illegal transition; paused and awaiting_permission mean exactly that a
// question is open; halted ends the run and not the session.
func TestWhatSessionsRecord(t *testing.T) {
	taken := map[string]map[fsm.Transition]bool{"agent": {}, "activity": {}}
	for seed := range uint64(2000) {
		r := record(seed)
		var f folds
		f.agent.Listen(func(from, to fsm.State, _ fsm.Meta) { taken["agent"][fsm.Transition{From: from, To: to}] = true }, nil)
		f.activity.Listen(func(from, to fsm.State, _ fsm.Meta) { taken["activity"][fsm.Transition{From: from, To: to}] = true }, nil)
		asked := map[string]bool{} // open, as far as a reader of the log knows
		for i, e := range r.es {
			f.apply(e)
			if v := f.violations(); len(v) > 0 {
				t.Fatalf("seed %d, event %d of\n%s\n%+v: %v", seed, i, tell(r.es[:i+1]), v[0], v[0].Err)
			}
			if e.Seq == 0 {
				continue
			}
			withdrawn := false
			switch b := e.Body.(type) {
			case event.Asked:
				asked[b.ID] = true
			case event.Answered:
				delete(asked, b.ID)
			case event.Ended:
				clear(asked)
				ended(t, &f, b.End)
			case event.CallDone, event.Interrupted:
				withdrawn = true
			}
			paused, awaiting := f.agent.State() == lifecycle.Paused, f.activity.State() == lifecycle.AwaitingPermission
			if paused != awaiting || paused && len(asked) == 0 || !paused && len(asked) > 0 && !withdrawn {
				t.Fatalf("seed %d, event %d of\n%s\n%d open, the agent is %s, its activity %s", seed, i, tell(r.es[:i+1]), len(asked), f.agent.State(), f.activity.State())
			}
			if !paused {
				clear(asked)
			}
			if f.storage.State() != lifecycle.Saved {
				t.Fatalf("an event is stored and the session %s", f.storage.State())
			}
		}
		must.Do(t, pairsAllowed(lifecycle.ActivityTable(), f.activity.Path()))
	}
	// What was made up is worth something only if it goes everywhere.
	if n, m := len(taken["agent"]), len(taken["activity"]); n < 10 || m < 33 {
		t.Errorf("%d and %d transitions were taken: %v", n, m, taken)
	}
}

func ended(t *testing.T, f *folds, end event.End) {
	activity, agent := lifecycle.Halted, lifecycle.Idle
	switch end {
	case event.EndDone, event.EndInterrupted, event.EndPermission:
		activity = lifecycle.Idle
	case event.EndFailed, event.EndConfig, event.EndProvider, event.EndRefused:
		agent = lifecycle.Error
	}
	if f.activity.State() != activity || f.agent.State() != agent || f.app.State() != lifecycle.UserInput || len(f.calls.Open()) > 0 {
		t.Fatalf("ended %s: agent %s, activity %s, application %s, open calls %v", end, f.agent.State(), f.activity.State(), f.app.State(), f.calls.Open())
	}
}

func tell(es []event.Event) string {
	out := ""
	for _, e := range es {
		out += fmt.Sprintf("%d %s %+v\n", e.Seq, e.Body.Kind(), e.Body)
	}
	return out
}

// SPEC 2.3: a log that no session records, whole or torn, breaks nothing: what
// does not fit is listed, a bounded number of times, and the state stays one
// that the table leads to.
func TestTornLogs(t *testing.T) {
	kinds := event.Kinds()
	for seed := range uint64(500) {
		var f folds
		r := rand.New(rand.NewPCG(seed, 1))
		es := record(seed).es
		for range r.IntN(60) {
			b := event.New(kinds[r.IntN(len(kinds))])
			switch b.(type) {
			case event.CallAsked:
				b = event.CallAsked{ID: "call_0"}
			case event.CallDone:
				b = event.CallDone{ID: "call_0", Outcome: event.OK}
			}
			i := r.IntN(len(es))
			if r.IntN(4) == 0 {
				es = slices.Delete(es, i, i+1)
			}
			es = slices.Insert(es, i, event.Event{Seq: 7, Body: b})
		}
		for _, e := range es {
			f.apply(e)
		}
		if n := len(f.violations()); n > 500 {
			t.Fatalf("seed %d: %d violations kept", seed, n)
		}
		if err := pairsAllowed(lifecycle.ActivityTable(), f.activity.Path()); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// SPEC 1.3, 2.3: what does not fit is a violation that says which event, once;
// the state is unchanged.
func TestViolation(t *testing.T) {
	var f folds
	for i, b := range []event.Body{event.Opened{}, event.CallStarted{ID: "x"}, event.PersonRan{}, event.ModeSet{}} {
		f.apply(event.Event{Seq: int64(i + 1), Body: b})
	}
	vs := f.activity.Violations()
	if len(vs) != 1 || vs[0].Seq != 2 || vs[0].Kind != "call_started" || f.activity.State() != lifecycle.Idle {
		t.Fatalf("%+v, %s", vs, f.activity.State())
	}
	if bad, ok := vs[0].Err.(*fsm.InvalidTransitionError); !ok || bad.From != lifecycle.Idle || bad.To != lifecycle.ExecutingTool {
		t.Errorf("%v", vs[0].Err)
	}
	for i := range 1000 {
		f.apply(event.Event{Seq: int64(i + 5), Body: event.Requested{}})
		f.apply(event.Event{Seq: int64(i + 5), Body: event.CallStarted{}})
	}
	if n := len(f.activity.Violations()); n != 100 {
		t.Errorf("%d violations kept, want the first 100", n)
	}
}

// play applies bodies and returns what the run went through.
func play(a *lifecycle.Activity, bs ...event.Body) []fsm.State {
	for i, b := range bs {
		a.Apply(event.Event{Seq: int64(i + 1), Body: b})
	}
	return a.Path()
}

// SPEC 2.1, 2.2, 2.5: the path of runs as a person would tell them.
func TestPaths(t *testing.T) {
	idle, processing, streaming, executing := lifecycle.Idle, lifecycle.ProcessingPrompt, lifecycle.StreamingResponse, lifecycle.ExecutingTool
	awaiting, recovery, progress, phase, halted := lifecycle.AwaitingPermission, lifecycle.ErrorRecovery, lifecycle.ProgressCheck, lifecycle.PhaseTransition, lifecycle.Halted
	prompt, request, reply := event.Prompted{}, event.Requested{}, event.Replied{}
	asked, started, done := event.CallAsked{ID: "c"}, event.CallStarted{ID: "c"}, event.CallDone{ID: "c", Outcome: event.OK}
	end := event.Ended{End: event.EndDone}
	plan := func(text string) event.Planned {
		return event.Planned{Items: []tool.Item{{Text: text, Status: "in_progress"}}}
	}
	consent := event.Asked{ID: "q", Questions: []event.Question{{Call: "c"}}}
	for name, c := range map[string]struct {
		bs   []event.Body
		want []fsm.State
	}{
		"nothing yet": {nil, []fsm.State{idle}},
		"an answer":   {[]event.Body{prompt, request, reply, end}, []fsm.State{idle, processing, streaming, idle}},
		"one call":    {[]event.Body{prompt, request, reply, asked, started, done, request}, []fsm.State{idle, processing, streaming, executing, progress, streaming}},
		"a retry":     {[]event.Body{prompt, request, event.Retried{}, request}, []fsm.State{idle, processing, streaming, recovery, streaming}},
		"cancelled before the first request": {
			[]event.Body{prompt, event.Interrupted{By: "person"}, event.Ended{End: event.EndInterrupted}},
			[]fsm.State{idle, processing, idle},
		},
		"consent given": {
			[]event.Body{prompt, request, reply, asked, consent, event.Answered{ID: "q", Verdicts: []event.Verdict{{Call: "c", Scope: event.Once}}}, started, done},
			[]fsm.State{idle, processing, streaming, awaiting, executing, progress},
		},
		"consent refused": {
			[]event.Body{prompt, request, reply, asked, consent, event.Answered{ID: "q", Verdicts: []event.Verdict{{Call: "c", Scope: event.No}}}, done},
			[]fsm.State{idle, processing, streaming, awaiting, streaming, progress},
		},
		"a question withdrawn with its call": {
			[]event.Body{prompt, request, reply, asked, consent, event.CallDone{ID: "c", Outcome: event.Cancelled}},
			[]fsm.State{idle, processing, streaming, awaiting, progress},
		},
		"a budget question": {
			[]event.Body{prompt, event.Asked{ID: "q", Text: "5 USD more?"}, event.Answered{ID: "q"}, request},
			[]fsm.State{idle, processing, awaiting, processing, streaming},
		},
		"stuck": {
			[]event.Body{prompt, request, reply, asked, started, done, event.Stuck{Level: "recovery"}, request, reply, event.Ended{End: event.EndStuck}},
			[]fsm.State{idle, processing, streaming, executing, progress, recovery, streaming, halted},
		},
		"stuck, and a person lets it go on": {
			[]event.Body{prompt, request, reply, asked, started, done, event.Stuck{Level: "halt"}, event.Asked{ID: "q"}, event.Answered{ID: "q"}, request},
			[]fsm.State{idle, processing, streaming, executing, progress, awaiting, progress, streaming},
		},
		"a phase, and then stuck": {
			[]event.Body{prompt, request, reply, asked, started, plan("one"), done, event.Stuck{Level: "block"}, request},
			[]fsm.State{idle, processing, streaming, executing, progress, phase, progress, recovery, streaming},
		},
		"a phase, and the same plan again": {
			[]event.Body{prompt, request, reply, asked, started, plan("one"), done, request, reply, asked, started, plan("one"), done},
			[]fsm.State{idle, processing, streaming, executing, progress, phase, progress, streaming, executing, progress},
		},
		"after a halt": {
			[]event.Body{prompt, event.Ended{End: event.EndBudget}, event.Noted{Why: "rules"}, prompt, request},
			[]fsm.State{idle, processing, streaming},
		},
	} {
		var a lifecycle.Activity
		if got := play(&a, c.bs...); !slices.Equal(got, c.want) || len(a.Violations()) > 0 {
			t.Errorf("%s: %v, want %v; %+v", name, got, c.want, a.Violations())
		}
	}
}

// SPEC 1.5: a question that nobody can answer any more does not pause: its call
// was cancelled, the step it came from is over, or the turn was interrupted.
func TestWithdrawnQuestions(t *testing.T) {
	done := func(id string) event.CallDone { return event.CallDone{ID: id, Outcome: event.Cancelled} }
	step := []event.Body{event.Prompted{}, event.Requested{}, event.Replied{}, event.CallAsked{ID: "a"}, event.CallAsked{ID: "b"}}
	both := event.Asked{ID: "q", Questions: []event.Question{{Call: "a"}, {Call: "b"}}}
	words := event.Asked{ID: "q", Text: "which?"}
	for name, c := range map[string]struct {
		before, open []event.Body
		close        event.Body
	}{
		"a call cancelled":   {step, []event.Body{both}, done("a")},
		"the step is over":   {step, []event.Body{event.CallStarted{ID: "b"}, words, done("a")}, done("b")},
		"interrupted":        {step[:1], []event.Body{words, event.Ticked{}}, event.Interrupted{By: "person"}},
		"ended":              {step[:2], []event.Body{words}, event.Ended{End: event.EndFailed}},
		"answered":           {step, []event.Body{words, event.Answered{ID: "another"}}, event.Answered{ID: "q"}},
		"two, both answered": {step, []event.Body{both, event.Asked{ID: "r", Why: "budget"}, event.Answered{ID: "q"}}, event.Answered{ID: "r"}},
	} {
		var f folds
		for _, b := range append(slices.Clone(c.before), c.open...) {
			f.apply(event.Event{Seq: 1, Body: b})
		}
		if f.agent.State() != lifecycle.Paused || f.activity.State() != lifecycle.AwaitingPermission {
			t.Errorf("%s: before, the agent is %s, its activity %s", name, f.agent.State(), f.activity.State())
		}
		f.apply(event.Event{Seq: 2, Body: c.close})
		if f.agent.State() == lifecycle.Paused || f.activity.State() == lifecycle.AwaitingPermission || len(f.agent.Violations())+len(f.activity.Violations()) > 0 {
			t.Errorf("%s: the agent is %s, its activity %s, %+v", name, f.agent.State(), f.activity.State(), f.violations())
		}
	}
}

// What is not stored changes nothing.
func TestEphemeral(t *testing.T) {
	var f folds
	f.apply(event.Event{Seq: 1, Body: event.Opened{}})
	for _, b := range []event.Body{event.Prompted{}, event.Requested{}, event.CallAsked{ID: "c"}, event.Asked{ID: "q"}} {
		f.apply(event.Event{Body: b})
	}
	if f.agent.State() != lifecycle.Idle || f.activity.State() != lifecycle.Idle || len(f.calls.Open()) > 0 || f.app.State() != lifecycle.UserInput || len(f.violations()) > 0 {
		t.Errorf("agent %s, activity %s, application %s, calls %v, %v", f.agent.State(), f.activity.State(), f.app.State(), f.calls.Open(), f.violations())
	}
}

// SPEC 1.4: what is replayed is told to nobody; what happens then is told with
// the event that led to it.
func TestListenersAreLive(t *testing.T) {
	var a lifecycle.Agent
	replay := []event.Body{event.Opened{}, event.Prompted{}, event.Requested{}, event.Ended{End: event.EndProvider}}
	for i, b := range replay {
		a.Apply(event.Event{Seq: int64(i + 1), Body: b})
	}
	var heard []string
	a.Listen(func(from, to fsm.State, m fsm.Meta) {
		heard = append(heard, fmt.Sprint(from, ">", to, " ", m["event"], " ", m["seq"]))
	}, nil)
	a.Apply(event.Event{Seq: 5, Body: event.Prompted{}})
	want := []string{"error>idle prompted 5", "idle>initializing prompted 5"}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
}

// SPEC 2.4: the states of calls, from wish to result.
func TestCalls(t *testing.T) {
	var c lifecycle.Calls
	apply := func(b event.Body) []lifecycle.CallState {
		c.Apply(event.Event{Seq: 1, Body: b})
		return c.Open()
	}
	apply(event.CallAsked{ID: "a", Tool: "bash"})
	apply(event.CallAsked{ID: "b", Tool: "read"})
	apply(event.Asked{Questions: []event.Question{{Call: "a"}}})
	got := apply(event.CallStarted{ID: "b"})
	want := []lifecycle.CallState{{ID: "a", Tool: "bash", State: lifecycle.RequestingPermission}, {ID: "b", Tool: "read", State: lifecycle.Executing}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	apply(event.CallDone{ID: "a", Outcome: event.Denied})
	if got := apply(event.CallDone{ID: "b", Outcome: event.OK}); len(got) != 0 || len(c.Violations()) != 0 {
		t.Errorf("%v %+v", got, c.Violations())
	}
	apply(event.CallAsked{ID: "torn"})
	if got := apply(event.Ended{End: event.EndFailed}); len(got) != 0 {
		t.Errorf("after the turn: %v", got)
	}
	// A call that never started has no good result.
	apply(event.CallAsked{ID: "c"})
	apply(event.CallDone{ID: "c", Outcome: event.OK})
	if len(c.Violations()) == 0 {
		t.Error("a result without a run is not noticed")
	}
}

// SPEC 2.4, 10.4: a log that cannot be written is not saved.
func TestStorage(t *testing.T) {
	var s lifecycle.Storage
	s.Lost()
	if s.State() != lifecycle.NoSession {
		t.Errorf("nothing yet: %s", s.State())
	}
	s.Apply(event.Event{Body: event.TextDelta{}})
	s.Apply(event.Event{Seq: 1, Body: event.Opened{}})
	if s.State() != lifecycle.Saved {
		t.Errorf("opened: %s", s.State())
	}
	s.Lost()
	if s.State() != lifecycle.Active {
		t.Errorf("lost: %s", s.State())
	}
	s.Apply(event.Event{Seq: 2, Body: event.Ticked{}})
	if s.State() != lifecycle.Saved || len(s.Violations()) > 0 {
		t.Errorf("stored again: %s, %v", s.State(), s.Violations())
	}
}
