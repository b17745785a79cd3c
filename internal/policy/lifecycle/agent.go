package lifecycle

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
)

// Agent is the lifecycle of an agent (SPEC 1). Its methods change the state, or
// Apply derives the changes from recorded events; a session uses Apply. The
// zero value is an idle agent. The methods, State, History and Listen are safe
// for concurrent use; Apply and Violations are not.
//
// Derived transitions: a prompt initializes, the first request or question
// starts, an open question pauses, and the end of the turn completes and
// finishes. Ends by an error (failed, configuration, provider) fail instead:
// the agent is in the error state until the next prompt. A turn that was
// stopped by a person, a limit or stuck detection did not fail.
type Agent struct {
	live replayed
	wait waiting
	turn bool
}

func (a *Agent) machine() *fsm.Machine { return a.live.of(&agentTable) }

// State is the state now.
func (a *Agent) State() fsm.State { return a.machine().State() }

// History lists the newest 1,000 transitions, oldest first.
func (a *Agent) History() []fsm.Transition { return a.machine().History() }

// Listen registers a listener; see fsm.Machine. A listener registered after the
// replay of the log only gets live transitions. The session applies events
// under its lock: a listener must not call back into it.
func (a *Agent) Listen(l fsm.Listener, panicked func(any)) (stop func()) {
	return a.machine().Listen(l, panicked)
}

// The source states that the methods require (SPEC 1.2).
var (
	fromIdle       = states{Idle}
	fromInit       = states{Initializing}
	fromRunning    = states{Running}
	fromPaused     = states{Paused}
	fromWork       = states{Running, Paused}
	fromCompleting = states{Completing}
	fromError      = states{Error}
	fromFallible   = states{Initializing, Running, Paused, Completing}
)

// Initialize leads from idle to initializing.
func (a *Agent) Initialize(meta fsm.Meta) error {
	return a.machine().From(fromIdle, Initializing, meta)
}

// Start leads from initializing to running.
func (a *Agent) Start(meta fsm.Meta) error { return a.machine().From(fromInit, Running, meta) }

// Pause leads from running to paused.
func (a *Agent) Pause(meta fsm.Meta) error { return a.machine().From(fromRunning, Paused, meta) }

// Resume leads from paused to running.
func (a *Agent) Resume(meta fsm.Meta) error { return a.machine().From(fromPaused, Running, meta) }

// Complete leads from running or paused to completing.
func (a *Agent) Complete(meta fsm.Meta) error { return a.machine().From(fromWork, Completing, meta) }

// Finish leads from completing to idle.
func (a *Agent) Finish(meta fsm.Meta) error { return a.machine().From(fromCompleting, Idle, meta) }

// Fail leads from initializing, running, paused or completing to error.
func (a *Agent) Fail(meta fsm.Meta) error { return a.machine().From(fromFallible, Error, meta) }

// Recover leads from error to idle.
func (a *Agent) Recover(meta fsm.Meta) error { return a.machine().From(fromError, Idle, meta) }

// Dispose leads from every state to disposed. A second call does nothing.
func (a *Agent) Dispose(meta fsm.Meta) error {
	err := a.machine().To(Disposed, meta)
	if err != nil && a.State() == Disposed {
		return nil
	}
	return err
}

// Violations lists the first 100 events without a legal transition.
func (a *Agent) Violations() []Violation { return slices.Clone(a.live.violations) }

func (a *Agent) Apply(e event.Event) {
	if e.Seq == 0 {
		return
	}
	waited := a.wait.awaitsPerson()
	a.wait.apply(e)
	switch b := e.Body.(type) {
	case event.Prompted:
		if a.turn {
			return // it joins the running turn
		}
		a.turn = true
		if a.State() == Error {
			a.do(e, a.Recover)
		}
		a.do(e, a.Initialize)
	case event.Requested:
		a.start(e)
	case event.Asked:
		a.start(e)
	case event.Ended:
		a.turn = false
		a.end(e, b.End)
		return
	}
	switch waits := a.wait.awaitsPerson(); {
	case waits && !waited:
		a.do(e, a.Pause)
	case !waits && waited:
		a.do(e, a.Resume)
	}
}

func (a *Agent) do(e event.Event, verb func(fsm.Meta) error) {
	a.live.check(e, verb(meta(a.machine(), e)))
}

// start starts the agent unless it is running.
func (a *Agent) start(e event.Event) {
	if s := a.State(); s != Running && s != Paused {
		a.do(e, a.Start)
	}
}

func (a *Agent) end(e event.Event, end event.End) {
	switch end {
	case event.EndFailed, event.EndConfig, event.EndProvider, event.EndRefused:
		a.do(e, a.Fail)
		return
	}
	a.start(e)
	a.do(e, a.Complete)
	a.do(e, a.Finish)
}
