package lifecycle

import "github.com/pawl-agent/pawl/internal/core/fsm"

// Idle is the first state of the agent, its activity, a call and the application.
const Idle fsm.State = "idle"

// The states of an agent (SPEC 1.1).
const (
	Initializing fsm.State = "initializing"
	Running      fsm.State = "running"
	Paused       fsm.State = "paused"
	Completing   fsm.State = "completing"
	Error        fsm.State = "error"
	Disposed     fsm.State = "disposed"
)

// The states of a run's activity (SPEC 2.1).
const (
	ProcessingPrompt   fsm.State = "processing_prompt"
	StreamingResponse  fsm.State = "streaming_response"
	ExecutingTool      fsm.State = "executing_tool"
	AwaitingPermission fsm.State = "awaiting_permission"
	ErrorRecovery      fsm.State = "error_recovery"
	ProgressCheck      fsm.State = "progress_check"
	PhaseTransition    fsm.State = "phase_transition"
	Halted             fsm.State = "halted"
)

// The states of a call (SPEC 2.4).
const (
	Validating           fsm.State = "validating"
	RequestingPermission fsm.State = "requesting_permission"
	Executing            fsm.State = "executing"
	ProcessingResult     fsm.State = "processing_result"
	Completed            fsm.State = "completed"
	Failed               fsm.State = "failed"
)

// The states of the context window (SPEC 2.4, 9.2).
const (
	Normal     fsm.State = "normal"
	Moderate   fsm.State = "moderate"
	Aggressive fsm.State = "aggressive"
	Critical   fsm.State = "critical"
	Blocked    fsm.State = "blocked"
)

// The states of the application (SPEC 2.4).
const (
	UserInput     fsm.State = "user_input"
	ModelRequest  fsm.State = "model_request"
	ToolExecution fsm.State = "tool_execution"
)

// The states of a session's storage (SPEC 2.4).
const (
	NoSession fsm.State = "no_session"
	Active    fsm.State = "active"
	Saving    fsm.State = "saving"
	Saved     fsm.State = "saved"
)

type states = []fsm.State

var agentTable = fsm.Table{
	Name:   "agent",
	Doc:    "The life of an agent. paused: it waits for a person.",
	States: []fsm.State{Idle, Initializing, Running, Paused, Completing, Error, Disposed},
	Legal: map[fsm.State][]fsm.State{
		Idle:         states{Initializing, Disposed},
		Initializing: states{Running, Error, Disposed},
		Running:      states{Paused, Completing, Error, Disposed},
		Paused:       states{Running, Completing, Error, Disposed},
		Completing:   states{Idle, Error, Disposed},
		Error:        states{Idle, Disposed},
	},
}

// The second part of a row is missing in the source document's table (SPEC 2.1).
var activityTable = fsm.Table{
	Name: "activity",
	Doc:  "What a run is doing. halted ends the run, not the session: the next prompt starts a new run.",
	States: []fsm.State{
		Idle, ProcessingPrompt, StreamingResponse, ExecutingTool, AwaitingPermission,
		ErrorRecovery, ProgressCheck, PhaseTransition, Halted,
	},
	Legal: map[fsm.State][]fsm.State{
		Idle: states{ProcessingPrompt, PhaseTransition, Halted},
		ProcessingPrompt: states{
			StreamingResponse, ErrorRecovery, Halted,
			Idle, AwaitingPermission,
		},
		StreamingResponse: states{ExecutingTool, AwaitingPermission, ProgressCheck, Idle, ErrorRecovery, Halted},
		ExecutingTool: states{
			StreamingResponse, ProgressCheck, ErrorRecovery, Halted,
			Idle, AwaitingPermission,
		},
		AwaitingPermission: states{
			StreamingResponse, ExecutingTool, Idle, Halted,
			ProcessingPrompt, ProgressCheck, ErrorRecovery,
		},
		ErrorRecovery: states{
			StreamingResponse, ExecutingTool, ProgressCheck, Idle, Halted,
			AwaitingPermission,
		},
		PhaseTransition: states{ProcessingPrompt, ProgressCheck, PhaseTransition, Idle, Halted},
		ProgressCheck: states{
			StreamingResponse, ExecutingTool, PhaseTransition, ErrorRecovery, Idle, Halted,
			AwaitingPermission,
		},
	},
}

var callTable = fsm.Table{
	Name:   "call",
	Doc:    "One tool call, from the model's request to its only result.",
	States: []fsm.State{Idle, Validating, RequestingPermission, Executing, ProcessingResult, Completed, Failed},
	Legal: map[fsm.State][]fsm.State{
		Idle:                 states{Validating},
		Validating:           states{RequestingPermission, Executing, Failed},
		RequestingPermission: states{Executing, Failed},
		Executing:            states{ProcessingResult, Failed},
		ProcessingResult:     states{Completed},
		Failed:               states{Completed},
	},
}

// Upwards the window passes each tier; downwards it may skip tiers, since a
// compaction may free more than one.
var windowTable = fsm.Table{
	Name:   "window",
	Doc:    "How full the context window is. The limits are 70, 85 and 95 %. blocked: critical, and compaction did not help.",
	States: []fsm.State{Normal, Moderate, Aggressive, Critical, Blocked},
	Legal: map[fsm.State][]fsm.State{
		Normal:     states{Moderate},
		Moderate:   states{Aggressive, Normal},
		Aggressive: states{Critical, Moderate, Normal},
		Critical:   states{Blocked, Aggressive, Moderate, Normal},
		Blocked:    states{Critical, Aggressive, Moderate, Normal},
	},
}

var applicationTable = fsm.Table{
	Name:   "application",
	Doc:    "What an interrupt would stop: input, a model request, or running tools.",
	States: []fsm.State{Idle, UserInput, ModelRequest, ToolExecution},
	Legal: map[fsm.State][]fsm.State{
		Idle:          states{UserInput, ModelRequest},
		UserInput:     states{Idle},
		ModelRequest:  states{ToolExecution, Idle},
		ToolExecution: states{ModelRequest, Idle},
	},
}

var sessionTable = fsm.Table{
	Name:   "session",
	Doc:    "Whether the session is stored. Every event is stored before it is shown.",
	States: []fsm.State{NoSession, Active, Saving, Saved},
	Legal: map[fsm.State][]fsm.State{
		NoSession: states{Active},
		Active:    states{Saving},
		Saving:    states{Saved, Active},
		Saved:     states{Saving},
	},
}

// AgentTable is the table of SPEC 1.1.
func AgentTable() *fsm.Table { return &agentTable }

// ActivityTable is the table of SPEC 2.1.
func ActivityTable() *fsm.Table { return &activityTable }

// Tables lists every table of pawl, in the order to show them. Callers must not
// change them.
func Tables() []*fsm.Table {
	return []*fsm.Table{&agentTable, &activityTable, &callTable, &windowTable, &applicationTable, &sessionTable}
}
