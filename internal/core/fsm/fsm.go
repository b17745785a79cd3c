// Package fsm holds state tables: the states of a machine and its legal
// transitions, as data; the Machine that follows such a table; and drawings of
// tables. It knows no particular machine; pawl's tables are in policy/lifecycle.
//
// It promises that a machine is only in states that its table leads to, and that a
// table is always drawn the same way.
package fsm

import (
	"fmt"
	"slices"
)

// State is the name of a state, as users see it.
type State string

// Table is one machine: its name, its states in the order to show them, and the
// legal transitions. A machine starts in the first state. A table must not be
// changed after its first use.
type Table struct {
	Name   string
	Doc    string // one sentence about what the states describe
	States []State
	Legal  map[State][]State
	// When holds the condition of a transition, if it is to be drawn: from, to, a
	// few words.
	When map[State]map[State]string
}

func (t *Table) Allows(from, to State) bool { return slices.Contains(t.Legal[from], to) }

// Len returns the number of legal transitions.
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

// Validate returns an error if the table is invalid: no state, a duplicate state, a
// transition of an unlisted state or a duplicate one, a state that cannot be
// reached. It returns nil for a valid table.
func (t *Table) Validate() error {
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
			return fmt.Errorf("%s: a transition from %s, which is not a state", t.Name, from)
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

// InvalidTransitionError reports a transition that a table does not have (SPEC 1.3).
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
