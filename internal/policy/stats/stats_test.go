package stats

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 4.12, 15.2: calls, successes, times, result tokens per tool; usage and
// cost per model, session and day; what is not known is not 0 (SPEC 5.5).
func TestReport(t *testing.T) {
	zone := time.FixedZone("far east", 9*3600)
	f := Fold{Zone: zone}
	at := time.Date(2026, 3, 1, 14, 30, 0, 0, time.UTC) // the 1st there as well
	apply := func(session string, bs ...event.Body) {
		for _, b := range bs {
			f.Apply(event.Event{Session: session, Time: at, Body: b})
		}
	}
	usage := llm.Usage{Known: true, Input: 10, CacheRead: 100, CacheWrite: 5, Output: 20}
	apply("s1",
		event.Prompted{}, event.Requested{Model: "p/m"}, event.Retried{}, event.Requested{Model: "p/m"},
		event.Replied{Reply: llm.Reply{Usage: usage}, Cost: new(0.5), Took: 2 * time.Second},
		event.CallDone{Tool: "bash", Outcome: event.OK, Took: 3 * time.Second, Bytes: 900, Result: llm.Result{Text: "123456"}},
		event.CallDone{Tool: "bash", Outcome: event.Failed, Took: time.Second, Bytes: 30, Result: llm.Result{Text: "123"}},
		event.Blocked{}, event.CallDone{Tool: "bash", Outcome: event.Denied},
		event.FileChanged{Added: 3, Removed: 1}, event.CallDone{Tool: "edit", Outcome: event.OK},
	)
	apply("s1", event.Charged{By: "compaction", Model: "p/m", Requests: 1, Usage: llm.Usage{Known: true, Input: 1}, USD: new(0.25)})
	at = at.Add(time.Hour) // the 2nd there
	apply("s2",
		event.Prompted{}, event.Requested{Model: "p/free"}, event.Replied{},
		event.CallDone{Tool: "bash", Outcome: event.Cancelled, Took: time.Second},
		event.CallDone{Tool: "bash", Outcome: event.Cancelled},
		event.Charged{By: "s1", Child: true, USD: new(9.0)}, // counted where it was spent
		event.Charged{By: "broken_reply", Model: "p/m", Guess: true, USD: new(9.0)},
	)
	spent := Spent{Replies: 2, Input: 11, Cached: 100, Written: 5, Output: 20, USD: 0.75}
	both, broke := spent, spent
	both.Replies, both.Unknown = 3, 2
	broke.Unknown = 1 // the reply that broke off
	first := Work{Turns: 1, Calls: 4, Denials: 1, Added: 3, Removed: 1, Spent: spent}
	second := Work{Turns: 1, Calls: 2, Spent: Spent{Replies: 1, Unknown: 2}}
	name := func(w Work, n string) Work { w.Name = n; return w }
	want := Report{
		Tools: []Tool{
			{Name: "bash", Calls: 5, OK: 1, Failed: 2, NotRun: 2, Total: 5 * time.Second, Min: time.Second, Max: 3 * time.Second, Bytes: 930, Tokens: 3},
			{Name: "edit", Calls: 1, OK: 1},
		},
		Models: []Model{
			{Ref: "p/m", Requests: 3, Retries: 1, Spent: broke, Took: 2 * time.Second},
			{Ref: "p/free", Requests: 1, Spent: Spent{Replies: 1, Unknown: 1}},
		},
		Sessions: []Work{name(first, "s1"), name(second, "s2")},
		Days:     []Work{name(first, "2026-03-01"), name(second, "2026-03-02")},
		All:      Work{Turns: 2, Calls: 6, Denials: 1, Added: 3, Removed: 1, Spent: both},
	}
	if d := cmp.Diff(want, f.Report()); d != "" {
		t.Error(d)
	}
	if avg := f.Report().Tools[0].Avg(); avg != 5*time.Second/3 {
		t.Errorf("avg %v", avg)
	}
	if (Tool{}).Avg() != 0 || spent.Tokens() != 136 {
		t.Error("zero or sum")
	}
}

// Nothing gives lists and no nulls: they are printed as JSON.
func TestEmpty(t *testing.T) {
	r := new(Fold).Report()
	if r.Tools == nil || r.Models == nil || r.Sessions == nil || r.Days == nil {
		t.Errorf("%+v", r)
	}
}

// SPEC 14.6, 8.1: what a worker on another machine spent is in no session here: it counts as
// the swarm's. What closes its reservation is no reply.
func TestChildrenElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		apart map[string]bool
		want  Spent
	}{
		"all sessions":     {map[string]bool{"s": true, "here": true}, Spent{Replies: 1, Input: 7, USD: 0.5, Unknown: 1}},
		"the session only": {nil, Spent{}},
	} {
		f := &Fold{Apart: c.apart}
		for _, b := range []event.Charged{
			{By: "here", Child: true, Requests: 1, USD: new(9.0)},
			{By: "there", Child: true, Requests: 1, USD: new(0.5), Usage: llm.Usage{Known: true, Input: 7}},
			{By: "w1", Child: true, Requests: 1, USD: new(3.0), Guess: true, Unknown: true},
			{By: "worker request 1", Child: true, USD: new(0.0), Usage: llm.Usage{Known: true}},
		} {
			f.Apply(event.Event{Session: "s", Body: b})
		}
		if got := f.Report().All.Spent; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
