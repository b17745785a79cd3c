package lifecycle_test

import (
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// SPEC 2.3, 13.3: a check that pawl runs by itself is a tool at work, and what
// is asked for because of it belongs to the same turn.
func TestCheck(t *testing.T) {
	var a lifecycle.Activity
	var app lifecycle.Application
	for i, b := range []event.Body{
		event.Prompted{Source: event.Person},
		event.Requested{},
		event.Replied{},
		event.Checking{},
		event.Checked{},
		event.Prompted{Source: event.Autofix},
		event.Requested{},
		event.Replied{},
		event.Checking{},
		event.Checked{},
		event.Ended{End: event.EndDone},
	} {
		e := event.Event{Seq: int64(i + 1), Body: b}
		a.Apply(e)
		app.Apply(e)
		if _, ok := b.(event.Checking); ok && app.State() != lifecycle.ToolExecution {
			t.Errorf("while a check runs, the application is in %s", app.State())
		}
	}
	want := []fsm.State{
		lifecycle.Idle, lifecycle.ProcessingPrompt, lifecycle.StreamingResponse, lifecycle.ExecutingTool, lifecycle.ProgressCheck,
		lifecycle.StreamingResponse, lifecycle.ExecutingTool, lifecycle.ProgressCheck, lifecycle.Idle,
	}
	if got := a.Path(); !slices.Equal(got, want) || len(a.Violations()) > 0 || len(app.Violations()) > 0 {
		t.Errorf("%v, %+v, %+v", got, a.Violations(), app.Violations())
	}
}
