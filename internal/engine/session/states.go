package session

import (
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// State is the agent's state (SPEC 1).
func (s *Session) State() fsm.State { return s.agent.State() }

// Activity is what the session does now (SPEC 2).
func (s *Session) Activity() fsm.State { return s.activity.State() }

// Path is the activities that the running or last run went through, oldest
// first; the last is the one now.
func (s *Session) Path() []fsm.State { return s.activity.Path() }

// Heard is told of a transition; machine is agent or activity.
type Heard func(machine string, from, to fsm.State, meta fsm.Meta)

// Listen tells hear of every transition from now on, and panicked, which may
// be nil, of a panic in it. What was recorded before is not told. It is called
// while an event is recorded: it must be quick, and of the session it may call
// nothing but State, Activity and Path.
func (s *Session) Listen(hear Heard, panicked func(any)) (stop func()) {
	of := func(machine string) fsm.Listener {
		return func(from, to fsm.State, meta fsm.Meta) { hear(machine, from, to, meta) }
	}
	stopAgent := s.agent.Listen(of(lifecycle.AgentTable().Name), panicked)
	stopActivity := s.activity.Listen(of(lifecycle.ActivityTable().Name), panicked)
	return func() {
		stopAgent()
		stopActivity()
	}
}
