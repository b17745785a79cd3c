package leases

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// reserve reserves money for a worker's request. It may wait for other requests. If the
// lease has ended by then, the money is released at once, since the worker never got it.
func (b *Board) reserve(l *lease, body json.RawMessage) (json.RawMessage, error) {
	var a budget.Ask
	if err := json.Unmarshal(body, &a); err != nil {
		return nil, err
	}
	if a.Input < 0 || a.MaxOutput < 0 || a.Price != nil && (!sane(a.Price.Input) || !sane(a.Price.Output) || !sane(a.Price.CacheRead) || !sane(a.Price.CacheWrite)) {
		return nil, fmt.Errorf("%w: a request cannot cost less than nothing", ErrRefused)
	}
	if b.cfg.Bank == nil {
		return encode(reserved{}), nil
	}
	a.Child = true
	g, err := b.cfg.Bank.Reserve(l.ctx, a)
	if limit := (*budget.LimitError)(nil); errors.As(err, &limit) {
		return encode(reserved{Limit: limit}), nil
	}
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	over := l.over
	if !over {
		l.grants[g.ID] = g
	}
	b.mu.Unlock()
	if over {
		return nil, errors.Join(ErrOver, b.cfg.Bank.Settle(l.ctx, g.ID))
	}
	return encode(reserved{Grant: g}), nil
}

func sane(usd float64) bool { return usd >= 0 && !math.IsInf(usd, 0) && !math.IsNaN(usd) }

// settle charges the cost of a worker's request.
func (b *Board) settle(l *lease, q *question) error {
	var s settled
	if err := json.Unmarshal(q.Body, &s); err != nil {
		return err
	}
	for i := range s.Charged {
		c := &s.Charged[i]
		if u := c.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || c.Requests < 0 || c.Calls < 0 || c.USD != nil && !sane(*c.USD) {
			b.say("money", "worker %s says that a request cost less than nothing: refused", q.Worker)
			return fmt.Errorf("%w: a request cannot cost less than nothing", ErrRefused)
		}
		c.Child = true
	}
	if b.cfg.Bank == nil {
		return nil
	}
	b.mu.Lock()
	_, held := l.grants[s.Grant]
	delete(l.grants, s.Grant)
	b.mu.Unlock()
	if !held {
		return fmt.Errorf("%w: nothing was set aside under %d", ErrRefused, s.Grant)
	}
	return b.cfg.Bank.Settle(l.ctx, s.Grant, s.Charged...)
}

// unknownCost returns what a lost worker's request may have cost: the whole
// reservation.
func unknownCost(l *lease, g budget.Grant) event.Charged {
	return event.Charged{
		By: l.Job.Worker, Child: true, USD: g.USD, Guess: true, Unknown: true, Requests: 1,
		Usage: llm.Usage{Input: g.Tokens},
	}
}
