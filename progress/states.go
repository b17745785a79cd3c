package progress

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// AgentState is what a run is doing.
type AgentState string

// The states. A run ends in StateHalted; a new StateMachine, or Restart, begins
// the next.
const (
	StateIdle               AgentState = "idle"
	StateProcessingPrompt   AgentState = "processing_prompt"
	StateStreamingResponse  AgentState = "streaming_response"
	StateExecutingTool      AgentState = "executing_tool"
	StateAwaitingPermission AgentState = "awaiting_permission"
	StateErrorRecovery      AgentState = "error_recovery"
	StateProgressCheck      AgentState = "progress_check"
	StatePhaseTransition    AgentState = "phase_transition"
	StateHalted             AgentState = "halted"
)

// InvalidTransitionError reports a transition that the table does not have.
type InvalidTransitionError struct {
	From, To AgentState
}

func (e *InvalidTransitionError) Error() string {
	return fmt.Sprintf("illegal transition %s → %s", e.From, e.To)
}

// CanTransition reports whether the table has a transition.
func CanTransition(from, to AgentState) bool {
	return lifecycle.ActivityTable().Allows(fsm.State(from), fsm.State(to))
}

// State returns the present state.
func (m *StateMachine) State() AgentState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.state
}

// TransitionTo changes the state and calls OnStateChange. It returns an
// *InvalidTransitionError for a transition that the table does not have, and
// the context's error if the context is done, except for StateIdle and
// StateHalted; the state is then unchanged.
func (m *StateMachine) TransitionTo(to AgentState) error {
	m.mu.Lock()
	from := m.state
	var err error
	if !CanTransition(from, to) {
		err = &InvalidTransitionError{From: from, To: to}
	} else if to != StateIdle && to != StateHalted && m.c.Context != nil {
		err = m.c.Context.Err()
	}
	if err != nil {
		m.mu.Unlock()
		return err
	}
	m.state = to
	if cb := m.c.OnStateChange; cb != nil {
		m.queue = append(m.queue, func() { cb(from, to) })
	}
	m.mu.Unlock()
	m.tell()
	return nil
}

// Restart begins the next run of the session after a halt: the state is idle,
// and what is known of the session is kept.
func (m *StateMachine) Restart() {
	m.mu.Lock()
	m.state = StateIdle
	m.mu.Unlock()
}
