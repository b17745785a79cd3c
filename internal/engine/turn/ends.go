package turn

import (
	"cmp"
	"errors"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// maxCut is how many replies in a row may be cut at the output limit.
const maxCut = 3

// maxPaused is how often in a row a provider may ask for the same conversation
// again: without a limit this could be a loop (SPEC 3.4).
const maxPaused = 16

var errPaused = fault.NewLLM("the model paused its reply %d times in a row and did not continue", maxPaused+1)

var errCut = fault.NewLLM("the model's replies were cut at the output limit %d times in a row", maxCut+1)

// errRefused is the kind of the error when the model refuses.
var errRefused = errors.New("the model refused to answer")

func refused(r llm.Reply) error {
	why := r.Refusal
	why = cmp.Or(why, "it gave no reason")
	return &fault.Error{Category: fault.LLM, Kind: errRefused, Message: "the model refused to answer: " + why, Hint: "rephrase the request or use another model"}
}

// keyRefused reports whether a provider rejected the key: no retry and no other
// model helps, a person must set one. Google answers 400.
func keyRefused(err error) bool {
	e := (*fault.Error)(nil)
	if !errors.As(err, &e) || e.Category != fault.Provider {
		return false
	}
	switch e.Status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return true
	case http.StatusBadRequest:
		said := strings.ToLower(e.Message)
		return strings.Contains(said, "api key") || strings.Contains(said, "api_key")
	}
	return false
}

// EndOf returns the end for an error (SPEC 3.3).
func EndOf(err error) (event.End, error) {
	steps, judged := (*budget.StepsError)(nil), (*decidedError)(nil)
	switch {
	case err == nil:
		return event.EndDone, nil
	case errors.As(err, &judged):
		return judged.end, judged.why
	case errors.As(err, &steps):
		return event.EndTurns, err
	case errors.Is(err, errRefused):
		return event.EndRefused, err
	case errors.Is(err, errSpiral):
		return event.EndStuck, err
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
		if keyRefused(err) {
			return event.EndConfig, err
		}
		return event.EndProvider, err
	case fault.Permission:
		return event.EndPermission, err
	}
	return event.EndFailed, err
}
