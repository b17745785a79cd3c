package turn

import (
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// maxCut is how many replies in a row may be cut at the output limit.
const maxCut = 3

var errCut = fault.NewLLM("the model's replies were cut at the output limit %d times in a row", maxCut+1)

func refused(r llm.Reply) error {
	why := r.Refusal
	if why == "" {
		why = "it gave no reason"
	}
	return &fault.Error{Category: fault.LLM, Message: "the model refused to answer: " + why, Hint: "rephrase the request or use another model"}
}

// ended names the end that an error leads to (SPEC 3.3).
func ended(err error) (event.End, error) {
	steps := (*budget.StepsError)(nil)
	switch {
	case err == nil:
		return event.EndDone, nil
	case errors.As(err, &steps):
		return event.EndTurns, err
	case errors.Is(err, fault.ErrTimeout):
		return event.EndTimeout, err
	}
	switch fault.CategoryOf(err) {
	case fault.Cancellation:
		return event.EndInterrupted, err
	case fault.Budget:
		return event.EndBudget, err
	case fault.Configuration:
		return event.EndConfig, err
	case fault.Provider, fault.LLM:
		return event.EndProvider, err
	case fault.Permission:
		return event.EndPermission, err
	}
	return event.EndFailed, err
}
