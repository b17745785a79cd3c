package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// Phase opens or closes a part of the task (SPEC 7). It may be submitted at any
// time; the model is told before its next request. What is not valid is
// refused, and nothing changes.
type Phase struct {
	// Number of the phase to open; 0 is the next one.
	Number int
	// Text says what it is; of the next one it may be empty where the plan
	// knows it.
	Text     string
	Expected time.Duration // 0: not said
	// Close closes the open phase instead; Failed says that it did not succeed.
	Close, Failed bool
	// Plan is a plan file: it opens its first phase. The plan that is in force
	// already changes nothing.
	Plan []event.PhaseStep
}

func (Phase) op() {}

// Phases is what there is of phases. Open is nil where none is.
type Phases struct {
	Open   *phase.Phase
	Done   []phase.Phase // oldest first
	Totals phase.Totals  // at the newest event
	At     time.Time     // of the newest event
	// Plan is the plan file in force; its first phase has the number First.
	Plan  []event.PhaseStep
	First int
}

// taskPhases takes a person's word on phases in, and tells the model.
type taskPhases struct {
	*state
	ops *operations
}

func (s *state) phases() Phases {
	var p Phases
	s.log.View(func() {
		all := s.progress.Phases()
		p = Phases{At: all.At(), Open: all.Open(), Done: all.History(), Totals: all.Totals(all.At())}
		p.Plan, p.First = all.PlanFile()
	})
	return p
}

func (s *taskPhases) phase(ctx context.Context, op Phase) (int64, error) {
	var b event.Phased
	var note string
	var err error
	s.log.View(func() { b, note, err = s.phased(op) })
	if err != nil || note == "" {
		return s.log.Last(), err
	}
	// The model is told at its next request: between a reply and its results
	// there is no place for a word.
	told := event.Draft{Body: event.Noted{Why: "phase", Text: note}}
	running := s.ops.tellLater(told)
	ds := []event.Draft{{Body: b}}
	if !running {
		ds = append(ds, told)
	}
	return s.ops.meanwhile(ctx, ds...)
}

// phased is an operation as it is recorded, and what the model is told. Both
// are empty where nothing changes. Callers hold the lock.
func (s *taskPhases) phased(op Phase) (event.Phased, string, error) {
	b := event.Phased{Number: op.Number, Text: onOneLine(op.Text), Expected: op.Expected, By: "person"}
	refuse := func(format string, args ...any) (event.Phased, string, error) {
		return b, "", fault.NewConfiguration("", format, args...)
	}
	open := s.progress.Phases().Open()
	switch {
	case op.Close && open == nil:
		return refuse("no phase is open")
	case op.Close:
		how := "done"
		if op.Failed {
			how = "given up"
		}
		return event.Phased{Failed: op.Failed, By: "person"}, fmt.Sprintf("[The user says that phase %d is %s: %s]", open.Number, how, open.Description), nil
	case len(op.Plan) > 0:
		return s.planned(op.Plan)
	}
	next, known := s.progress.Phases().Next()
	if b.Number == 0 {
		b.Number = next
		if b.Text == "" && !known {
			return refuse("the plan has no more phases; name the one to open")
		}
	}
	if steps, first := s.progress.Phases().PlanFile(); b.Text == "" && b.Number >= first && b.Number < first+len(steps) {
		step := steps[b.Number-first]
		b.Text = step.Text
		if b.Expected == 0 {
			b.Expected = step.Expected
		}
	}
	for _, item := range s.plan { // the model's own
		if b.Number == next && b.Text == "" && item.Status == "pending" {
			b.Text = onOneLine(item.Text)
		}
	}
	if b.Text == "" {
		return refuse("say what the phase is: nothing is planned that could be the next one")
	}
	if err := s.progress.Phases().Check(b.Number, b.Expected); err != nil {
		return refuse("%v", err)
	}
	return b, fmt.Sprintf("[The user begins phase %d: %s]", b.Number, b.Text), nil
}

// planned is a plan file as it is recorded.
func (s *taskPhases) planned(plan []event.PhaseStep) (event.Phased, string, error) {
	steps := make([]event.PhaseStep, len(plan))
	for i, p := range plan {
		steps[i] = event.PhaseStep{Text: onOneLine(p.Text), Expected: p.Expected}
	}
	if old, _ := s.progress.Phases().PlanFile(); fmt.Sprint(old) == fmt.Sprint(steps) {
		return event.Phased{}, "", nil
	}
	n, _ := s.progress.Phases().Next()
	b := event.Phased{Number: n, Text: steps[0].Text, Expected: steps[0].Expected, By: "plan", Plan: steps}
	if err := s.progress.Phases().Check(n, b.Expected); err != nil {
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

// retell tells the model of a plan file again: a conversation that was made
// shorter may have lost it.
func (s *taskPhases) retell(ctx context.Context) error {
	p := s.phases()
	if len(p.Plan) == 0 {
		return nil
	}
	now := "No phase is open."
	if p.Open != nil {
		now = fmt.Sprintf("Phase %d is open.", p.Open.Number)
	}
	return s.record(ctx, event.Draft{Body: event.Noted{Why: "phase", Text: planNote(p.Plan, p.First, now)}})
}

// onOneLine is a text on one line.
func onOneLine(text string) string {
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
}

// notes records what the model is still to be told, and what a phase that takes
// long has the person told, once.
func (s *taskPhases) notes(ctx context.Context) error {
	ds := s.ops.told()
	s.log.View(func() {
		if w, ok := s.progress.Phases().Warning(); ok {
			ds = append(ds, event.Draft{Body: w})
		}
	})
	return s.record(ctx, ds...)
}
