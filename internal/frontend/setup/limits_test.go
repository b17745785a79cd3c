package setup

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// SPEC 8.1, 17.5: flags before configuration, a preset with what differs from
// it, $5 in a conversation where nobody set a limit, and no limit of money that
// somebody set without a price.
func TestLimits(t *testing.T) {
	priced := llm.Info{Provider: "p", Model: "m", Price: &llm.Price{Input: 1, Output: 2}}
	unknown := llm.Info{Provider: "p", Model: "m"}
	standard := must.Get(budget.Preset("standard"))(t)
	changed := standard
	changed.USD, changed.Wall, changed.Calls = 3, 90*time.Second, 7
	quick, _ := budget.Preset("quick")
	for _, c := range []struct {
		name   string
		f      Options
		conf   settings.Budget
		person bool
		info   llm.Info
		want   budget.Limits
		bad    fault.Category // "" none
	}{
		{name: "headless", info: unknown},
		{name: "conversation", person: true, info: priced, want: budget.Limits{USD: 5, Assumed: true}},
		{name: "conversation, no price", person: true, info: unknown, want: budget.Limits{USD: 5, Assumed: true}},
		{name: "conversation, unlimited", f: Options{Budget: "unlimited"}, person: true, info: priced},
		{name: "conversation, own limit", conf: settings.Budget{USD: 9}, person: true, info: priced, want: budget.Limits{USD: 9}},
		{
			name: "preset and changes", conf: settings.Budget{Preset: "standard", USD: 3, Minutes: 1.5, Calls: 7},
			info: priced, want: changed,
		},
		{name: "a flag's preset replaces all", f: Options{Budget: "quick"}, conf: settings.Budget{Preset: "standard", USD: 3}, info: priced, want: quick},
		{
			name: "flags on top", f: Options{MaxUSD: 1, MaxTokens: 2, MaxTurns: 3}, conf: settings.Budget{USD: 9, Tokens: 8, Agents: 4},
			info: priced, want: budget.Limits{USD: 1, Tokens: 2, Steps: 3, Agents: 4},
		},
		{name: "no price", f: Options{MaxUSD: 1}, info: unknown, bad: fault.Configuration},
		{name: "no price, configured", conf: settings.Budget{Preset: "quick"}, person: true, info: unknown, bad: fault.Configuration},
		{name: "free", f: Options{MaxUSD: 1}, info: llm.Info{Price: &llm.Price{}}, want: budget.Limits{USD: 1}},
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
