package cli

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// SPEC 8.1, 17.5: flags before configuration, a preset with what differs from
// it, $5 in a conversation where nobody set a limit, and no limit of money that
// somebody set without a price.
func TestLimits(t *testing.T) {
	priced := llm.Info{Provider: "p", Model: "m", Price: &llm.Price{Input: 1, Output: 2}}
	unknown := llm.Info{Provider: "p", Model: "m"}
	standard, err := budget.Preset("standard")
	if err != nil {
		t.Fatal(err)
	}
	changed := standard
	changed.USD, changed.Wall, changed.Calls = 3, 90*time.Second, 7
	quick, _ := budget.Preset("quick")
	for _, c := range []struct {
		name   string
		f      flags
		conf   settings.Budget
		person bool
		info   llm.Info
		want   budget.Limits
		bad    fault.Category // "" none
	}{
		{name: "headless", info: unknown},
		{name: "conversation", person: true, info: priced, want: budget.Limits{USD: 5, Assumed: true}},
		{name: "conversation, no price", person: true, info: unknown, want: budget.Limits{USD: 5, Assumed: true}},
		{name: "conversation, unlimited", f: flags{budget: "unlimited"}, person: true, info: priced},
		{name: "conversation, own limit", conf: settings.Budget{USD: 9}, person: true, info: priced, want: budget.Limits{USD: 9}},
		{
			name: "preset and changes", conf: settings.Budget{Preset: "standard", USD: 3, Minutes: 1.5, Calls: 7},
			info: priced, want: changed,
		},
		{name: "a flag's preset replaces all", f: flags{budget: "quick"}, conf: settings.Budget{Preset: "standard", USD: 3}, info: priced, want: quick},
		{
			name: "flags on top", f: flags{maxUSD: 1, maxTokens: 2, maxTurns: 3}, conf: settings.Budget{USD: 9, Tokens: 8, Agents: 4},
			info: priced, want: budget.Limits{USD: 1, Tokens: 2, Steps: 3, Agents: 4},
		},
		{name: "no price", f: flags{maxUSD: 1}, info: unknown, bad: fault.Configuration},
		{name: "no price, configured", conf: settings.Budget{Preset: "quick"}, person: true, info: unknown, bad: fault.Configuration},
		{name: "free", f: flags{maxUSD: 1}, info: llm.Info{Price: &llm.Price{}}, want: budget.Limits{USD: 1}},
	} {
		got, err := limits(&c.f, c.conf, c.person, c.info)
		if c.bad != "" {
			if fault.CategoryOf(err) != c.bad {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %+v, %v; want %+v", c.name, got, err, c.want)
		}
	}
}

// SPEC 15.2: what forks share is counted once, also when the session that they
// were made from is deleted.
func TestForksAreCountedOnce(t *testing.T) {
	fork := func(id, of string, at int64) event.Row {
		return event.Row{ID: id, Origin: &event.Origin{Session: of, At: at}}
	}
	rows := []event.Row{fork("a", "gone", 10), {ID: "parent"}, fork("b", "parent", 5), fork("c", "gone", 20), fork("d", "gone", 7)}
	c := counted{}
	for i, want := range []int64{0, 0, 5, 10, 7} {
		if got := c.skip(rows[i], rows); got != want {
			t.Errorf("%s: skips %d, want %d", rows[i].ID, got, want)
		}
	}
	if got := (counted{}).skip(rows[2], rows[2:3]); got != 0 {
		t.Errorf("alone: skips %d", got)
	}
}
