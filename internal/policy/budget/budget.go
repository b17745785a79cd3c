// Package budget counts what a session spends and says when a limit is
// reached. It is a fold: what was spent is read off the log, so a resumed
// session knows it, and retries and failed requests that reported usage count.
//
// Money is reserved before a request goes out and settled when its reply came,
// so that a hard limit is never passed by more than one reply's reservation
// (SPEC 8.1).
package budget

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Limits are hard limits; zero means none.
type Limits struct {
	USD   float64 // of the whole session
	Steps int     // model replies in a turn
}

// Spent is what was used. Unknown counts the replies without a known cost:
// USD is then a lower bound.
type Spent struct {
	Usage    llm.Usage
	USD      float64
	Unknown  int
	Requests int
	Replies  int
	Calls    int
}

// Cost is USD, or nil where part of it is not known (never 0 for unknown).
func (s Spent) Cost() *float64 {
	if s.Unknown > 0 {
		return nil
	}
	c := s.USD
	return &c
}

// Minus is what was spent since an earlier reading.
func (s Spent) Minus(t Spent) Spent {
	u := s.Usage
	u.Input -= t.Usage.Input
	u.CacheRead -= t.Usage.CacheRead
	u.CacheWrite -= t.Usage.CacheWrite
	u.Output -= t.Usage.Output
	u.Reasoning -= t.Usage.Reasoning
	return Spent{
		Usage: u, USD: s.USD - t.USD, Unknown: s.Unknown - t.Unknown,
		Requests: s.Requests - t.Requests, Replies: s.Replies - t.Replies, Calls: s.Calls - t.Calls,
	}
}

// Meter folds a session's spending. The zero value is ready.
type Meter struct {
	all   Spent
	turn  Spent // all, when the turn began
	price *llm.Price
}

// Apply takes one event.
func (m *Meter) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Rebased:
		m.price = b.Info.Price
	case event.Prompted:
		m.turn = m.all
	case event.Requested:
		m.all.Requests++
	case event.Replied:
		m.all.Replies++
		known := m.all.Replies == 1 || m.all.Usage.Known
		m.all.Usage = m.all.Usage.Add(b.Reply.Usage)
		m.all.Usage.Known = known && b.Reply.Usage.Known
		m.all.Usage.CostUSD = nil
		if b.Cost == nil {
			m.all.Unknown++
		} else {
			m.all.USD += *b.Cost
		}
	case event.CallAsked:
		m.all.Calls++
	}
}

// Session is what the whole session spent.
func (m *Meter) Session() Spent { return m.all }

// Turn is what the running or last turn spent.
func (m *Meter) Turn() Spent { return m.all.Minus(m.turn) }

// Reservation is what a request may cost at most.
type Reservation struct {
	MaxTokens int      // the largest reply that the limit still pays for; 0: no limit
	USD       *float64 // nil: no price
}

// minReply is the smallest reply worth asking for, in tokens.
const minReply = 256

// Reserve decides whether a request of about inputTokens may go out, and how
// long its reply may be.
func (m *Meter) Reserve(l Limits, inputTokens int64, maxOutput int) (Reservation, error) {
	if l.Steps > 0 && m.Turn().Replies >= l.Steps {
		return Reservation{}, &StepsError{Limit: l.Steps}
	}
	if l.USD <= 0 {
		return Reservation{}, nil
	}
	if m.price == nil || m.all.Unknown > 0 {
		return Reservation{}, fault.NewBudget("the budget of $%.2f can not be kept: the price of the model is not known", l.USD)
	}
	left := l.USD - m.all.USD - float64(inputTokens)*inputPrice(m.price)/1e6
	if m.price.Output <= 0 {
		return Reservation{}, nil // a model that costs nothing
	}
	tokens := int(left / m.price.Output * 1e6)
	if tokens < minReply {
		return Reservation{}, fault.NewBudget("the budget of $%.2f is used up: $%.4f spent, and the next request would pass it", l.USD, m.all.USD)
	}
	if maxOutput > 0 && tokens > maxOutput {
		tokens = maxOutput
	}
	usd := float64(inputTokens)*inputPrice(m.price)/1e6 + float64(tokens)*m.price.Output/1e6
	return Reservation{MaxTokens: tokens, USD: &usd}, nil
}

// inputPrice is the dearest way a token of input can be charged.
func inputPrice(p *llm.Price) float64 { return max(p.Input, p.CacheWrite) }

// StepsError says that a turn reached its number of steps (--max-turns).
type StepsError struct{ Limit int }

func (e *StepsError) Error() string {
	return fmt.Sprintf("the turn reached its limit of %d model replies (--max-turns)", e.Limit)
}
