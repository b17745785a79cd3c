// Package fsm holds state tables: which states a machine has and which
// transitions are legal, as data; the Machine that lives by such a table; and
// the drawings of it. It knows no machine in particular; the tables of pawl
// are in policy/lifecycle.
//
// It promises that a machine is never in a state that its table does not lead
// to, and that a table is drawn the same way every time.
package fsm

import (
	"fmt"
	"slices"
)

// State is a state's name as users see it.
type State string

// Table is one machine: its name, its states in the order to show them, and
// the legal transitions. The first state is where a machine starts. A table is
// not changed once it is in use.
type Table struct {
	Name   string
	Doc    string // one sentence: what it is the state of
	States []State
	Legal  map[State][]State
	// When is the condition on which a transition is taken, where that is to be
	// drawn: from, to, a few words.
	When map[State]map[State]string
}

// Allows reports whether from→to is legal.
func (t *Table) Allows(from, to State) bool { return slices.Contains(t.Legal[from], to) }

// Len is how many transitions are legal.
func (t *Table) Len() int {
	n := 0
	for _, to := range t.Legal {
		n += len(to)
	}
	return n
}

// Arrows yields the legal transitions in the order to show them.
func (t *Table) Arrows(yield func(from, to State) bool) {
	for _, from := range t.States {
		for _, to := range t.Legal[from] {
			if !yield(from, to) {
				return
			}
		}
	}
}

// Sound returns what is wrong with a table as such: no state, a state twice, a
// transition of a state that is not listed or given twice, a state that nothing
// leads to. It returns nil for a good one.
func (t *Table) Sound() error {
	if len(t.States) == 0 {
		return fmt.Errorf("%s: a table without states", t.Name)
	}
	for i, s := range t.States {
		if slices.Contains(t.States[:i], s) {
			return fmt.Errorf("%s: %s is listed twice", t.Name, s)
		}
	}
	reached := map[State]bool{t.States[0]: true}
	for from, tos := range t.Legal {
		if !slices.Contains(t.States, from) {
			return fmt.Errorf("%s: a transition from %s, which is no state", t.Name, from)
		}
		for i, to := range tos {
			if !slices.Contains(t.States, to) || slices.Contains(tos[:i], to) {
				return fmt.Errorf("%s: %s → %s is given twice or leads to no state", t.Name, from, to)
			}
		}
	}
	for next := []State{t.States[0]}; len(next) > 0; {
		from := next[0]
		next = next[1:]
		for _, to := range t.Legal[from] {
			if !reached[to] {
				reached[to] = true
				next = append(next, to)
			}
		}
	}
	for _, s := range t.States {
		if !reached[s] {
			return fmt.Errorf("%s: nothing leads to %s", t.Name, s)
		}
	}
	return nil
}

// InvalidTransitionError is a transition that a table does not have (SPEC 1.3).
type InvalidTransitionError struct {
	Machine  string
	From, To State
}

func (e *InvalidTransitionError) Error() string {
	return fmt.Sprintf("%s: illegal transition %s → %s", e.Machine, e.From, e.To)
}

// Check returns nil when from→to is legal, else *InvalidTransitionError.
func (t *Table) Check(from, to State) error {
	if t.Allows(from, to) {
		return nil
	}
	return &InvalidTransitionError{Machine: t.Name, From: from, To: to}
}
