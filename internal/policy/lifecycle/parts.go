package lifecycle

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
)

// Window is how full the context window is (SPEC 2.4, 9.2). The zero value is
// normal.
type Window struct{ live replayed }

func (w *Window) machine() *fsm.Machine { return w.live.of(&windowTable) }

// State is the state now.
func (w *Window) State() fsm.State { return w.machine().State() }

// History lists the newest 1,000 transitions, oldest first.
func (w *Window) History() []fsm.Transition { return w.machine().History() }

// Set sets how full the window is, in percent, and whether compaction and its
// fallback were tried without success: only then does critical become blocked
// (SPEC 4.2). It returns the state.
func (w *Window) Set(percent float64, exhausted bool) fsm.State {
	target := Tier(percent)
	if target == Critical && exhausted {
		target = Blocked
	}
	tiers := windowTable.States
	for {
		now := w.State()
		at, want := slices.Index(tiers, now), slices.Index(tiers, target)
		step := target
		switch {
		case at == want:
			return now
		case at < want:
			step = tiers[at+1] // every tier on the way up is passed
		}
		if err := w.machine().To(step, fsm.Meta{"percent": percent}); err != nil {
			return w.State() // the table has every step of this loop: a test checks all pairs
		}
	}
}

// Tier returns the tier of a percentage: normal < 70 ≤ moderate < 85 ≤
// aggressive < 95 ≤ critical.
func Tier(percent float64) fsm.State {
	switch {
	case percent < 70:
		return Normal
	case percent < 85:
		return Moderate
	case percent < 95:
		return Aggressive
	}
	return Critical
}

// Application is what an interrupt would stop (SPEC 2.4): between turns a
// person's input, in a turn a request or tools. The zero value is idle.
type Application struct {
	live replayed
	turn bool
}

func (a *Application) machine() *fsm.Machine { return a.live.of(&applicationTable) }

// State is the state now.
func (a *Application) State() fsm.State { return a.machine().State() }

// Violations lists the first 100 events without a legal transition.
func (a *Application) Violations() []Violation { return slices.Clone(a.live.violations) }

func (a *Application) Apply(e event.Event) {
	if e.Seq == 0 {
		return
	}
	switch e.Body.(type) {
	case event.Opened, event.Resumed:
		a.move(e, UserInput)
	case event.Prompted:
		if !a.turn {
			a.turn = true
			a.move(e, Idle)
		}
	case event.Requested:
		a.move(e, ModelRequest)
	case event.CallStarted, event.Checking:
		a.move(e, ToolExecution)
	case event.Ended:
		a.turn = false
		a.move(e, Idle)
		a.move(e, UserInput)
	}
}

func (a *Application) move(e event.Event, target fsm.State) {
	if target != a.State() {
		a.live.check(e, a.machine().To(target, meta(a.machine(), e)))
	}
}

// Storage is whether a session is stored (SPEC 2.4). The zero value is
// no_session. An event exists only once it is stored: each one leads through
// saving to saved.
type Storage struct{ live replayed }

func (s *Storage) machine() *fsm.Machine { return s.live.of(&sessionTable) }

// State is the state now.
func (s *Storage) State() fsm.State { return s.machine().State() }

// Violations lists the first 100 events without a legal transition.
func (s *Storage) Violations() []Violation { return slices.Clone(s.live.violations) }

func (s *Storage) Apply(e event.Event) {
	if e.Seq == 0 {
		return
	}
	if s.State() == NoSession {
		s.live.check(e, s.machine().To(Active, meta(s.machine(), e)))
	}
	s.live.check(e, s.machine().To(Saving, nil))
	s.live.check(e, s.machine().To(Saved, nil))
}

// Lost reports that events could not be stored: the session is active, and the
// last events are not stored.
func (s *Storage) Lost() {
	m := s.machine()
	for _, next := range []fsm.State{Saving, Active} {
		if m.To(next, nil) != nil {
			return // no session yet: there is nothing to lose
		}
	}
}
