package budget

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func apply(m *Meter, bs ...event.Body) {
	for _, b := range bs {
		m.Apply(event.Event{Body: b})
	}
}

// SPEC 5.5: what is not known is unknown, never 0.
func TestUnknownIsNotZero(t *testing.T) {
	var m Meter
	apply(&m, event.Prompted{}, event.Replied{Cost: new(0.5), Reply: llm.Reply{Usage: llm.Usage{Known: true, Input: 10}}})
	if c := m.Session().Cost(); c == nil || *c != 0.5 {
		t.Errorf("cost %v, want 0.5", c)
	}
	apply(&m, event.Replied{})
	if c := m.Session().Cost(); c != nil {
		t.Errorf("a reply of unknown cost gives %v, want unknown", *c)
	}
	if m.Session().Usage.Known {
		t.Error("usage is called known although a reply reported none")
	}
}

// SPEC 8.1, 5.5: a reply that reports no usage counts with what was reserved,
// and is still no known cost.
func TestUnreportedUsageCountsAsReserved(t *testing.T) {
	var m Meter
	apply(&m, event.Prompted{}, event.Requested{Bytes: 3000, Reserved: new(0.75)}, event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{llm.TextPart("thirty bytes in ten pieces ...")}}}})
	if got := m.Session(); got.Guessed != 0.75 || got.Cost() != nil || got.Tokens() != 1010 {
		t.Errorf("%+v", got)
	}
	var parent Meter // the same of a child session
	apply(&parent, event.Charged{By: "child", Child: true, Guess: true, Unknown: true, USD: new(0.75)})
	if got := parent.Session(); got.Guessed != 0.75 || got.Cost() != nil {
		t.Errorf("%+v", got)
	}
	price := &llm.Price{Input: 1, Output: 1}
	if _, err := new(Pool).Reserve(&m, Limits{USD: 1}, Ask{Price: price, MaxOutput: 300_000}); err != nil {
		t.Errorf("what is left is refused: %v", err)
	}
	if _, err := new(Pool).Reserve(&m, Limits{USD: 0.75}, Ask{Price: price, MaxOutput: 1000}); fault.CategoryOf(err) != fault.Budget {
		t.Errorf("what was reserved was forgotten: %v", err)
	}
}

