package lifecycle

import (
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
)

// Violation is an event that would need an illegal transition: a bug in the
// code that recorded it. The state was not changed.
type Violation struct {
	Seq  int64
	Kind string
	Err  error // *fsm.InvalidTransitionError
}

// maxViolations is how many are kept: the first ones, which cause the others.
const maxViolations = 100

// replayed is a machine that follows events. Its method of initializes the zero value.
type replayed struct {
	once       sync.Once
	m          *fsm.Machine
	violations []Violation
}

// of returns the machine, made at the first call. One that was read from a
// snapshot is there already.
func (l *replayed) of(t *fsm.Table) *fsm.Machine {
	l.once.Do(func() {
		if l.m == nil {
			l.m = fsm.NewMachine(t)
		}
	})
	return l.m
}

// check records an illegal transition.
func (l *replayed) check(e event.Event, err error) {
	if err != nil && len(l.violations) < maxViolations {
		l.violations = append(l.violations, Violation{Seq: e.Seq, Kind: e.Body.Kind(), Err: err})
	}
}

// meta describes the event that leads to a transition of m. While a log is
// replayed nobody listens.
func meta(m *fsm.Machine, e event.Event) fsm.Meta {
	if !m.HasListeners() {
		return nil
	}
	return fsm.Meta{"event": e.Body.Kind(), "seq": e.Seq}
}

// question is an open question.
type question struct {
	id    string
	calls []string // that it asks about; none for a question in words
	step  bool     // asked while calls were open
}

// waiting tracks the questions that a person has not answered yet. A question
// is withdrawn when its calls were cancelled or the turn ended; no answer to it
// is recorded.
type waiting struct {
	questions []question
	open      int // calls without a result
}

// awaitsPerson reports whether an answer of a person is awaited.
func (w *waiting) awaitsPerson() bool { return len(w.questions) > 0 }

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
