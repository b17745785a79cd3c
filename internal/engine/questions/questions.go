// Package questions asks the person of a session.
//
// It promises that one question is open at a time, and that the question and its answer
// are recorded. An agent's question reaches the person through the session that started
// it (SPEC 14.1). If no person is there, Ask returns tool.ErrNobody.
package questions

import (
	"context"
	"errors"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Config is the configuration of a session's questions.
type Config struct {
	Person bool // somebody is there to answer
	NewID  func() string
	Log    event.Appender
	// Parent asks the questions of an agent, whose kind is Agent. nil: the session asks
	// by itself.
	Parent *Questions
	Agent  string
}

// Questions are the questions of one session. It is safe for concurrent use.
type Questions struct {
	cfg    Config
	asking chan struct{} // holds a token while a question is open: two open questions confuse a person

	mu   sync.Mutex
	open map[string]chan event.Answered
}

func New(cfg Config) *Questions {
	return &Questions{cfg: cfg, asking: make(chan struct{}, 1), open: map[string]chan event.Answered{}}
}

// Answer answers the open question with this id.
func (q *Questions) Answer(a event.Answered) error {
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

// Ask puts a question to the person and waits.
func (q *Questions) Ask(ctx context.Context, about event.Asked) (event.Answered, error) {
	if !q.cfg.Person {
		return event.Answered{}, tool.ErrNobody
	}
	about.ID = q.cfg.NewID()
	if q.cfg.Parent != nil {
		return q.askParent(ctx, about)
	}
	select {
	case q.asking <- struct{}{}:
		defer func() { <-q.asking }()
	case <-ctx.Done():
		return event.Answered{}, context.Cause(ctx)
	}
	ch := make(chan event.Answered, 1)
	q.mu.Lock()
	q.open[about.ID] = ch
	q.mu.Unlock()
	defer func() {
		q.mu.Lock()
		delete(q.open, about.ID)
		q.mu.Unlock()
	}()
	if err := q.cfg.Log.Append(ctx, event.Draft{Body: about}); err != nil {
		return event.Answered{}, err
	}
	select {
	case a := <-ch:
		return a, q.cfg.Log.Append(ctx, event.Draft{Body: a})
	case <-ctx.Done():
		return event.Answered{}, q.unanswered(ctx, about.ID)
	}
}

// unanswered returns why a question that was shown got no answer. One that is no longer
// needed, while the session goes on, is recorded as answered, so that nobody is shown it
// any more.
func (q *Questions) unanswered(ctx context.Context, id string) error {
	why := context.Cause(ctx)
	if !errors.Is(why, process.ErrWithdrawn) {
		return why
	}
	return errors.Join(why, q.cfg.Log.Append(context.WithoutCancel(ctx), event.Draft{Body: event.Answered{ID: id, Text: why.Error()}}))
}

// askParent lets the parent ask. The question and the answer are in the agent's own log too,
// so that the person's time is not counted as the agent's.
func (q *Questions) askParent(ctx context.Context, about event.Asked) (event.Answered, error) {
	if err := q.cfg.Log.Append(ctx, event.Draft{Body: about}); err != nil {
		return event.Answered{}, err
	}
	theirs := about
	theirs.From = q.cfg.Agent
	if about.From != "" {
		theirs.From += ": " + about.From
	}
	a, err := q.cfg.Parent.Ask(ctx, theirs)
	switch {
	case ctx.Err() != nil:
		return a, q.unanswered(ctx, about.ID)
	case err != nil:
		return a, err
	}
	a.ID = about.ID
	return a, q.cfg.Log.Append(ctx, event.Draft{Body: a})
}
