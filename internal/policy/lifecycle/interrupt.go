// Package lifecycle has the states of pawl and its parts and the transitions
// between them, as data and pure functions.
package lifecycle

import "time"

// Action is the effect of an interrupt key.
type Action int

// The effects of successive interrupts (SPEC 10.3).
const (
	Cancel    Action = iota // cancel what runs
	Clear                   // clear the input
	Confirm                 // announce that the next one exits
	Exit                    // exit in an orderly way
	Abort                   // exit at once
	CloseView               // close the view that covers the conversation
)

// Situation is the state at the time of an interrupt.
type Situation struct {
	Running bool // a model's request or a tool is running
	Input   bool // the input has text
	View    bool // a view covers the conversation
}

// InterruptPolicy decides the effect of an interrupt. The zero value is ready.
type InterruptPolicy struct {
	recent    []time.Time
	confirmed bool
}

// rapid is the time within which three interrupts exit at once.
const rapid = 500 * time.Millisecond

// Press returns the effect of an interrupt.
func (p *InterruptPolicy) Press(now time.Time, s Situation) Action {
	p.recent = append(p.recent, now)
	p.recent = p.recent[max(0, len(p.recent)-3):]
	if len(p.recent) == 3 && now.Sub(p.recent[0]) <= rapid {
		return Abort
	}
	confirmed := p.confirmed
	p.confirmed = s == Situation{}
	switch {
	case s.View:
		return CloseView
	case s.Running:
		return Cancel
	case s.Input:
		return Clear
	case confirmed:
		return Exit
	}
	return Confirm
}

// Typed records that a person typed something: the next interrupt must be
// confirmed again.
func (p *InterruptPolicy) Typed() { p.confirmed = false }
