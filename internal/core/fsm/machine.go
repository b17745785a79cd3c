package fsm

import (
	"slices"
	"sync"
)

// maxHistory is how many transitions a machine remembers (SPEC 1.4).
const maxHistory = 1000

// Meta tells more about a transition: what led to it. Listeners must not change
// it.
type Meta map[string]any

// Listener is told of a transition after it happened.
type Listener func(from, to State, meta Meta)

// Pair is one transition.
type Pair struct{ From, To State }

// Machine is in one state of its table at a time. It is safe for concurrent
// use.
//
// Listeners are told of every transition in the order in which these happened,
// each transition in the order in which the listeners were registered. To
// returns when they were told, except where it is called by a listener, or
// while another goroutine is telling them: then that one tells of this
// transition too.
type Machine struct {
	table *Table

	mu        sync.Mutex
	state     State
	history   []Pair // at most 2*maxHistory, the newest last
	listeners []*listener
	untold    []change
	telling   bool
}

type listener struct {
	hear     Listener
	panicked func(any)
}

type change struct {
	Pair
	meta Meta
	to   []*listener // those registered when it happened
}

// NewMachine makes a machine that is in the first state of its table.
func NewMachine(t *Table) *Machine { return &Machine{table: t, state: t.States[0]} }

// Table is what the machine lives by.
func (m *Machine) Table() *Table { return m.table }

// State is the state now.
func (m *Machine) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// To changes the state. Where the table does not allow it, it returns
// *InvalidTransitionError, nothing is changed and nobody is told.
func (m *Machine) To(to State, meta Meta) error { return m.move(nil, to, meta) }

// From is To for a transition that is legal from the named states only: from
// another one it is refused, also where the table would allow it.
func (m *Machine) From(sources []State, to State, meta Meta) error {
	if sources == nil {
		sources = []State{}
	}
	return m.move(sources, to, meta)
}

// move changes the state, where it is one of sources; nil stands for any.
func (m *Machine) move(sources []State, to State, meta Meta) error {
	m.mu.Lock()
	if sources != nil && !slices.Contains(sources, m.state) {
		defer m.mu.Unlock()
		return &InvalidTransitionError{Machine: m.table.Name, From: m.state, To: to}
	}
	if err := m.table.Check(m.state, to); err != nil {
		m.mu.Unlock()
		return err
	}
	c := change{Pair: Pair{From: m.state, To: to}, meta: meta, to: m.listeners}
	m.state = to
	if len(m.history) >= 2*maxHistory {
		m.history = append(m.history[:0], m.history[len(m.history)-maxHistory+1:]...)
	}
	m.history = append(m.history, c.Pair)
	if len(m.listeners) == 0 {
		m.mu.Unlock()
		return nil
	}
	m.untold = append(m.untold, c)
	if m.telling {
		m.mu.Unlock()
		return nil
	}
	m.telling = true
	m.mu.Unlock()
	m.tell()
	return nil
}

// tell tells the listeners of everything that they were not told yet.
func (m *Machine) tell() {
	ended := false
	defer func() {
		if ended {
			return
		}
		// A listener ended its goroutine: the next transition tells the rest.
		m.mu.Lock()
		m.telling = false
		m.mu.Unlock()
	}()
	for {
		m.mu.Lock()
		if len(m.untold) == 0 {
			m.telling, ended = false, true
			m.mu.Unlock()
			return
		}
		c := m.untold[0]
		m.untold = m.untold[1:]
		m.mu.Unlock()
		for _, l := range c.to {
			l.call(c)
		}
	}
}

// call tells one listener. What breaks in it stops neither the transition nor
// the others.
func (l *listener) call(c change) {
	defer func() {
		if v := recover(); v != nil && l.panicked != nil {
			defer func() { _ = recover() }() // a report that breaks too has nobody left to go to
			l.panicked(v)
		}
	}()
	l.hear(c.From, c.To, c.meta)
}

// Listen registers a listener for the transitions from now on. A panic in it is
// recovered and given to panicked, which may be nil. stop ends it; a transition
// that is being told at that moment may still arrive.
func (m *Machine) Listen(hear Listener, panicked func(any)) (stop func()) {
	l := &listener{hear: hear, panicked: panicked}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(m.listeners, l)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.listeners = slices.DeleteFunc(slices.Clone(m.listeners), func(o *listener) bool { return o == l })
	}
}

// History lists the transitions, oldest first: the newest 1,000.
func (m *Machine) History() []Pair {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.history[max(0, len(m.history)-maxHistory):])
}

// Restart makes the machine a fresh one: in its first state and without a
// history. It is not a transition; listeners stay and are not told.
func (m *Machine) Restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.history = m.table.States[0], nil
}
