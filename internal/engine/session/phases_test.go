package session_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// hands is a clock that a test moves.
type hands struct {
	mu  sync.Mutex
	now time.Time
}

func (h *hands) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hands) move(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func (r *rig) phase(op session.Phase) error {
	_, err := r.Submit(r.T.Context(), op)
	return err
}

// phasesIn says the phases in short: numbers that are done, the open one, totals.
func phasesIn(s *session.Session) string {
	p := s.View().Phases()
	var out []string
	for _, d := range p.Done {
		how := "done"
		if d.ByNext {
			how = "by next"
		} else if !d.Success {
			how = "failed"
		}
		out = append(out, fmt.Sprintf("%d %s", d.Number, how))
	}
	if p.Open != nil {
		out = append(out, fmt.Sprintf("%d open", p.Open.Number))
	}
	return fmt.Sprintf("%s; %d of %d", strings.Join(out, ", "), p.Totals.CompletedPhases, p.Totals.TotalPhases)
}

// SPEC 7.1: phase n+1 ends phase n; completing twice completes once; what is not
// valid changes nothing, and is not even recorded.
func TestPhasesOfAPerson(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(), judged)
	for _, c := range []struct {
		op   session.Phase
		ok   bool
		want string
	}{
		{session.Phase{Close: true}, false, "; 0 of 0"},
		{session.Phase{}, false, "; 0 of 0"},
		{session.Phase{Text: "parse"}, true, "1 open; 0 of 1"},
		{session.Phase{Number: 1, Text: "parse again"}, false, "1 open; 0 of 1"},
		{session.Phase{Number: -1, Text: "x"}, false, "1 open; 0 of 1"},
		{session.Phase{Text: "x", Expected: -time.Second}, false, "1 open; 0 of 1"},
		{session.Phase{Number: 3, Text: "skip one"}, true, "1 by next, 3 open; 1 of 3"},
		{session.Phase{Number: 2, Text: "back"}, false, "1 by next, 3 open; 1 of 3"},
		{session.Phase{Number: 1, Text: "again"}, false, "1 by next, 3 open; 1 of 3"},
		{session.Phase{Close: true, Failed: true}, true, "1 by next, 3 failed; 2 of 3"},
		{session.Phase{Close: true}, false, "1 by next, 3 failed; 2 of 3"},
		{session.Phase{Number: 3, Text: "again"}, false, "1 by next, 3 failed; 2 of 3"},
		{session.Phase{Text: "wire"}, true, "1 by next, 3 failed, 4 open; 2 of 4"},
		{session.Phase{Close: true}, true, "1 by next, 3 failed, 4 done; 3 of 4"},
	} {
		before := r.View().Last()
		err := r.phase(c.op)
		if (err == nil) != c.ok || phasesIn(r.Session) != c.want || !c.ok && r.View().Last() != before {
			t.Errorf("%+v: %v, %s, %d events more; want %s", c.op, err, phasesIn(r.Session), r.View().Last()-before, c.want)
		}
	}
}

// SPEC 7.2: the model is told of what the person opens, before its next request
// and never between a call and its result; what it does counts for the phase.
func TestPhaseWhileATurnRuns(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("poke", `{}`, "write", `{"path":"b.txt","content":"x"}`),
		llmtest.Use("write", `{"path":"c.txt","content":"x"}`),
		llmtest.Say("ok"),
	)
	var r *rig
	r = newRig(t, "yolo", m, judged, func(c *session.Config) {
		c.Tools = append(c.Tools, poke(func() {
			if err := r.phase(session.Phase{Text: "wire it", Expected: time.Hour}); err != nil {
				t.Error(err)
			}
		}))
	})
	es := r.Run("go", nil)
	if n := find[event.Phased](es); len(n) != 1 || n[0].By != "person" || n[0].Expected != time.Hour {
		t.Errorf("%+v", n)
	}
	for i, q := range m.Requests() {
		pairs(t, i, q.Messages)
		if told := strings.Contains(fmt.Sprint(q.Messages), "begins phase 1: wire it"); told != (i > 0) {
			t.Errorf("request %d: told %v", i, told)
		}
	}
	p := r.View().Phases()
	if p.Open == nil || len(p.Open.Files) < 1 || len(p.Open.Files) > 2 || p.Totals.Files != 2 {
		t.Errorf("%+v", p)
	}
	follow(t, r.Log())
}

