// Package fsm holds state tables: which states a machine has and which
// transitions are legal, as data. It knows no machine in particular; the
// tables of pawl are in policy/lifecycle.
package fsm

import (
	"fmt"
	"slices"
)

// State is a state's name as users see it.
type State string

// Table is one machine: its name, its states in the order to show them, and
// the legal transitions. The first state is where a machine starts.
type Table struct {
	Name   string
	States []State
	Legal  map[State][]State
}

// Allows says whether from→to is legal.
func (t *Table) Allows(from, to State) bool { return slices.Contains(t.Legal[from], to) }

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
