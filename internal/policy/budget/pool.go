package budget

import (
	"errors"
	"math/bits"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Ask is a request that is to be sent.
type Ask struct {
	Price     *llm.Price // nil: not known
	Input     int64      // tokens, at most
	MaxOutput int        // the longest reply in tokens, 0: not known
	Fixed     float64    // USD at most for what is not counted in tokens, such as searches
	Child     bool       // sent by a child session: it is not a step of this session's turn
}

// Grant is what was reserved for a request.
type Grant struct {
	ID        int
	MaxTokens int      // the longest reply that the budget can pay; 0: the model's own
	USD       *float64 // the most that it can cost; nil: no price
	Tokens    int64    // the most that it can use
}

// Pool holds the reservations of requests in flight, besides what its meter
// counted as spent. It is a value without a lock: the owner of the meter guards
// both.
type Pool struct {
	last int
	held map[int]Grant
}

// ErrWait means that the request may fit after another one in flight is done.
var ErrWait = errors.New("other requests have reserved the rest of the budget")

const (
	// minReply is the smallest reply worth asking for, in tokens; usefulReply
	// is the size that is worth waiting for.
	minReply    = 256
	usefulReply = 4096
	// unknownReply is used for a longest reply that is not known.
	unknownReply = 16384
	// often is how much longer than the longest reply of late a child's next one may be.
	often = 4
)

// Reserve decides whether a request may be sent, and how long its reply may be.
// Errors are ErrWait, *StepsError, *LimitError, or a *fault.Error of category
// configuration if a cost is not known.
//
// A child's reply is reserved by what such replies used of late, and its request is
// limited to that: if each could have the longest reply of its model, few would fit
// beside each other.
//
// While other requests are in flight, twice all reservations must fit. So even
// if every reply costs twice its reservation, the limit is only passed by a
// request that ran alone, and by no more than its own reservation.
func (p *Pool) Reserve(m *Meter, l Limits, a Ask) (Grant, error) {
	if l.Steps > 0 && !a.Child && m.Turn().Replies >= l.Steps {
		return Grant{}, &StepsError{Limit: l.Steps}
	}
	if err := p.counts(m, l); err != nil {
		return Grant{}, err
	}
	output := a.MaxOutput
	if output <= 0 {
		output = unknownReply
	}
	longest, useful := output, min(usefulReply, output)
	if a.Child {
		expected := unknownReply
		if m.longest > 0 {
			// A power of two, so that it seldom changes: how much a model may think comes
			// from it, and where that changes, the provider's cache is lost.
			expected = 1 << bits.Len(uint(max(usefulReply, often*int(m.longest))-1))
		}
		expected = min(expected, output)
		useful = max(min(minReply, expected), expected/2)
		if m.Limit(l, Tokens) > 0 || m.Limit(l, USD) > 0 {
			output = expected
		}
	}
	var err error
	if v := m.Limit(l, Tokens); v > 0 {
		held := int64(0)
		for _, g := range p.held {
			held += g.Tokens
		}
		if output, err = p.fit(remaining{Tokens, v, m.all.of(Tokens), float64(held)}, float64(a.Input), 1, output, useful); err != nil {
			return Grant{}, err
		}
	}
	if v := m.Limit(l, USD); v > 0 && (a.Price != nil && m.all.unbounded == 0 || !l.Assumed) {
		if a.Price == nil || m.all.unbounded > 0 {
			return Grant{}, fault.NewConfiguration("continue without it, or limit tokens instead",
				"the budget of %s cannot be enforced: a part of this session's cost is unknown", USD.format(v))
		}
		held := 0.0
		for _, g := range p.held {
			if g.USD != nil {
				held += *g.USD
			}
		}
		in, out := float64(a.Input)*inputPrice(a.Price)/1e6+a.Fixed, a.Price.Output/1e6
		if in > 0 || out > 0 { // a free model spends nothing
			if output, err = p.fit(remaining{USD, v, m.all.of(USD), held}, in, out, output, useful); err != nil {
				return Grant{}, err
			}
		}
	}
	return p.reserve(a, output, longest), nil
}

// counts checks the limits that are plain counts.
func (p *Pool) counts(m *Meter, l Limits) error {
	if err := m.checkWall(l); err != nil {
		return err
	}
	for _, k := range []Kind{Calls, Agents} {
		if v := m.Limit(l, k); v > 0 && m.all.of(k) > v {
			return &LimitError{Kind: k, Limit: v, Used: m.all.of(k), Need: m.all.of(k) - v}
		}
	}
	v, used := m.Limit(l, Requests), m.all.of(Requests)
	switch {
	case v <= 0 || used+float64(len(p.held))+1 <= v:
		return nil
	case used+1 <= v:
		return ErrWait // a request in flight may be counted twice while it is being settled
	}
	return &LimitError{Kind: Requests, Limit: v, Used: used, Need: 1}
}

// remaining is a divisible limit with the part that is used.
type remaining struct {
	kind              Kind
	limit, used, held float64
}

// fit returns the longest reply, in tokens, that still fits: at most output, at
// the price each per token, in addition to input. Beside others, one that is not useful
// waits.
func (p *Pool) fit(r remaining, input, each float64, output, useful int) (int, error) {
	left := r.limit - r.used - input
	if len(p.held) > 0 {
		left = (r.limit-r.used)/2 - r.held - input
	}
	longest := output
	if each > 0 && left < each*float64(output) {
		longest = int(max(0, left/each))
	}
	switch least := min(minReply, output); {
	case len(p.held) > 0 && (left < 0 || longest < min(useful, output)):
		return 0, ErrWait
	case left < 0 || longest < least:
		return 0, &LimitError{Kind: r.kind, Limit: r.limit, Used: r.used, Need: r.used + input + each*float64(min(usefulReply, output)) - r.limit}
	}
	return longest, nil
}

func (p *Pool) reserve(a Ask, output, longest int) Grant {
	p.last++
	g := Grant{ID: p.last, Tokens: a.Input + int64(output)}
	if output < longest {
		g.MaxTokens = output
	}
	if a.Price != nil {
		usd := float64(a.Input)*inputPrice(a.Price)/1e6 + float64(output)*a.Price.Output/1e6 + a.Fixed
		g.USD = &usd
	}
	if p.held == nil {
		p.held = map[int]Grant{}
	}
	p.held[g.ID] = g
	return g
}

// Release ends a reservation: the request is done, and the meter knows its
// cost. A second call has no effect.
func (p *Pool) Release(id int) { delete(p.held, id) }

// inputPrice returns the highest price of an input token.
func inputPrice(p *llm.Price) float64 { return max(p.Input, p.CacheWrite) }
