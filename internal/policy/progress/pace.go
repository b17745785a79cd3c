package progress

import (
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Pace counts how far the running turn has come. The zero value is ready.
type Pace struct {
	turn  bool
	began time.Time
	from  Brief // when it began
	calls int
	fails int
	since int // calls since there was something new
	open  int // of a reply that is not judged yet: see Fold
	news  int
}

// Apply counts an event that f was told of before.
func (p *Pace) Apply(e event.Event, f *Fold) {
	switch b := e.Body.(type) {
	case event.Prompted:
		if !p.turn {
			*p = Pace{turn: true, began: e.Time, from: f.Recent(), news: f.News()}
		}
	case event.Ended:
		p.turn = false
	case event.CallDone:
		p.calls++
		if b.Outcome != event.OK {
			p.fails++
		}
		p.open++
		switch n := f.News(); {
		case n != p.news:
			p.news, p.since, p.open = n, 0, 0
		case f.left == 0:
			p.since, p.open = p.since+p.open, 0
		}
	}
}

// Milestone returns how far the turn has come; due reports whether it is time to
// say so after an event (SPEC 6.6). How many files changed is not known here.
func (p *Pace) Milestone(e event.Event, f *Fold) (b event.Progressed, due bool) {
	every := f.Config().ProgressCheckInterval
	if _, done := e.Body.(event.CallDone); !done || every <= 0 || p.calls%every != 0 {
		return event.Progressed{}, false
	}
	now, totals := f.Recent(), f.Phases().Totals(e.Time)
	return event.Progressed{
		Calls: p.calls, Tests: now.TestsOK - p.from.TestsOK, Errors: p.fails,
		Since: p.since, PhasesDone: totals.CompletedPhases, PhasesTotal: totals.TotalPhases, Elapsed: e.Time.Sub(p.began),
		Phase: f.Phases().Name(),
	}, true
}
