package session_test

import (
	"context"
	"iter"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/session/sessiontest"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// racing is an owner whose answer to an operation and whose event of it are on their way
// at the same time.
type racing struct {
	event.Store
	id     string
	last   int64
	events chan event.Event
}

func (r *racing) Events(ctx context.Context, _ int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for {
			select {
			case e := <-r.events:
				if !yield(e, nil) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

func (r *racing) Submit(ctx context.Context, _ session.Op) (int64, error) {
	es, err := r.Append(ctx, r.id, r.last, event.Draft{Body: event.Noted{Text: "done"}})
	if err != nil {
		return 0, err
	}
	r.last = es[0].Seq
	r.events <- es[0]
	return r.last, nil
}

func (r *racing) PlanUndo(context.Context, undo.Selector) (undo.Plan, error) {
	return undo.Plan{}, undo.ErrNothing
}

// What was submitted to an owner is here when Submit returns, and it does return,
// whichever of the two comes first.
//
// SPEC 18.1
func TestSubmitToOwner(t *testing.T) {
	cfg := sessiontest.Config(t, t.TempDir(), llmtest.New(), nil)
	o := &racing{Store: cfg.Store, id: cfg.ID, events: make(chan event.Event)}
	must.Do(t, sessiontest.Open(t, cfg).Close())
	cfg.Owner = o
	s := sessiontest.Open(t, cfg)
	o.last = s.View().Last()
	for range 5_000 {
		at := must.Get(s.Submit(t.Context(), session.Interrupt{}))(t)
		if last := s.View().Last(); last < at {
			t.Fatalf("event %d is not here, the last one is %d", at, last)
		}
	}
}
