// Package fault is the one error type of pawl: what went wrong, its category, and
// whether a retry makes sense.
//
// A caller branches on Category, on Retryable, or on one of the sentinels below
// with errors.Is; errors.As to *Error works through every wrap. Message is what
// happened, and to what; Hint is what to do. Messages contain no secrets: code
// that builds one from a provider's answer masks it first.
package fault

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Category is the layer that an error belongs to.
type Category string

// The categories of SPEC 3.1.
const (
	LLM           Category = "llm"
	Provider      Category = "provider"
	Tool          Category = "tool"
	Budget        Category = "budget"
	Cancellation  Category = "cancellation"
	Permission    Category = "permission"
	Configuration Category = "configuration"
	Internal      Category = "internal"
)

// Sentinels that callers branch on. They are matched with errors.Is against
// an *Error that carries them as its Kind.
var (
	ErrToolTimeout   = errors.New("tool timed out")
	ErrContextLength = errors.New("context length exceeded")
	ErrStalled       = errors.New("stream stalled")
	ErrInterrupted   = errors.New("interrupted")
	ErrTimeout       = errors.New("time limit reached")
	ErrBusy          = errors.New("something else runs")
)

// Error is an error with what the loop needs to act on it (SPEC 3.3).
type Error struct {
	Category  Category
	Kind      error // a sentinel above, or nil
	Retryable bool  // of this instance, not of the category

	Message string // what happened, to what
	Hint    string // what to do; may be empty

	Provider   string        // provider errors: which
	Status     int           // provider errors: the HTTP status, 0 when there was none
	RetryAfter time.Duration // how long the provider asked to wait, 0 when it did not ask
	Tool       string        // tool and permission errors: which

	Details map[string]string
	Err     error // the cause
}

// Error returns message, cause and hint on one line.
func (e *Error) Error() string {
	s := e.Message
	if e.Err != nil {
		if s != "" {
			s += ": "
		}
		s += e.Err.Error()
	}
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

// Unwrap returns the sentinel and the cause.
func (e *Error) Unwrap() []error {
	var out []error
	if e.Kind != nil {
		out = append(out, e.Kind)
	}
	if e.Err != nil {
		out = append(out, e.Err)
	}
	return out
}

// NewLLM returns the error for an empty or malformed reply of a model: retryable.
func NewLLM(format string, args ...any) *Error {
	return &Error{Category: LLM, Retryable: true, Message: fmt.Sprintf(format, args...)}
}

// NewProvider returns the error for an answer with an HTTP status, or for a
// network failure with status 0. Retryable follows SPEC 3.2 from the status alone;
// a caller that knows better sets it.
func NewProvider(provider string, status int, message string, cause error) *Error {
	return &Error{
		Category: Provider, Provider: provider, Status: status, Message: message, Err: cause,
		Retryable: RetryableStatus(status),
	}
}

// RetryableStatus reports whether a retry makes sense after this HTTP status
// (0: no answer came).
func RetryableStatus(status int) bool {
	switch status {
	case 0, 408, 409, 429:
		return true
	}
	return status >= 500
}

// NewToolTimeout returns the error for a tool that was stopped at its time limit:
// a narrower call may succeed.
func NewToolTimeout(tool string, after time.Duration) *Error {
	return &Error{
		Category: Tool, Kind: ErrToolTimeout, Tool: tool, Retryable: true,
		Message: fmt.Sprintf("%s was stopped after %s", tool, after),
	}
}

// NewCancellation returns the error for an abort by a person or the system.
func NewCancellation(cause error) *Error {
	return &Error{Category: Cancellation, Message: "cancelled", Err: cause}
}

// NewConfiguration returns the error for a setting that is missing or wrong; hint
// is what to set.
func NewConfiguration(hint, format string, args ...any) *Error {
	return &Error{Category: Configuration, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// NewInternal returns the error for a state that should be impossible.
func NewInternal(cause error, format string, args ...any) *Error {
	return &Error{Category: Internal, Message: fmt.Sprintf(format, args...), Err: cause}
}

// CategoryOf returns the category of the outermost *Error in err; a bare
// context.Canceled or DeadlineExceeded is a cancellation, all else internal.
func CategoryOf(err error) Category {
	if e := (*Error)(nil); errors.As(err, &e) {
		return e.Category
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Cancellation
	}
	return Internal
}

// Retryable reports whether a retry makes sense after err.
func Retryable(err error) bool {
	e := (*Error)(nil)
	return errors.As(err, &e) && e.Retryable
}
