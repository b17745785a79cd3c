// Package lifecycle holds the states that pawl and its parts can be in and
// what leads from one to the other, as data and pure functions.
package lifecycle

import "time"

// Action is what an interrupt key leads to.
type Action int

// What interrupts lead to, one after the other (SPEC 10.3).
const (
	Cancel  Action = iota // cancel what runs
	Clear                 // clear the input
	Confirm               // say that the next one exits
	Exit                  // leave in order
	Abort                 // leave at once
)

// Situation is what an interrupt finds.
type Situation struct {
	Running bool // a model's request or a tool
	Input   bool // the input has text
}

// InterruptPolicy decides what an interrupt does. The zero value is ready.
type InterruptPolicy struct {
	recent    []time.Time
	confirmed bool
}

// rapid is the time within which three interrupts mean: out, now.
const rapid = 500 * time.Millisecond

// Press takes an interrupt.
func (p *InterruptPolicy) Press(now time.Time, s Situation) Action {
	p.recent = append(p.recent, now)
	if n := len(p.recent); n > 3 {
		p.recent = p.recent[n-3:]
	}
	if len(p.recent) == 3 && now.Sub(p.recent[0]) <= rapid {
		return Abort
	}
	switch {
	case s.Running:
		p.confirmed = false
		return Cancel
	case s.Input:
		p.confirmed = false
		return Clear
	case p.confirmed:
		return Exit
	}
	p.confirmed = true
	return Confirm
}

// Typed notes that a person entered something: the next interrupt asks again.
func (p *InterruptPolicy) Typed() { p.confirmed = false }
