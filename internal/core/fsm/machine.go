package fsm

import (
	"slices"
	"sync"
)

// maxHistory is how many transitions a machine remembers (SPEC 1.4).
const maxHistory = 1000

// Meta describes the cause of a transition. Listeners must not change it.
type Meta map[string]any

// Listener is called after a transition.
type Listener func(from, to State, meta Meta)

type Transition struct{ From, To State }

// storedTransition is a Transition by the positions of its states in the table.
type storedTransition struct{ from, to uint16 }

// Machine is in one state of its table at a time. It is safe for concurrent use.
//
// Listeners are called for every transition, in the order of the transitions; for
// each transition in the order in which they were registered. To returns after
// all listeners were called, with two exceptions: a listener calls To, or another
// goroutine is calling the listeners. Then that goroutine calls them for this
// transition too.
type Machine struct {
	table *Table

	mu      sync.Mutex
	state   State
	history []storedTransition // at most 2*maxHistory, the newest last
	// Listeners are not part of the state: they end with the process.
	listeners []*listener `freeze:"-"`
	pending   []change    `freeze:"-"`
	notifying bool        `freeze:"-"`
}

type listener struct {
	call     Listener
	panicked func(any)
}

type change struct {
	Transition
	meta Meta
	to   []*listener // those registered when it happened
}

// NewMachine makes a machine that is in the first state of its table.
func NewMachine(t *Table) *Machine { return &Machine{table: t, state: t.States[0]} }

// State returns the present state.
func (m *Machine) State() State {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// To changes the state. If the table does not allow it, To returns
// *InvalidTransitionError, changes nothing and calls no listener.
func (m *Machine) To(to State, meta Meta) error { return m.move(nil, to, meta) }

// From is To for a transition that is legal from the named states only: from any
// other state it is refused, even if the table allows it.
func (m *Machine) From(sources []State, to State, meta Meta) error {
	if sources == nil {
		sources = []State{}
	}
	return m.move(sources, to, meta)
}

// move changes the state if it is one of sources; nil means any.
func (m *Machine) move(sources []State, to State, meta Meta) error {
	m.mu.Lock()
	if sources != nil && !slices.Contains(sources, m.state) {
		defer m.mu.Unlock()
		return &InvalidTransitionError{Machine: m.table.Name, From: m.state, To: to}
	}
	err := m.table.Check(m.state, to)
	was, is := slices.Index(m.table.States, m.state), slices.Index(m.table.States, to)
	if err == nil && is < 0 { // a table that leads to a state that it does not have
		err = &InvalidTransitionError{Machine: m.table.Name, From: m.state, To: to}
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	c := change{Transition: Transition{From: m.state, To: to}, meta: meta, to: m.listeners}
	m.state = to
	if len(m.history) >= 2*maxHistory {
		m.history = append(m.history[:0], m.history[len(m.history)-maxHistory+1:]...)
	}
	m.history = append(m.history, storedTransition{uint16(was), uint16(is)})
	if len(m.listeners) == 0 {
		m.mu.Unlock()
		return nil
	}
	m.pending = append(m.pending, c)
	if m.notifying {
		m.mu.Unlock()
		return nil
	}
	m.notifying = true
	m.mu.Unlock()
	m.notify()
	return nil
}

// notify calls the listeners for every transition that they have not got yet.
func (m *Machine) notify() {
	ended := false
	defer func() {
		if ended {
			return
		}
		// A listener ended its goroutine; the next transition calls the rest.
		m.mu.Lock()
		m.notifying = false
		m.mu.Unlock()
	}()
	for {
		m.mu.Lock()
		if len(m.pending) == 0 {
			m.notifying, ended = false, true
			m.mu.Unlock()
			return
		}
		c := m.pending[0]
		m.pending = m.pending[1:]
		m.mu.Unlock()
		for _, l := range c.to {
			l.notify(c)
		}
	}
}

// notify calls one listener. A panic in it stops neither the transition nor the
// other listeners.
func (l *listener) notify(c change) {
	defer func() {
		if v := recover(); v != nil && l.panicked != nil {
			defer func() { _ = recover() }() // a panic in the report cannot be reported anywhere
			l.panicked(v)
		}
	}()
	l.call(c.From, c.To, c.meta)
}

// Listen registers a listener for the transitions from now on. A panic in it is
// recovered and passed to panicked, which may be nil. stop removes the listener; a
// transition that is being reported at that moment may still arrive.
func (m *Machine) Listen(hear Listener, panicked func(any)) (stop func()) {
	l := &listener{call: hear, panicked: panicked}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.listeners = append(m.listeners, l)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.listeners = slices.DeleteFunc(slices.Clone(m.listeners), func(o *listener) bool { return o == l })
	}
}

// HasListeners reports whether the machine has listeners. Without them the cause of a
// transition need not be computed.
func (m *Machine) HasListeners() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.listeners) > 0
}

// History lists the newest 1,000 transitions, oldest first.
func (m *Machine) History() []Transition {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.history[max(0, len(m.history)-maxHistory):]
	out := make([]Transition, len(last))
	for i, s := range last {
		out[i] = Transition{From: m.table.States[s.from], To: m.table.States[s.to]}
	}
	return out
}

// Restart resets the machine to its first state with an empty history. It is not
// a transition; listeners stay registered and are not called.
func (m *Machine) Restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.state, m.history = m.table.States[0], nil
}
