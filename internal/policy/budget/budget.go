// Package budget counts what a session spends and decides when a limit is
// reached. It is a fold: what was spent is read off the log, so a resumed
// session knows it, and retries, failed requests and child sessions count.
//
// Money and tokens are reserved before a request goes out and given back when
// it is over (Pool), so that requests in flight side by side cannot overspend.
// As long as replies cost what was reserved, no hard limit is ever passed; if
// each costs up to twice that, none is passed by more than one reservation
// (SPEC 8.1).
//
// It knows no clock: running time is counted from the times of events.
package budget

import (
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Spent is what was used. Unknown counts the replies without a known cost:
// USD is then a lower bound.
type Spent struct {
	Usage llm.Usage // as reported; child sessions included
	USD   float64   // from reported usage
	// Guessed is what replies without a reported usage may have cost at most,
	// in USD: it counts against limits and is never shown as a cost.
	Guessed  float64
	Unknown  int
	Requests int // retries and those of child sessions included
	Replies  int // of this session itself
	Calls    int
	Agents   int   // child sessions started
	guessed  int64 // tokens counted in Guessed
	// unbounded counts the replies of unknown cost that nothing limits: no
	// reservation was made, or nothing has a price.
	unbounded int
	active    time.Duration
}

// Cost is USD, or nil where part of it is not known (never 0 for unknown).
func (s Spent) Cost() *float64 {
	if s.Unknown > 0 || s.Guessed > 0 {
		return nil
	}
	c := s.USD
	return &c
}

// Most is what was spent at most: Cost where that is known, and nil where
// nothing limits what is not.
func (s Spent) Most() *float64 {
	if s.unbounded > 0 {
		return nil
	}
	c := s.USD + s.Guessed
	return &c
}

// Tokens is all that went in and out, cached or not, with what pawl guessed
// where nothing was reported.
func (s Spent) Tokens() int64 {
	return s.Usage.Input + s.Usage.CacheRead + s.Usage.CacheWrite + s.Usage.Output + s.guessed
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
		Usage: u, USD: s.USD - t.USD, Guessed: s.Guessed - t.Guessed, Unknown: s.Unknown - t.Unknown,
		Requests: s.Requests - t.Requests, Replies: s.Replies - t.Replies, Calls: s.Calls - t.Calls,
		Agents: s.Agents - t.Agents, active: s.active - t.active, guessed: s.guessed - t.guessed,
		unbounded: s.unbounded - t.unbounded,
	}
}

// Active is the running time, without what a person took to answer.
func (s Spent) Active() time.Duration { return s.active }
