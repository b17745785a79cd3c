package session

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// machines are the other tables of SPEC 2.4, and how far the run has come. Each
// event costs them the same, however long the session is.
type machines struct {
	calls   lifecycle.Calls
	app     lifecycle.Application
	window  lifecycle.Window
	storage lifecycle.Storage
	pace    progress.Pace
}

// machinesFold folds the machines. It reads two other folds.
type machinesFold struct {
	*machines
	conv     *window.Conversation
	progress *progress.Fold
}

func (f *machinesFold) Reads() []event.Fold { return []event.Fold{f.conv, f.progress} }

func (f *machinesFold) Root() any { return f.machines }

func (f *machinesFold) Apply(e event.Event) {
	f.calls.Apply(e)
	f.app.Apply(e)
	f.storage.Apply(e)
	f.window.Set(f.conv.Percent(), f.conv.Blocked())
	f.pace.Apply(e, f.progress)
}

// States is where every machine of a session is.
type States struct {
	Agent       fsm.State
	Activity    fsm.State
	Path        []fsm.State // of the activity, as Path returns it
	Window      fsm.State
	Application fsm.State
	Storage     fsm.State
	Calls       []lifecycle.CallState // those without a result
	// Violations are events that fitted no legal transition: defects.
	Violations []lifecycle.Violation
}

// milestones shows how far the turn has come, where it is time to say so
// (SPEC 6.6).
type milestones struct {
	pace     *progress.Pace
	progress *progress.Fold
	evidence *evidence.Fold
}

// Apply implements event.Fold: the other folds have counted.
func (milestones) Apply(event.Event) {}

func (milestones) Root() any { return nil }

func (m milestones) Comment(e event.Event) (event.Body, bool) {
	b, due := m.pace.Milestone(e, m.progress)
	if !due {
		return nil, false
	}
	b.Files = len(m.evidence.Report().Files)
	return b, true
}

// TransitionFunc is called for a transition of a state machine; machine is agent or
// activity.
type TransitionFunc func(machine string, from, to fsm.State, meta fsm.Meta)