func plan() []event.PhaseStep {
	return []event.PhaseStep{{Text: "Parse the file", Expected: 10 * time.Minute}, {Text: "Wire it"}, {Text: "Test it"}}
}

// SPEC 7.2: a plan file sets the phases and their number; the model goes on by
// todo items of their names, the person by asking for the next; the same file
// again changes nothing; all of it is there after a restart.
func TestPhasesOfAPlanFile(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("todo", `{"items":[{"text":"read parser.go","status":"in_progress"},{"text":"1. parse the file","status":"pending"}]}`),
		llmtest.Use("todo", `{"items":[{"text":"Parse the file.","status":"done"},{"text":"Phase 2: wire it","status":"in_progress"},{"text":"small thing","status":"pending"}]}`),
		llmtest.Say("ok"),
	)
	r := newRig(t, "yolo", m, judged)
	must.Do(t, r.phase(session.Phase{Plan: plan()}))
	last := r.View().Last()
	if err := r.phase(session.Phase{Plan: plan()}); err != nil || r.View().Last() != last {
		t.Errorf("the same plan again: %v, %d events more", err, r.View().Last()-last)
	}
	if got := phasesIn(r.Session); got != "1 open; 0 of 3" || r.View().Phases().Open.Expected != 10*time.Minute {
		t.Error(got)
	}
	r.Run("go", nil)
	if text := fmt.Sprint(m.Requests()[0].Messages); !strings.Contains(text, "2. Wire it") {
		t.Error("the model was not told the plan")
	}
	if got := phasesIn(r.Session); got != "1 done, 2 open; 1 of 3" {
		t.Error(got)
	}
	before := r.View().Phases()
	_ = r.Close()
	r.Open()
	if d := cmp.Diff(before, r.View().Phases(), cmpopts.IgnoreUnexported(phase.Phase{}), cmpopts.IgnoreFields(phase.Status{}, "At"), cmpopts.IgnoreFields(phase.Totals{}, "Elapsed")); d != "" {
		t.Errorf("after a restart:\n%s", d)
	}
	if err := r.phase(session.Phase{}); err != nil || phasesIn(r.Session) != "1 done, 2 by next, 3 open; 2 of 3" || r.View().Phases().Open.Description != "Test it" {
		t.Error(err, phasesIn(r.Session))
	}
	if err := r.phase(session.Phase{}); err == nil || !strings.Contains(err.Error(), "no more phases") {
		t.Errorf("beyond the plan: %v", err)
	}
	if err := r.phase(session.Phase{Plan: []event.PhaseStep{{Text: "another"}, {Text: "plan"}}}); err != nil || phasesIn(r.Session) != "1 done, 2 by next, 3 by next, 4 open; 3 of 5" {
		t.Error(err, phasesIn(r.Session))
	}
}

// SPEC 7.2: the model's own plan goes on with the person's "next", and an item
// that the person opened is not opened again by the model.
func TestNextOfTheModelsPlan(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("todo", `{"items":[{"text":"one","status":"in_progress"},{"text":"two","status":"pending"},{"text":"three","status":"pending"}]}`),
		llmtest.Say("ok"),
		llmtest.Use("todo", `{"items":[{"text":"one","status":"done"},{"text":"two","status":"in_progress"},{"text":"three","status":"pending"}]}`),
		llmtest.Use("todo", `{"items":[{"text":"two","status":"done"},{"text":"three","status":"pending"}]}`),
	)
	r := newRig(t, "yolo", m, judged)
	r.Run("go", nil)
	if err := r.phase(session.Phase{}); err != nil || phasesIn(r.Session) != "1 by next, 2 open; 1 of 3" || r.View().Phases().Open.Description != "two" {
		t.Errorf("%v, %s", err, phasesIn(r.Session))
	}
	r.Run("go on", nil)
	if got := phasesIn(r.Session); got != "1 by next, 2 done; 2 of 2" && got != "1 by next, 2 done; 2 of 3" {
		t.Error(got)
	}
}

