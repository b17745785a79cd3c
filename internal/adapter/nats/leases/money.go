package leases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

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
	if a.Input < 0 || a.MaxOutput < 0 || a.Price != nil && min(a.Price.Input, a.Price.Output, a.Price.CacheRead, a.Price.CacheWrite) < 0 {
		return nil, fmt.Errorf("%w: a cost cannot be negative", ErrRefused)
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
		return nil, errors.Join(ErrOver, b.cfg.Bank.Settle(context.WithoutCancel(l.ctx), g.ID))
	}
	return encode(reserved{Grant: g}), nil
}

// settle charges the cost of a worker's request.
func (b *Board) settle(l *lease, q *question) error {
	var s settled
	if err := json.Unmarshal(q.Body, &s); err != nil {
		return err
	}
	for i := range s.Charged {
		c := &s.Charged[i]
		if u := c.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || c.Requests < 0 || c.Calls < 0 || c.USD != nil && *c.USD < 0 {
			b.say("money", "worker %s reported a negative cost: refused", q.Worker)
			return fmt.Errorf("%w: a cost cannot be negative", ErrRefused)
		}
		c.Child = true
	}
	if b.cfg.Bank == nil {
		return nil
	}
	b.mu.Lock()
	g, held := l.grants[s.Grant]
	above := held && exceeds(g, s.Charged)
	if !above {
		delete(l.grants, s.Grant)
	}
	b.mu.Unlock()
	switch {
	case !held:
		return fmt.Errorf("%w: there is no reservation %d", ErrRefused, s.Grant)
	case above: // it counts as the whole reservation when the lease ends
		b.say("money", "worker %s reported a cost above its reservation: refused", q.Worker)
		return fmt.Errorf("%w: more than reservation %d", ErrRefused, s.Grant)
	}
	return b.cfg.Bank.Settle(context.WithoutCancel(l.ctx), s.Grant, s.Charged...) // the lease may end now
}

// exceeds reports whether a settlement is above its grant. The size of a request is
// estimated before it is sent, so an honest one may be off, as far as the pool allows for:
// twice the reservation.
func exceeds(g budget.Grant, cs []event.Charged) bool {
	usd, tokens := 0.0, int64(0)
	for _, c := range cs {
		if c.USD != nil {
			usd += *c.USD
		}
		for _, n := range []int64{c.Usage.Input, c.Usage.Output, c.Usage.CacheRead, c.Usage.CacheWrite} {
			if n > 2*g.Tokens {
				return true // also where the sum would overflow
			}
			tokens += n
		}
	}
	most := dearest * float64(g.Tokens)
	if g.USD != nil {
		most = *g.USD
	}
	return usd > 2*most || tokens > 2*g.Tokens
}

// dearest is more than any provider takes for a token, in USD: where no price is known.
const dearest = 0.01

// unknownCost returns what a lost worker's request may have cost: the whole
// reservation.
func unknownCost(l *lease, g budget.Grant) event.Charged {
	return event.Charged{
		By: l.Job.Worker, Child: true, USD: g.USD, Guess: true, Unknown: true, Requests: 1,
		Usage: llm.Usage{Input: g.Tokens},
	}
}
