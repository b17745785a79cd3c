package session

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
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

type machinesFold struct{ s *state }

// Apply implements event.Fold.
func (f machinesFold) Apply(e event.Event) { f.s.machines.apply(e, &f.s.conv, f.s.progress) }

// Root implements eventlog.Rooted.
func (f machinesFold) Root() any { return &f.s.machines }

func (m *machines) apply(e event.Event, conv *window.Conversation, p *progress.Fold) {
	m.calls.Apply(e)
	m.app.Apply(e)
	m.storage.Apply(e)
	m.window.Set(conv.Percent(), conv.Blocked())
	m.pace.Apply(e, p)
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
type milestones struct{ s *state }

// Apply implements event.Fold: the other folds have counted.
func (milestones) Apply(event.Event) {}

// Root implements eventlog.Rooted.
func (milestones) Root() any { return nil }

// Comment implements eventlog.Commenter.
func (m milestones) Comment(e event.Event) (event.Body, bool) {
	b, due := m.s.machines.pace.Milestone(e, m.s.progress)
	if !due {
		return nil, false
	}
	b.Files = len(m.s.evidence.Report().Files)
	return b, true
}

// TransitionFunc is called for a transition of a state machine; machine is agent or
// activity.
type TransitionFunc func(machine string, from, to fsm.State, meta fsm.Meta)
