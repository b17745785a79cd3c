package phase

import (
	"fmt"
	"slices"
	"time"
)

// Phase is a part of a task (SPEC 7).
type Phase struct {
	Number      int
	Description string
	Started     time.Time
	Ended       time.Time     // zero while it is open
	Expected    time.Duration // 0: not given
	Success     bool
	// Left: the turn that worked on it is over.
	Left bool
	// ByNext: it ended because the next one began.
	ByNext   bool
	Files    []string // changed in it
	TestsOK  int
	Blockers []string

	warned bool // that it takes longer than expected
}

// Over returns by how much the phase exceeds its expected duration: 0 if it
// does not, or if none was given. It is reported and stops nothing.
func (p *Phase) Over(now time.Time) time.Duration {
	if p.Expected <= 0 {
		return 0
	}
	if !p.Ended.IsZero() {
		now = p.Ended
	}
	return max(0, now.Sub(p.Started)-p.Expected)
}

// Totals are over all phases.
type Totals struct {
	CompletedPhases, TotalPhases int
	Files                        int // changed, each file once
	TestsOK                      int
	Elapsed                      time.Duration
}

// Limits: of the history, of each phase's lists, of the files over all phases,
// of the names of plan items.
const (
	phaseLimit = 1000
	filesLimit = 10_000
	planLimit  = 10_000
)

// List maintains the phases of a task. The zero value is ready.
type List struct {
	total   int
	open    *Phase
	history []Phase
	done    int // completed, including those dropped from the history
	tests   int
	files   map[string]struct{}
	started time.Time
	changes []Change
}

// Change is a phase that began or ended.
type Change struct {
	Phase
	Ended bool
}

// Expect sets the expected number of phases; 0: not known.
func (p *List) Expect(total int) { p.total = max(0, total) }

// Start opens a phase. It completes an open phase with a lower number. A number
// that is open, was completed, or is lower than the open one is refused, and
// nothing changes.
func (p *List) Start(n int, description string, at time.Time, expected time.Duration) error {
	if err := p.Check(n, expected); err != nil {
		return err
	}
	if p.open != nil {
		p.close(true, true, at)
	}
	if p.started.IsZero() {
		p.started = at
	}
	p.open = &Phase{Number: n, Description: description, Started: at, Expected: expected}
	p.total = max(p.total, n)
	p.changes = append(p.changes, Change{Phase: *p.open})
	return nil
}

// Check returns why a phase cannot be opened now, nil if it can.
func (p *List) Check(n int, expected time.Duration) error {
	switch {
	case n < 1:
		return fmt.Errorf("there is no phase %d: phases count from 1", n)
	case expected < 0:
		return fmt.Errorf("phase %d: %v is not a valid time", n, expected)
	case p.open != nil && p.open.Number == n:
		return fmt.Errorf("phase %d is open already", n)
	case p.open != nil && p.open.Number > n:
		return fmt.Errorf("phase %d cannot follow phase %d", n, p.open.Number)
	case slices.ContainsFunc(p.history, func(h Phase) bool { return h.Number == n }):
		return fmt.Errorf("phase %d was completed", n)
	}
	return nil
}

// Complete closes the open phase, if there is one.
func (p *List) Complete(success bool, at time.Time) {
	if p.open != nil {
		p.close(success, false, at)
	}
}

func (p *List) close(success, next bool, at time.Time) {
	p.open.Success, p.open.ByNext, p.open.Ended = success, next, at
	p.changes = append(p.changes, Change{Phase: copyPhase(*p.open), Ended: true})
	if len(p.history) == phaseLimit {
		p.history = slices.Delete(p.history, 0, 1)
	}
	p.history = append(p.history, *p.open)
	p.open = nil
	p.done++
}

// Changed records a changed file.
func (p *List) Changed(path string) {
	if p.files == nil {
		p.files = map[string]struct{}{}
	}
	if len(p.files) < filesLimit {
		p.files[path] = struct{}{}
	}
	if p.open != nil && len(p.open.Files) < phaseLimit && !slices.Contains(p.open.Files, path) {
		p.open.Files = append(p.open.Files, path)
	}
}

func (p *List) TestPassed() {
	p.tests++
	if p.open != nil {
		p.open.TestsOK++
	}
}

// Blocker records what blocks the open phase.
func (p *List) Blocker(text string) {
	if p.open != nil && len(p.open.Blockers) < phaseLimit && !slices.Contains(p.open.Blockers, text) {
		p.open.Blockers = append(p.open.Blockers, text)
	}
}

// Open returns a copy of the open phase, nil if there is none.
func (p *List) Open() *Phase {
	if p.open == nil {
		return nil
	}
	c := copyPhase(*p.open)
	return &c
}

// History lists the completed phases, oldest first, the newest 1,000.
func (p *List) History() []Phase {
	out := make([]Phase, len(p.history))
	for i, h := range p.history {
		out[i] = copyPhase(h)
	}
	return out
}

func copyPhase(p Phase) Phase {
	p.Files, p.Blockers = slices.Clone(p.Files), slices.Clone(p.Blockers)
	return p
}

// Totals returns the totals at a time.
func (p *List) Totals(now time.Time) Totals {
	t := Totals{CompletedPhases: p.done, TotalPhases: p.total, Files: len(p.files), TestsOK: p.tests}
	if !p.started.IsZero() {
		t.Elapsed = max(0, now.Sub(p.started))
	}
	return t
}
