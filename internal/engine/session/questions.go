package session

import (
	"context"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// questions are those that a person has not answered yet.
type questions struct {
	*state
	mu    sync.Mutex
	open  map[string]chan Answer
	turns chan struct{} // holds a token while a question is open: two at once confuse
	// asked, if set, is told of each question.
	asked func(event.Asked)
}

func (q *questions) answer(a Answer) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	ch, ok := q.open[a.ID]
	if !ok {
		return fault.NewInternal(nil, "no question %s is open", a.ID)
	}
	delete(q.open, a.ID)
	ch <- a
	return nil
}

// ask puts a question to the person and waits. It returns ErrNobody where none
// is there. What an agent asks, the session that started it asks for it.
func (q *questions) ask(ctx context.Context, about event.Asked) (event.Answered, error) {
	if !q.cfg.Person {
		return event.Answered{}, tool.ErrNobody
	}
	about.ID = q.cfg.NewID()
	if up := q.parent(); up != nil {
		return q.pass(ctx, up, about)
	}
	select {
	case q.turns <- struct{}{}:
		defer func() { <-q.turns }()
	case <-ctx.Done():
		return event.Answered{}, context.Cause(ctx)
	}
	ch := make(chan Answer, 1)
	q.mu.Lock()
	q.open[about.ID] = ch
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.open, about.ID)
		q.mu.Unlock()
	}()
	if err := q.record(ctx, event.Draft{Body: about}); err != nil {
		return event.Answered{}, err
	}
	if q.asked != nil {
		q.asked(about)
	}
	select {
	case a := <-ch:
		done := event.Answered{ID: about.ID, Verdicts: a.Verdicts, Text: a.Text}
		return done, q.record(ctx, event.Draft{Body: done})
	case <-ctx.Done():
		return event.Answered{}, context.Cause(ctx)
	}
}

// pass has the parent ask. The own log has both sides as well: time that a person
// takes is not the agent's.
func (q *questions) pass(ctx context.Context, up *Session, about event.Asked) (event.Answered, error) {
	if err := q.record(ctx, event.Draft{Body: about}); err != nil {
		return event.Answered{}, err
	}
	theirs := about
	theirs.From = q.cfg.child.call.Agent
	if about.From != "" {
		theirs.From += ": " + about.From
	}
	a, err := up.questions.ask(ctx, theirs)
	if err != nil {
		return a, err
	}
	a.ID = about.ID
	return a, q.record(ctx, event.Draft{Body: a})
}
