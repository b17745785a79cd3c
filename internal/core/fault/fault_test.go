package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// SPEC 3.1: one type with category, kind and fields; errors.Is and errors.As
// work through every wrap.
func TestErrorsThroughWraps(t *testing.T) {
	cause := errors.New("boom")
	for _, c := range []struct {
		err       *Error
		category  Category
		kind      error
		retryable bool
	}{
		{NewLLM("empty"), LLM, nil, true},
		{NewProvider("p", 529, "busy", cause), Provider, nil, true},
		{&Error{Category: Tool, Tool: "read", Message: "failed", Err: cause}, Tool, nil, false},
		{NewToolTimeout("bash", time.Second), Tool, ErrToolTimeout, true},
		{&Error{Category: Budget, Message: "spent"}, Budget, nil, false},
		{NewCancellation(cause), Cancellation, nil, false},
		{&Error{Category: Permission, Tool: "bash", Message: "no"}, Permission, nil, false},
		{NewConfiguration("set X", "no key"), Configuration, nil, false},
		{NewInternal(cause, "cannot happen"), Internal, nil, false},
	} {
		wrapped := fmt.Errorf("outer: %w", errors.Join(errors.New("other"), fmt.Errorf("inner: %w", c.err)))
		var e *Error
		if !errors.As(wrapped, &e) || e != c.err {
			t.Errorf("%v is lost in a wrap", c.err)
		}
		if CategoryOf(wrapped) != c.category || Retryable(wrapped) != c.retryable {
			t.Errorf("%v: category %s, retryable %v", c.err, CategoryOf(wrapped), Retryable(wrapped))
		}
		if c.kind != nil && !errors.Is(wrapped, c.kind) {
			t.Errorf("%v is not %v", c.err, c.kind)
		}
		if c.err.Err != nil && !errors.Is(wrapped, cause) {
			t.Errorf("%v lost its cause", c.err)
		}
	}
	if CategoryOf(context.Canceled) != Cancellation || CategoryOf(cause) != Internal {
		t.Error("bare errors have the wrong category")
	}
}

// SPEC 3.2
func TestRetryableStatus(t *testing.T) {
	for status, want := range map[int]bool{
		0: true, 408: true, 409: true, 429: true, 500: true, 502: true, 503: true, 529: true,
		400: false, 401: false, 403: false, 404: false, 413: false, 422: false,
	} {
		if RetryableStatus(status) != want {
			t.Errorf("status %d: %v", status, !want)
		}
	}
}

// The reader is told what happened, to what, and what to do.
func TestMessage(t *testing.T) {
	err := NewConfiguration("set ANTHROPIC_API_KEY", "no key for %s", "anthropic")
	err.Err = errors.New("cause")
	if s := err.Error(); !strings.Contains(s, "no key for anthropic") || !strings.Contains(s, "cause") || !strings.Contains(s, "(set ANTHROPIC_API_KEY)") {
		t.Error(s)
	}
}
