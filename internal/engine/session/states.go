package session

import (
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// State is the agent's state (SPEC 1).
func (s *Session) State() fsm.State { return s.agent.State() }

// Activity is what the session does now (SPEC 2).
func (s *Session) Activity() fsm.State { return s.activity.State() }

// Path is the activities that the running or last run went through, oldest
// first; the last is the one now.
func (s *Session) Path() []fsm.State { return s.activity.Path() }

// machines are the other tables of SPEC 2.4, and how far the run has come. Each
// event costs them the same, however long the session is.
type machines struct {
	calls   lifecycle.Calls
	app     lifecycle.Application
	window  lifecycle.Window
	storage lifecycle.Storage
	pace    pace
}

type machinesFold struct{ s *Session }

// Apply is part of event.Fold.
func (f machinesFold) Apply(e event.Event) { f.s.machines.apply(e, &f.s.conv, f.s.progress) }

func (m *machines) apply(e event.Event, conv *window.Conversation, p *progress.Fold) {
	m.calls.Apply(e)
	m.app.Apply(e)
	m.storage.Apply(e)
	m.window.Set(conv.Percent(), conv.Blocked())
	m.pace.apply(e, p)
}

// States is where every machine of a session is.
type States struct {
	Agent       fsm.State
	Activity    fsm.State
	Path        []fsm.State // of the activity, as Path gives it
	Window      fsm.State
	Application fsm.State
	Storage     fsm.State
	Calls       []lifecycle.CallState // those without a result
	// Violations are events that fitted no legal transition: defects.
	Violations []lifecycle.Violation
}

// States says where every machine is (SPEC 2).
func (s *Session) States() States {
	return eventlog.Look(s.log, func() States {
		m := &s.machines
		return States{
			Agent: s.agent.State(), Activity: s.activity.State(), Path: s.activity.Path(), Window: m.window.State(),
			Application: m.app.State(), Storage: m.storage.State(), Calls: m.calls.Open(),
			Violations: slices.Concat(s.agent.Violations(), s.activity.Violations(), m.calls.Violations(), m.app.Violations(), m.storage.Violations()),
		}
	})
}

// pace counts how far the running turn has come.
type pace struct {
	turn  bool
	began time.Time
	from  progress.Brief // when it began
	calls int
	fails int
	since int // calls since there was something new
	news  int
}

func (p *pace) apply(e event.Event, f *progress.Fold) {
	switch b := e.Body.(type) {
	case event.Prompted:
		if !p.turn {
			*p = pace{turn: true, began: e.Time, from: f.Recent(), news: f.News()}
		}
	case event.Ended:
		p.turn = false
	case event.CallDone:
		p.calls++
		if b.Outcome != event.OK {
			p.fails++
		}
		p.since++
		if n := f.News(); n != p.news {
			p.news, p.since = n, 0
		}
	}
}

// milestones shows how far the turn has come, where it is time to say so
// (SPEC 6.6).
type milestones struct{ s *Session }

// Apply is part of event.Fold: the other folds have counted.
func (milestones) Apply(event.Event) {}

// Comment is part of eventlog.Commenter.
func (m milestones) Comment(e event.Event) (event.Body, bool) {
	s := m.s
	p := &s.machines.pace
	every := s.progress.Config().ProgressCheckInterval
	if _, done := e.Body.(event.CallDone); !done || every <= 0 || p.calls%every != 0 {
		return nil, false
	}
	now, totals := s.progress.Recent(), s.progress.Phases().Totals(e.Time)
	b := event.Progressed{
		Calls: p.calls, Files: len(s.evidence.Report().Files), Tests: now.TestsOK - p.from.TestsOK, Errors: p.fails,
		Since: p.since, PhasesDone: totals.CompletedPhases, PhasesTotal: totals.TotalPhases, Elapsed: e.Time.Sub(p.began),
		Phase: s.progress.Phases().Name(),
	}
	return b, true
}

// Heard is told of a transition; machine is agent or activity.
type Heard func(machine string, from, to fsm.State, meta fsm.Meta)

// Listen tells hear of every transition from now on, and panicked, which may
// be nil, of a panic in it. What was recorded before is not told. It is called
// while an event is recorded: it must be quick, and of the session it may call
// nothing but State, Activity and Path.
func (s *Session) Listen(hear Heard, panicked func(any)) (stop func()) {
	of := func(machine string) fsm.Listener {
		return func(from, to fsm.State, meta fsm.Meta) { hear(machine, from, to, meta) }
	}
	stopAgent := s.agent.Listen(of(lifecycle.AgentTable().Name), panicked)
	stopActivity := s.activity.Listen(of(lifecycle.ActivityTable().Name), panicked)
	return func() {
		stopAgent()
		stopActivity()
	}
}
