// Package lifecycle holds the states that pawl and its parts can be in and
// what leads from one to the other, as data and pure functions.
package lifecycle

import "time"

// Action is what an interrupt key leads to.
type Action int

// The steps of the interrupt ladder (SPEC 10.3).
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

// Ladder decides what an interrupt does. The zero value is ready.
type Ladder struct {
	recent    []time.Time
	confirmed bool
}

// rapid is the time within which three interrupts mean: out, now.
const rapid = 500 * time.Millisecond

// Press takes an interrupt.
func (l *Ladder) Press(now time.Time, s Situation) Action {
	l.recent = append(l.recent, now)
	if n := len(l.recent); n > 3 {
		l.recent = l.recent[n-3:]
	}
	if len(l.recent) == 3 && now.Sub(l.recent[0]) <= rapid {
		return Abort
	}
	switch {
	case s.Running:
		l.confirmed = false
		return Cancel
	case s.Input:
		l.confirmed = false
		return Clear
	case l.confirmed:
		return Exit
	}
	l.confirmed = true
	return Confirm
}

// Typed says that a person entered something: the next interrupt asks again.
func (l *Ladder) Typed() { l.confirmed = false }
