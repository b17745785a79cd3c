package phase

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Request is a person's request to open or to close a phase (SPEC 7).
type Request struct {
	// Number of the phase to open; 0 is the next one.
	Number int
	// Text describes the phase. For the next phase of a plan it may be empty: the
	// plan has its text.
	Text     string
	Expected time.Duration // 0: not known
	// Close closes the open phase instead; Failed: it did not succeed.
	Close, Failed bool
	// Plan is a plan file, whose first phase is opened. If this plan is already in
	// force, nothing changes.
	Plan []event.PhaseStep
}

// Status is the open phase, nil for none, the earlier phases, and the plan.
type Status struct {
	Open   *Phase
	Done   []Phase   // oldest first
	Totals Totals    // at the newest event
	At     time.Time // of the newest event
	// Plan is the plan file in force; its first phase has the number First.
	Plan  []event.PhaseStep
	First int
}

// Status returns the present status of the phases.
func (f *Fold) Status() Status {
	s := Status{At: f.At(), Open: f.Open(), Done: f.History(), Totals: f.Totals(f.At())}
	s.Plan, s.First = f.PlanFile()
	return s
}

// Judge returns a request as it is recorded, and what the model is told; items are
// the model's own plan. told is empty if nothing changes. A request that is not
// valid is refused.
func (f *Fold) Judge(w Request, items []tool.Item) (_ event.Phased, told string, _ error) {
	b := event.Phased{Number: w.Number, Text: onOneLine(w.Text), Expected: w.Expected, By: event.AuthorPerson}
	refuse := func(format string, args ...any) (event.Phased, string, error) {
		return b, "", fault.NewConfiguration("", format, args...)
	}
	open := f.Open()
	switch {
	case w.Close && open == nil:
		return refuse("no phase is open")
	case w.Close:
		how := "done"
		if w.Failed {
			how = "given up"
		}
		return event.Phased{Failed: w.Failed, By: event.AuthorPerson}, fmt.Sprintf("[The user says that phase %d is %s: %s]", open.Number, how, open.Description), nil
	case len(w.Plan) > 0:
		return f.planFileEvent(w.Plan)
	}
	next, known := f.Next()
	if b.Number == 0 {
		b.Number = next
		if b.Text == "" && !known {
			return refuse("the plan has no more phases; name the one to open")
		}
	}
	if steps, first := f.PlanFile(); b.Text == "" && b.Number >= first && b.Number < first+len(steps) {
		step := steps[b.Number-first]
		b.Text = step.Text
		b.Expected = cmp.Or(b.Expected, step.Expected)
	}
	for _, item := range items { // the model's own
		if b.Number == next && b.Text == "" && item.Status == "pending" {
			b.Text = onOneLine(item.Text)
		}
	}
	if b.Text == "" {
		return refuse("name the phase: the plan has no next one")
	}
	if err := f.Check(b.Number, b.Expected); err != nil {
		return refuse("%v", err)
	}
	return b, fmt.Sprintf("[The user begins phase %d: %s]", b.Number, b.Text), nil
}

func (f *Fold) planFileEvent(plan []event.PhaseStep) (event.Phased, string, error) {
	steps := make([]event.PhaseStep, len(plan))
	for i, p := range plan {
		steps[i] = event.PhaseStep{Text: onOneLine(p.Text), Expected: p.Expected}
	}
	if old, _ := f.PlanFile(); fmt.Sprint(old) == fmt.Sprint(steps) {
		return event.Phased{}, "", nil
	}
	n, _ := f.Next()
	b := event.Phased{Number: n, Text: steps[0].Text, Expected: steps[0].Expected, By: event.AuthorPlan, Plan: steps}
	if err := f.Check(n, b.Expected); err != nil {
		return b, "", fault.NewConfiguration("", "%v", err)
	}
	return b, planNote(steps, n, fmt.Sprintf("Phase %d is open.", n)), nil
}

// planNote tells the model a plan file.
func planNote(steps []event.PhaseStep, first int, open string) string {
	var list strings.Builder
	for i, p := range steps {
		fmt.Fprintf(&list, "\n%d. %s", first+i, p.Text)
	}
	return "[The task has these phases, in this order:" + list.String() + "\n" + open + " To go on to another, give todo an item that is named like it and set it to in_progress; set it to done when it is done. Other items are steps within the open phase.]"
}

// PlanNote returns a note to the model about the plan file, "" without one, for after a
// compaction.
func (f *Fold) PlanNote() string {
	s := f.Status()
	if len(s.Plan) == 0 {
		return ""
	}
	now := "No phase is open."
	if s.Open != nil {
		now = fmt.Sprintf("Phase %d is open.", s.Open.Number)
	}
	return planNote(s.Plan, s.First, now)
}

// onOneLine is a text on one line.
func onOneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
}
