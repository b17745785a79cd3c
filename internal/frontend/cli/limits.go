package cli

import (
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// limits returns the budget of a session: a preset, changed by the
// configuration and then by flags. A preset as a flag replaces the whole
// configured budget.
func limits(f *flags, conf settings.Budget, person bool, info llm.Info) (budget.Limits, error) {
	if f.maxUSD < 0 || f.maxTokens < 0 {
		return budget.Limits{}, usageError("--max-budget-usd and --max-tokens-total take no negative numbers")
	}
	name := conf.Preset
	if f.budget != "" {
		conf, name = settings.Budget{}, f.budget
	}
	l := budget.Limits{}
	if name != "" {
		var err error
		if l, err = budget.Preset(name); err != nil {
			return l, usageError("%w", err)
		}
	}
	set(&l.USD, conf.USD)
	set(&l.Tokens, conf.Tokens)
	set(&l.Wall, time.Duration(conf.Minutes*float64(time.Minute)))
	set(&l.Requests, conf.Requests)
	set(&l.Calls, conf.Calls)
	set(&l.Agents, conf.Agents)
	set(&l.USD, f.maxUSD)
	set(&l.Tokens, f.maxTokens)
	set(&l.Steps, f.maxTurns)
	if person && name == "" && l.USD == 0 {
		l.USD, l.Assumed = budget.DefaultUSD, true
	}
	return l, l.Allow(info)
}

// set sets a limit that was given.
func set[N int | int64 | float64 | time.Duration](to *N, v N) {
	if v > 0 {
		*to = v
	}
}

// fallback returns the chain of fallback models: the flags' or, without any,
// the configuration's.
func fallback(f *flags, conf settings.Loaded) []string {
	if len(f.fallback) > 0 {
		return f.fallback
	}
	return conf.User.Fallback
}

// retryFor returns how long a request is retried: the flag's value or, without
// one, the configuration's.
func retryFor(f *flags, conf settings.Loaded) (time.Duration, error) {
	d, err := settings.RetryFor(first(f.retryFor, conf.User.RetryFor))
	if err != nil {
		return 0, usageError("--retry-for: %w", err) // the configuration's was read before
	}
	return d, nil
}
