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
	mu   sync.Mutex
	open map[string]chan Answer
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
// is there.
func (q *questions) ask(ctx context.Context, about event.Asked) (event.Answered, error) {
	if !q.cfg.Person {
		return event.Answered{}, tool.ErrNobody
	}
	about.ID = q.cfg.NewID()
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
	select {
	case a := <-ch:
		done := event.Answered{ID: about.ID, Verdicts: a.Verdicts, Text: a.Text}
		return done, q.record(ctx, event.Draft{Body: done})
	case <-ctx.Done():
		return event.Answered{}, context.Cause(ctx)
	}
}
