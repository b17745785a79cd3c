package brief

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// doing has the words for what a run, or one of its calls, does. The names of the states
// are those of the code and of pawl states.
var doing = map[fsm.State]string{
	lifecycle.Idle:                 "waits for you",
	lifecycle.ProcessingPrompt:     "reads the prompt",
	lifecycle.StreamingResponse:    "the model answers",
	lifecycle.ExecutingTool:        "runs calls",
	lifecycle.AwaitingPermission:   "asks you",
	lifecycle.ErrorRecovery:        "tries again",
	lifecycle.ProgressCheck:        "looks at the results",
	lifecycle.PhaseTransition:      "begins a phase",
	lifecycle.Halted:               "stopped",
	lifecycle.Validating:           "is checked",
	lifecycle.RequestingPermission: "waits for your answer",
	lifecycle.Executing:            "runs",
	lifecycle.ProcessingResult:     "ends",
}

func Doing(s fsm.State) string {
	if words := doing[s]; words != "" {
		return words
	}
	return strings.ReplaceAll(string(s), "_", " ")
}