// SPEC 8.1: a limit of money is refused without a price, and the default one
// does not hold then, nor for a free model.
func TestPriceUnknown(t *testing.T) {
	unknown := llm.Info{Provider: "p", Model: "m"}
	if err := (Limits{USD: 1}).Allow(unknown); fault.CategoryOf(err) != fault.Configuration || !strings.Contains(err.Error(), "p/m") {
		t.Errorf("%v", err)
	}
	for _, l := range []Limits{{}, {USD: 5, Assumed: true}, {Tokens: 5}} {
		if err := l.Allow(unknown); err != nil {
			t.Errorf("%+v: %v", l, err)
		}
	}
	var m Meter
	apply(&m, event.Prompted{}, event.Replied{Cost: new(6.0)})
	for _, c := range []struct {
		name  string
		l     Limits
		price *llm.Price
		ok    bool
	}{
		{"set, unknown", Limits{USD: 5}, nil, false},
		{"default, unknown", Limits{USD: 5, Assumed: true}, nil, true},
		{"default, known", Limits{USD: 5, Assumed: true}, &llm.Price{Input: 1, Output: 1}, false},
		{"default, free", Limits{USD: 5, Assumed: true}, &llm.Price{}, true},
		{"set, free", Limits{USD: 5}, &llm.Price{}, true},
	} {
		if _, err := new(Pool).Reserve(&m, c.l, Ask{Price: c.price, Input: 10}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	apply(&m, event.Charged{By: "child"}) // what it cost is not known
	for l, ok := range map[Limits]bool{{USD: 5, Assumed: true}: true, {USD: 9}: false, {Tokens: 9999}: true} {
		if _, err := new(Pool).Reserve(&m, l, Ask{Price: &llm.Price{Input: 1, Output: 1}, Input: 10}); (err == nil) != ok {
			t.Errorf("after an unknown cost, %+v: %v", l, err)
		}
	}
}

// SPEC 8.1: a reply is made shorter before it is refused, and a limit that
// still pays for the longest reply changes nothing.
func TestReplyIsLowered(t *testing.T) {
	var m Meter
	price := &llm.Price{Input: 1, Output: 10}
	for _, c := range []struct {
		l    Limits
		want int
	}{
		{Limits{USD: 1}, 0},
		{Limits{USD: 0.05}, 4900}, // 1000 tokens in cost 0.001
		{Limits{Tokens: 3000}, 2000},
		{Limits{USD: 0.05, Tokens: 3000}, 2000},
		{Limits{Tokens: 100_000}, 0},
	} {
		g, err := new(Pool).Reserve(&m, c.l, Ask{Price: price, Input: 1000, MaxOutput: 8192})
		if err != nil || g.MaxTokens != c.want {
			t.Errorf("%+v: %+v, %v; want %d", c.l, g, err, c.want)
		}
	}
	limit := (*LimitError)(nil)
	_, err := new(Pool).Reserve(&m, Limits{USD: 0.003}, Ask{Price: price, Input: 1000, MaxOutput: 8192})
	if !errors.As(err, &limit) || limit.Kind != USD || fault.CategoryOf(err) != fault.Budget || fault.Retryable(err) {
		t.Errorf("%v", err)
	}
	if to, ok := limit.Answer("add $5.00"); !ok || to != 5.003 {
		t.Errorf("%v, %v", to, ok)
	}
}

// SPEC 4.14: steps are of a turn, and a child's replies are none.
func TestSteps(t *testing.T) {
	var m Meter
	apply(&m, event.Prompted{}, event.Replied{}, event.Replied{}, event.Charged{By: "child"})
	_, err := new(Pool).Reserve(&m, Limits{Steps: 2}, Ask{})
	if e := (*StepsError)(nil); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
	if _, err := new(Pool).Reserve(&m, Limits{Steps: 2}, Ask{Child: true}); err != nil {
		t.Errorf("a child: %v", err)
	}
	apply(&m, event.Prompted{Source: event.Autofix})
	if _, err := new(Pool).Reserve(&m, Limits{Steps: 2}, Ask{}); err == nil {
		t.Error("a fix that pawl asks for counts as a turn of its own")
	}
	apply(&m, event.Prompted{Source: event.Person})
	if _, err := new(Pool).Reserve(&m, Limits{Steps: 2}, Ask{}); err == nil || m.Turn().Replies != 2 {
		t.Errorf("a prompt that joins the turn begins another: %+v", m.Turn())
	}
	apply(&m, event.Ended{}, event.Prompted{Source: event.Person})
	if _, err := new(Pool).Reserve(&m, Limits{Steps: 2}, Ask{}); err != nil {
		t.Errorf("a new turn: %v", err)
	}
}

// SPEC 8.1: requests, calls and agents are counted, retries and children too,
// and stop at the limit.
func TestCounts(t *testing.T) {
	var m Meter
	apply(&m, event.Prompted{},
		event.Requested{Attempt: 1}, event.Retried{}, event.Requested{Attempt: 2},
		event.Replied{}, event.CallAsked{Tool: "agent"}, event.CallAsked{Tool: "read"},
		event.AgentCalled{Done: event.CallDone{Tool: "agent"}}, event.AgentCalled{Done: event.CallDone{Tool: "bash"}},
		event.Charged{By: "child", Guess: true, Requests: 1, Calls: 3})
	if s := m.Session(); s.Requests != 3 || s.Calls != 5 || s.Agents != 2 {
		t.Fatalf("%+v", s)
	}
	for _, c := range []struct {
		l    Limits
		kind Kind
	}{
		{Limits{Requests: 4, Calls: 5, Agents: 2}, ""},
		{Limits{Requests: 3}, Requests},
		{Limits{Calls: 4}, Calls},
	} {
		_, err := new(Pool).Reserve(&m, c.l, Ask{})
		limit := (*LimitError)(nil)
		if errors.As(err, &limit) != (c.kind != "") || limit != nil && limit.Kind != c.kind {
			t.Errorf("%+v: %v", c.l, err)
		}
	}
	if err := m.Check(Limits{Calls: 5, Agents: 2}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	apply(&m, event.CallAsked{Tool: "agent"})
	if err := m.Check(Limits{Agents: 2}); fault.CategoryOf(err) != fault.Budget {
		t.Errorf("a third agent: %v", err)
	}
}

// SPEC 8.1: running time is what ran: not the time between turns, not the time
// a person took to answer, not the time after a crash.
func TestRunningTime(t *testing.T) {
	var m Meter
	at := time.Unix(1000, 0)
	for _, s := range []struct {
		after time.Duration
		body  event.Body
	}{
		{0, event.Prompted{}},
		{3 * time.Second, event.Replied{}},
		{2 * time.Second, event.Asked{ID: "q"}},
		{time.Second, event.Asked{ID: "r"}}, // beside it
		{time.Hour, event.Answered{ID: "r"}},
		{time.Hour, event.Answered{ID: "q"}},
		{5 * time.Second, event.Ended{End: event.EndDone}},
		{time.Hour, event.Prompted{}},
		{time.Second, event.Ticked{}},
		{time.Second, event.Interrupted{}},
		{time.Second, event.Ended{End: event.EndInterrupted}},
		{time.Hour, event.Prompted{}},
		{time.Second, event.CallAsked{}},
		{time.Hour, event.CallDone{Outcome: event.UnknownDone}},
		{0, event.Ended{End: event.EndInterrupted}},
		{0, event.Resumed{}},
		{time.Hour, event.Prompted{}},
		{time.Second, event.Replied{}},
		{-time.Hour, event.Ticked{}}, // a clock that was set back
	} {
		at = at.Add(s.after)
		m.Apply(event.Event{Time: at, Body: s.body})
	}
	if got := m.Session().Active(); got != 15*time.Second {
		t.Errorf("%v, want 15s", got)
	}
	if err := m.Check(Limits{Wall: 15 * time.Second}); fault.CategoryOf(err) != fault.Budget {
		t.Errorf("%v", err)
	}
	must.Do(t, m.Check(Limits{Wall: 16 * time.Second}))
}

// SPEC 8.1: 80 % warns, once, and again after the limit was raised or the
// session was taken up.
func TestWarnsOnce(t *testing.T) {
	var m Meter
	l := Limits{USD: 5, Calls: 10}
	apply(&m, event.Prompted{}, event.Replied{Cost: new(3.9)})
	if ws := m.Warnings(l); len(ws) != 0 {
		t.Errorf("below 80 %%: %v", ws)
	}
	apply(&m, event.Replied{Cost: new(0.15)})
	ws := m.Warnings(l)
	if len(ws) != 1 || ws[0].What != "budget.usd" || ws[0].Text != "81 % of the budget of $5.00 is used: $4.05" {
		t.Fatalf("%+v", ws)
	}
	apply(&m, ws[0])
	if ws := m.Warnings(l); len(ws) != 0 {
		t.Errorf("twice: %v", ws)
	}
	apply(&m, event.Extended{What: "budget.usd", To: 10}, event.Replied{Cost: new(4.0)})
	if ws := m.Warnings(l); len(ws) != 1 || !strings.Contains(ws[0].Text, "$10.00") {
		t.Errorf("after the extension: %v", ws)
	}
	apply(&m, m.Warnings(l)[0], event.Resumed{})
	if ws := m.Warnings(l); len(ws) != 1 {
		t.Errorf("after a resume: %v", ws)
	}
}

// Issue 14, point 5 (/budget): a person sets a limit also where there was none, takes
// one away, and lowers one.
func TestLimitSet(t *testing.T) {
	var m Meter
	none, some := Limits{}, Limits{USD: 5, Calls: 10}
	apply(&m, event.LimitSet{What: "budget.usd", To: 3}, event.LimitSet{What: "budget.calls"}, event.LimitSet{What: "budget.nonsense", To: 1})
	if m.Limit(none, USD) != 3 || m.Limit(some, USD) != 3 || m.Limit(some, Calls) != 0 || m.Limits(none).USD != 3 || m.Limits(some).Calls != 0 {
		t.Errorf("%+v %+v", m.Limits(none), m.Limits(some))
	}
	apply(&m, event.Replied{Cost: new(3.5)})
	if l := m.Left(none); l.USD > 1e-8 {
		t.Errorf("%+v is left", l)
	}
	apply(&m, event.Resumed{})
	if m.Limit(none, USD) != 0 || m.Limit(some, USD) != 5 {
		t.Error("it outlives its process")
	}
	for _, bad := range []struct {
		k  Kind
		to float64
	}{{"budget.nonsense", 1}, {USD, -1}, {USD, math.NaN()}, {USD, math.Inf(1)}, {Calls, 1.5}, {Tokens, 0.5}} {
		if CheckLimit(bad.k, bad.to) == nil {
			t.Errorf("%s %v can be set", bad.k, bad.to)
		}
	}
	must.Do(t, CheckLimit(Wall, 0.5))
}

// SPEC 8.1: an extension raises the limit that was asked about, for as long as
// the process lives; that of the default outlives it.
func TestExtended(t *testing.T) {
	var m Meter
	set, assumed := Limits{USD: 5}, Limits{USD: 5, Assumed: true}
	apply(&m, event.Extended{What: "budget.usd", To: 10})
	if m.Limit(set, USD) != 10 || m.Limit(set, Calls) != 0 || m.Limit(Limits{}, USD) != 0 {
		t.Error("not in force, or for what has no limit")
	}
	apply(&m, event.Resumed{})
	if m.Limit(set, USD) != 5 || m.Limit(assumed, USD) != 10 {
		t.Errorf("after a resume: %v, %v", m.Limit(set, USD), m.Limit(assumed, USD))
	}
	apply(&m, event.Extended{What: "budget.usd", To: 0}, event.Extended{What: "what?", To: 7})
	if m.Limit(set, USD) != 0 {
		t.Error("no limit is a limit")
	}
}

// SPEC 8.1: what is not clearly a yes raises nothing.
func TestAnswer(t *testing.T) {
	money := &LimitError{Kind: USD, Limit: 5, Used: 4.9, Need: 0.4}
	text, options := money.Question()
	if !strings.Contains(text, "$5.00") || !strings.Contains(text, "$4.90") || strings.Join(options, "|") != "add $5.00|no limit|stop" {
		t.Errorf("%s %q", text, options)
	}
	used := &LimitError{Kind: USD, Limit: 5, Used: 5.1, Need: 0.4}
	for e, want := range map[*LimitError]string{
		money: "the next step could exceed the budget of $5.00: $4.90 so far (raise it with --max-budget-usd)",
		used:  "the budget of $5.00 is used up: $5.10 so far (raise it with --max-budget-usd)",
	} {
		if e.Error() != want {
			t.Errorf("%s, want %s", e, want)
		}
	}
	for in, want := range map[string]float64{"add $5.00": 10, " Add $7 ": 12, "$2.5": 7.5, "3": 8, "no limit": 0} {
		if to, ok := money.Answer(in); !ok || to != want {
			t.Errorf("%q: %v, %v; want %v", in, to, ok, want)
		}
	}
	for _, in := range []string{"", "stop", "no", "yes", "add", "-3", "add $-3", "0", "NaN", "inf", "1e400", "add 5 dollars"} {
		if to, ok := money.Answer(in); ok {
			t.Errorf("%q raises to %v", in, to)
		}
	}
	wall := &LimitError{Kind: Wall, Limit: 600, Used: 601, Need: 2}
	if _, options := wall.Question(); options[0] != "add 10m0s of running time" {
		t.Errorf("%q", options)
	}
	if to, ok := wall.Answer("add 10m0s of running time"); !ok || to != 1200 {
		t.Errorf("%v, %v", to, ok)
	}
	far := &LimitError{Kind: USD, Limit: 5, Used: 13, Need: 9}
	if to, _ := far.Answer(far.options()[0]); to < 14 {
		t.Errorf("the first option does not suffice: %v", to)
	}
}

func (e *LimitError) options() []string { _, o := e.Question(); return o }

// SPEC 8.1, 14.1: a child gets what is left, and never "none" for "used up".
func TestLeft(t *testing.T) {
	var m Meter
	apply(&m, event.Prompted{}, event.Replied{Cost: new(4.0), Reply: llm.Reply{Usage: llm.Usage{Known: true, Input: 900}}})
	got := m.Left(Limits{USD: 5, Tokens: 500, Calls: 10})
	if got.USD != 1 || got.Tokens != 1 || got.Calls != 10 || got.Wall != 0 || got.Requests != 0 {
		t.Errorf("%+v", got)
	}
}

// SPEC 8.1: a request's size is guessed from what the provider counted last;
// an image counts as one, not as its bytes.
func TestInputGuess(t *testing.T) {
	var m Meter
	if got := m.Input(3000); got != 1000 {
		t.Errorf("%d", got)
	}
	apply(&m, event.Rebased{}, event.Prompted{}, event.Requested{Bytes: 9000},
		event.Replied{Reply: llm.Reply{Usage: llm.Usage{Known: true, Input: 100, CacheRead: 2000}}})
	if got := m.Input(9300); got != 2200 {
		t.Errorf("%d", got)
	}
	image := make([]byte, 3_000_000)
	apply(&m, event.CallDone{Result: llm.Result{Images: []llm.Media{{Data: image}}}})
	if got := m.Input(9300 + 4_000_000); got != 2200+tokensPerImage {
		t.Errorf("%d", got)
	}
	apply(&m, event.Requested{Bytes: 4_009_300}, event.Replied{Reply: llm.Reply{Usage: llm.Usage{Known: true, CacheRead: 4000}}})
	if got := m.Input(4_009_600); got != 4100 {
		t.Errorf("%d", got)
	}
	apply(&m, event.Rebased{Why: "model"}) // another model counts otherwise
	if got := m.Input(4_009_600); got != 3200+tokensPerImage {
		t.Errorf("%d", got)
	}
	pdf := []byte("%PDF-1.7" + strings.Repeat("<</Type/Page>>", 5) + strings.Repeat(" ", 2_999_922)) // SPEC 17.2: by its pages
	apply(&m, event.Prompted{Images: []llm.Media{{Type: "application/pdf", Data: pdf}}})
	if got := m.Input(8_009_600); got != 3200+tokensPerImage+10_000 {
		t.Errorf("%d", got)
	}
	apply(&m, event.Compacted{}, event.Rebased{Why: "compaction"})
	if got := m.Input(3000); got != 1000 {
		t.Errorf("%d", got)
	}
}

func TestPresets(t *testing.T) {
	last := Limits{}
	for _, name := range presets() {
		l := must.Get(Preset(name))(t)
		if name != "unlimited" && (l.USD <= last.USD || l.Tokens <= last.Tokens || l.Wall <= last.Wall || l.Calls <= last.Calls) {
			t.Errorf("%s is not larger than the one before: %+v", name, l)
		}
		last = l
	}
	if _, err := Preset("huge"); err == nil || !strings.Contains(err.Error(), "quick, standard, deep, unlimited") {
		t.Errorf("%v", err)
	}
}
