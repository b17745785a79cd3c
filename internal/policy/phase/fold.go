package phase

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// Fold derives the phases of a session from its events. The zero value is
// ready.
type Fold struct {
	list    List
	highest int            // the highest number so far
	plan    map[string]int // an item of the model's plan: its phase
	// The plan file in force, and the number of the phase before its first.
	steps []event.PhaseStep
	base  int
	at    time.Time // of the newest event: policy has no clock
}

// Apply applies one event. opened reports whether it opened a new phase.
func (f *Fold) Apply(e event.Event) (opened bool) {
	if e.Time.After(f.at) {
		f.at = e.Time
	}
	f.list.changes = nil
	switch b := e.Body.(type) {
	case event.Phased:
		return f.phased(b, e.Time)
	case event.Planned:
		if o := f.list.open; o != nil {
			o.Left = false
		}
		return f.planned(b.Items, e.Time)
	case event.Ended:
		if o := f.list.open; o != nil {
			o.Left = true
		}
	case event.FileChanged:
		f.list.Changed(b.Path)
	case event.Warned:
		if b.What == event.WarnedPhase && f.list.open != nil {
			f.list.open.warned = true
		}
	case event.Blocked:
		if b.By != event.ByStuck && !b.Ran {
			f.list.Blocker("not allowed: " + normalize.OneLine(b.What, 120))
		}
	}
	return false
}

// Changes returns the phases that the last event began and ended, in that order.
func (f *Fold) Changes() []Change { return slices.Clone(f.list.changes) }

// TestPassed records a test run that passed; the caller decides what counts as one.
func (f *Fold) TestPassed() { f.list.TestPassed() }

// Blocker records what blocks the open phase.
func (f *Fold) Blocker(text string) { f.list.Blocker(text) }

// At returns the time of the newest event.
func (f *Fold) At() time.Time { return f.at }

// Totals returns the totals at a time.
func (f *Fold) Totals(now time.Time) Totals { return f.list.Totals(now) }

// Open returns a copy of the open phase, nil if there is none.
func (f *Fold) Open() *Phase { return f.list.Open() }

// Name returns the name of the open phase, "" if none is open.
func (f *Fold) Name() string {
	if f.list.open == nil {
		return ""
	}
	return f.list.open.Description
}

// History lists the completed phases, oldest first.
func (f *Fold) History() []Phase { return f.list.History() }

// Check returns why a phase cannot be opened now, nil if it can.
func (f *Fold) Check(n int, expected time.Duration) error { return f.list.Check(n, expected) }

// Next returns the next number. ok is false if the last phase of the plan file
// was opened.
func (f *Fold) Next() (n int, ok bool) {
	n = f.highest + 1
	return n, len(f.steps) == 0 || n <= f.base+len(f.steps)
}

// PlanFile returns the phases of the plan file in force, and the number of the first one.
func (f *Fold) PlanFile() (steps []event.PhaseStep, first int) {
	return slices.Clone(f.steps), f.base + 1
}

// Warning returns a warning that the open phase takes longer than expected,
// once for each phase. It is for the person and stops nothing.
func (f *Fold) Warning() (event.Warned, bool) {
	o := f.list.open
	if o == nil || o.warned {
		return event.Warned{}, false
	}
	if o.Over(f.at) <= 0 {
		return event.Warned{}, false
	}
	took := f.at.Sub(o.Started).Round(time.Second)
	return event.Warned{What: event.WarnedPhase, Text: fmt.Sprintf("phase %d (%s) takes longer than expected: %v so far, %v were expected",
		o.Number, normalize.OneLine(o.Description, 80), took, o.Expected)}, true
}

// Start opens a phase for a person or a plan file.
func (f *Fold) Start(n int, text string, at time.Time, expected time.Duration) error {
	if err := f.list.Start(n, text, at, expected); err != nil {
		return err
	}
	f.highest = max(f.highest, n)
	if _, ok := f.plan[text]; !ok {
		f.name(text, n) // an item of that name is this phase
	}
	return nil
}

func (f *Fold) name(item string, n int) {
	if f.plan == nil {
		f.plan = map[string]int{}
	}
	if len(f.plan) < planLimit {
		f.plan[item] = n
	}
}

// phased applies a phase that a person or a plan file opens or closes.
func (f *Fold) phased(b event.Phased, at time.Time) (opened bool) {
	if b.Number == 0 {
		f.list.Complete(!b.Failed, at)
		return false
	}
	if f.Start(b.Number, b.Text, at, b.Expected) != nil {
		return false // it was valid when it was recorded; another event came first
	}
	if len(b.Plan) > 0 {
		f.steps, f.base = b.Plan, b.Number-1
		f.list.Expect(b.Number - 1 + len(b.Plan))
	}
	return true
}

// planned applies the model's plan: an item in progress is a phase.
func (f *Fold) planned(items []tool.Item, at time.Time) (opened bool) {
	if len(f.steps) > 0 {
		return f.plannedByFile(items, at)
	}
	f.list.Expect(max(len(items), f.highest))
	for _, it := range items {
		n, known := f.plan[it.Text]
		switch {
		case it.Status == "in_progress" && !known && len(f.plan) < planLimit:
			if f.list.Start(f.highest+1, it.Text, at, 0) == nil {
				f.highest++
				f.name(it.Text, f.highest)
				opened = true
			}
		case it.Status == "done" && known:
			f.complete(n, at)
		}
	}
	return opened
}

// plannedByFile applies the model's plan if a plan file defines the phases: an item
// with the name of a phase is that phase, and other items are steps within a
// phase.
func (f *Fold) plannedByFile(items []tool.Item, at time.Time) (opened bool) {
	for _, it := range items {
		i := slices.IndexFunc(f.steps, func(s event.PhaseStep) bool { return plainName(s.Text) == plainName(it.Text) })
		if i < 0 {
			continue
		}
		n := f.base + 1 + i
		switch it.Status {
		case "in_progress":
			opened = f.Start(n, f.steps[i].Text, at, f.steps[i].Expected) == nil || opened
		case "done":
			f.complete(n, at)
		}
	}
	return opened
}

// complete closes the open phase if it has that number.
func (f *Fold) complete(n int, at time.Time) {
	if o := f.list.open; o != nil && o.Number == n {
		f.list.Complete(true, at)
	}
}

// plainName returns the significant part of a phase's name: letters and digits,
// without its number.
func plainName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(unnumbered(s)) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}
