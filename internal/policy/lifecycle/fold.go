package lifecycle

import (
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
)

// Violation is an event that would have needed an illegal transition: a defect
// of what recorded it. The state was left as it was.
type Violation struct {
	Seq  int64
	Kind string
	Err  error // *fsm.InvalidTransitionError
}

// maxViolations is how many are kept: the first ones, which the others follow
// from.
const maxViolations = 100

// live is a machine that follows events. The zero value is not ready: of makes
// it so.
type live struct {
	once       sync.Once
	m          *fsm.Machine
	violations []Violation
}

// of returns the machine, made at the first call.
func (l *live) of(t *fsm.Table) *fsm.Machine {
	l.once.Do(func() { l.m = fsm.NewMachine(t) })
	return l.m
}

// check keeps what was illegal.
func (l *live) check(e event.Event, err error) {
	if err != nil && len(l.violations) < maxViolations {
		l.violations = append(l.violations, Violation{Seq: e.Seq, Kind: e.Body.Kind(), Err: err})
	}
}

// meta names the event that led to a transition.
func meta(e event.Event) fsm.Meta {
	return fsm.Meta{"event": e.Body.Kind(), "seq": e.Seq}
}

// question is an open one.
type question struct {
	id    string
	calls []string // that it asks about; none for a question in words
	step  bool     // asked while calls were open
}

// waiting keeps which questions a person has not answered yet. A question that
// was withdrawn, because its calls were cancelled or the turn ended, is no
// longer open: nobody records an answer to it.
type waiting struct {
	questions []question
	open      int // calls without a result
}

// person reports whether a person is waited for.
func (w *waiting) person() bool { return len(w.questions) > 0 }

// apply takes one event.
func (w *waiting) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.CallAsked:
		w.open++
	case event.CallDone:
		w.open = max(0, w.open-1)
		w.questions = slices.DeleteFunc(w.questions, func(q question) bool {
			return slices.Contains(q.calls, b.ID) || q.step && w.open == 0
		})
	case event.Asked:
		q := question{id: b.ID, step: w.open > 0}
		for _, c := range b.Questions {
			q.calls = append(q.calls, c.Call)
		}
		w.questions = append(w.questions, q)
	case event.Answered:
		w.questions = slices.DeleteFunc(w.questions, func(q question) bool { return q.id == b.ID })
	case event.Interrupted:
		w.questions = nil
	case event.Ended:
		w.questions, w.open = nil, 0
	}
}
