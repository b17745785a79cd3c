// Package budget counts what a session spends and decides when a limit is
// reached. It is a fold: spending is computed from the log, so a resumed
// session knows it, and retries, failed requests and child sessions count.
//
// Money and tokens are reserved before a request is sent and released after it
// (Pool), so that parallel requests cannot overspend. As long as replies cost
// what was reserved, no hard limit is passed; if each costs up to twice that,
// no limit is passed by more than one reservation (SPEC 8.1).
//
// It has no clock: running time is computed from the times of events.
package budget

import (
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Spent is spending. Unknown counts the replies without a known cost: if there
// are any, USD is a lower bound.
type Spent struct {
	Usage llm.Usage // as reported, including child sessions
	USD   float64   // from reported usage
	// Guessed is the most that replies without a reported usage may have cost,
	// in USD: it counts against limits and is never shown as a cost.
	Guessed  float64
	Unknown  int
	Requests int // including retries and those of child sessions
	Replies  int // of this session itself
	Calls    int
	Agents   int   // child sessions started
	guessed  int64 // tokens counted in Guessed
	// unbounded counts the replies of unknown cost for which no upper limit is
	// known: nothing was reserved, or the model has no price.
	unbounded int
	active    time.Duration
}

// Cost returns USD, or nil if part of it is not known (never 0 for unknown).
func (s Spent) Cost() *float64 {
	if s.Unknown > 0 || s.Guessed > 0 {
		return nil
	}
	c := s.USD
	return &c
}

// Most returns the most that was spent: Cost if that is known, and nil if the
// unknown part has no limit.
func (s Spent) Most() *float64 {
	if s.unbounded > 0 {
		return nil
	}
	c := s.USD + s.Guessed
	return &c
}

// Tokens returns all input and output tokens, cached or not, including pawl's
// estimates where nothing was reported.
func (s Spent) Tokens() int64 {
	return s.Usage.Input + s.Usage.CacheRead + s.Usage.CacheWrite + s.Usage.Output + s.guessed
}

// minus returns what was spent since an earlier value.
func (s Spent) minus(t Spent) Spent {
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

// Active returns the running time, without the time a person took to answer.
func (s Spent) Active() time.Duration { return s.active }
