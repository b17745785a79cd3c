package setup

import (
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// limits returns the budget of a session: a preset, changed by the
// configuration and then by flags. A preset as a flag replaces the whole
// configured budget.
func limits(opt *Options, conf settings.Budget, person bool, info llm.Info) (budget.Limits, error) {
	name := conf.Preset
	if opt.Budget != "" {
		conf, name = settings.Budget{}, opt.Budget
	}
	l := budget.Limits{}
	if name != "" {
		var err error
		if l, err = budget.Preset(name); err != nil {
			return l, Usage("%w", err)
		}
	}
	set(&l.USD, conf.USD)
	set(&l.Tokens, conf.Tokens)
	set(&l.Wall, time.Duration(conf.Minutes*float64(time.Minute)))
	set(&l.Requests, conf.Requests)
	set(&l.Calls, conf.Calls)
	set(&l.Agents, conf.Agents)
	set(&l.USD, opt.MaxUSD)
	set(&l.Tokens, opt.MaxTokens)
	set(&l.Steps, opt.MaxTurns)
	if person && name == "" && l.USD == 0 {
		l.USD, l.Assumed = budget.DefaultUSD, true
	}
	return l, l.Allow(info)
}

// set assigns v to *to if v is positive.
func set[N int | int64 | float64 | time.Duration](to *N, v N) {
	if v > 0 {
		*to = v
	}
}