// SPEC 7.2: a phase that takes longer than expected is reported, once, also
// over a restart, and nothing is stopped.
func TestPhaseThatTakesLong(t *testing.T) {
	h := &hands{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	n := 0
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn {
		if n++; n%4 == 0 {
			return llmtest.Say("ok")
		}
		h.move(6 * time.Minute)
		return llmtest.Use("write", fmt.Sprintf(`{"path":"a%d.txt","content":"%d"}`, n, n))
	}
	r := newRig(t, "yolo", m, judged, func(c *session.Config) { c.Now = h.Now })
	r.Store = memory.New(h.Now)
	r.Cfg.Store = r.Store
	_ = r.Close()
	r.Open()
	must.Do(t, r.phase(session.Phase{Text: "quick", Expected: 10 * time.Minute}))
	es := r.Run("go", nil)
	_ = r.Close()
	r.Open()
	es = append(es, r.Run("again", nil)...)
	var said []string
	for _, w := range find[event.Warned](es) {
		said = append(said, string(w.What)+": "+w.Text)
	}
	if len(said) != 1 || !strings.Contains(said[0], "phase 1 (quick) takes longer than expected: 12m0s so far, 10m0s") {
		t.Errorf("%q", said)
	}
	for _, e := range find[event.Ended](es) {
		if e.End != event.EndDone {
			t.Errorf("%+v", e)
		}
	}
}

// SPEC 7.1: what keeps a phase from going on is kept with it.
func TestBlockersOfAPhase(t *testing.T) {
	r := newRig(t, "accept-edits", llmtest.New(llmtest.Use("bash", `{"command":"curl https://example.com -o x"}`)), judged)
	must.Do(t, r.phase(session.Phase{Text: "fetch"}))
	r.Run("go", nil)
	if b := r.View().Phases().Open.Blockers; len(b) != 1 || !strings.Contains(b[0], "curl") {
		t.Errorf("%q", b)
	}
}

// SPEC 6.6: every tenth call says how far the run has come; it is shown and
// never stored.
func TestProgressed(t *testing.T) {
	for every, want := range map[int]int{0: 2, 5: 5, 1: 25} {
		m := llmtest.New()
		m.Next = func(n int, _ *llm.Request) llmtest.Turn {
			switch {
			case n == 25:
				return llmtest.Say("ok")
			case n%5 == 4:
				return llmtest.Use("read", fmt.Sprintf(`{"files":[{"path":"no%d.txt"}]}`, n))
			}
			return llmtest.Use("write", fmt.Sprintf(`{"path":"f%d.txt","content":"%d"}`, n%7, n))
		}
		r := newRig(t, "yolo", m, judged, func(c *session.Config) {
			if every > 0 {
				c.Progress.ProgressCheckInterval = every
			}
		})
		must.Do(t, r.phase(session.Phase{Text: "write them"}))
		es := r.Run("go", nil)
		got := find[event.Progressed](es)
		if len(got) != want {
			t.Fatalf("every %d: %d times", every, len(got))
		}
		if p := got[len(got)-1]; every == 5 && (p.Calls != 25 || p.Files != 7 || p.Errors != 5 || p.Since != 1 || p.Phase != "write them" || p.PhasesTotal != 1) {
			t.Errorf("%+v", p)
		}
		if stored := find[event.Progressed](r.Log()); len(stored) != 0 {
			t.Errorf("%d were stored", len(stored))
		}
	}
}

// SPEC 7.2, 9.6: a conversation that was made shorter is told the plan file
// again.
func TestPlanAfterCompaction(t *testing.T) {
	m := llmtest.New()
	m.InfoValue.Window, m.InfoValue.MaxOutput = 4000, 400
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		if n >= 30 {
			return llmtest.Say("ok")
		}
		return llmtest.Use("write", args(map[string]string{"path": fmt.Sprint("f", n), "content": strings.Repeat(fmt.Sprintf("word%d ", n), 150)}))
	}
	r := newRig(t, "yolo", m, judged)
	must.Do(t, r.phase(session.Phase{Plan: plan()}))
	es := r.Run("go", nil)
	compacted := 0
	for i, e := range es {
		b, ok := e.Body.(event.Compacted)
		if !ok || len(b.Start) == 0 {
			continue
		}
		compacted++
		told := false
		for _, later := range es[i:] {
			if _, sent := later.Body.(event.Requested); sent {
				break
			}
			n, ok := later.Body.(event.Noted)
			told = told || ok && strings.Contains(n.Text, "2. Wire it") && strings.Contains(n.Text, "Phase 1 is open")
		}
		if !told {
			t.Errorf("compaction %d: the model was not told the plan", compacted)
		}
	}
	if compacted == 0 {
		t.Error("nothing was compacted")
	}
}
