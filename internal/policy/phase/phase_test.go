package phase

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func at(s int) time.Time { return time.Unix(int64(s), 0) }

// SPEC 7.1: the next phase completes the one before as ended by next;
// completing is idempotent; nothing is counted twice.
func TestPhases(t *testing.T) {
	t.Parallel()
	var p List
	p.Expect(3)
	p.Complete(true, at(0)) // none is open
	for i := 1; i <= 3; i++ {
		must.Do(t, p.Start(i, "part", at(10*i), time.Second))
		p.Changed("a.go")
		p.Changed("a.go")
		p.TestPassed()
		p.Blocker("no network")
	}
	if o := p.Open(); o.Number != 3 || len(o.Files) != 1 || o.TestsOK != 1 || o.Over(at(40)) != 9*time.Second {
		t.Errorf("%+v", o)
	}
	p.Complete(false, at(40))
	p.Complete(true, at(50))
	h := p.History()
	if len(h) != 3 || !h[0].ByNext || !h[0].Success || h[2].ByNext || h[2].Success || !h[2].Ended.Equal(at(40)) || len(h[1].Blockers) != 1 {
		t.Errorf("%+v", h)
	}
	if got, want := p.Totals(at(60)), (Totals{CompletedPhases: 3, TotalPhases: 3, Files: 1, TestsOK: 3, Elapsed: 50 * time.Second}); got != want {
		t.Errorf("%+v", got)
	}
	h[0].Files[0] = "changed"
	if p.History()[0].Files[0] != "a.go" {
		t.Error("the history is not a copy")
	}
}

// SPEC 7.1: validation comes before mutation.
func TestPhaseRefused(t *testing.T) {
	t.Parallel()
	var p List
	for _, n := range []int{1, 2, 5} {
		must.Do(t, p.Start(n, "x", at(n), 0))
	}
	before := p.Totals(at(9))
	for _, c := range []struct {
		n        int
		expected time.Duration
	}{{0, 0}, {-1, 0}, {5, 0}, {4, 0}, {1, 0}, {6, -1}} {
		if p.Start(c.n, "y", at(9), c.expected) == nil {
			t.Errorf("phase %d, expected %v: taken", c.n, c.expected)
		}
	}
	p.Complete(true, at(9))
	if p.Start(5, "again", at(9), 0) == nil {
		t.Error("a completed phase is opened again")
	}
	after := p.Totals(at(9))
	if before.CompletedPhases != 2 || after.CompletedPhases != 3 || after.TotalPhases != 5 {
		t.Errorf("%+v %+v", before, after)
	}
}

// SPEC 7.2: plan items are phases; one never seen before opens one, once.
func TestPlanPhases(t *testing.T) {
	t.Parallel()
	var f Fold
	n := 0
	plan := func(status ...string) {
		items := []tool.Item{}
		for i, s := range status {
			items = append(items, tool.Item{Text: string(rune('a' + i)), Status: s})
		}
		n++
		f.Apply(event.Event{Seq: int64(n), Time: at(n), Body: event.Planned{Items: items}})
	}
	plan("in_progress", "pending", "pending")
	plan("in_progress", "pending", "pending") // said again
	f.Apply(event.Event{Body: event.CallAsked{ID: "1", Tool: "write"}})
	f.Apply(event.Event{Body: event.FileChanged{Call: "1", Path: "x.go", After: "h"}})
	plan("done", "in_progress", "pending")
	plan("in_progress", "done", "pending") // back to the first: not a new phase
	open, done := f.Open(), f.History()
	if open != nil || len(done) != 2 || done[0].Description != "a" || len(done[0].Files) != 1 || !done[0].Success || done[0].ByNext {
		t.Errorf("open %+v, done %+v", open, done)
	}
	if got := f.Totals(at(10)); got.CompletedPhases != 2 || got.TotalPhases != 3 || got.Files != 1 {
		t.Errorf("%+v", got)
	}
	must.Do(t, f.Start(3, "by a person", at(11), time.Minute))
	if err := f.Start(3, "again", at(12), 0); err == nil {
		t.Error("the same phase twice")
	}
}

// SPEC 18.2: a phase counts as left once its turn is over, until the model works on the plan
// again, so that no screen names it in turns that have nothing to do with it.
func TestPhaseIsLeft(t *testing.T) {
	t.Parallel()
	var f Fold
	plan := event.Event{Body: event.Planned{Items: []tool.Item{{Text: "parse", Status: "in_progress"}}}}
	for i, c := range []struct {
		e    event.Event
		left bool
	}{{plan, false}, {event.Event{Body: event.Ended{}}, true}, {event.Event{Body: event.Prompted{}}, true}, {plan, false}} {
		f.Apply(c.e)
		if f.Open().Left != c.left {
			t.Errorf("event %d: left is %v", i, f.Open().Left)
		}
	}
}
