package session

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// Phase opens or closes a part of the task (SPEC 7). It may be submitted at any
// time; the model is told before its next request. What is not valid is
// refused, and nothing changes.
type Phase phase.Request

func (op Phase) submit(ctx context.Context, s *Session) (int64, error) {
	return s.tasks.change(ctx, op)
}

// taskPhases handles a person's phases, and tells the model.
type taskPhases struct {
	*state
	ops *operations.Operations
}

func (s *taskPhases) change(ctx context.Context, op Phase) (int64, error) {
	var b event.Phased
	var note string
	var err error
	s.log.View(func() { b, note, err = s.progress.Phases().Judge(phase.Request(op), s.plan) })
	if err != nil || note == "" {
		return s.log.Last(), err
	}
	// The model is told at its next request: no text may be between a reply and
	// its results.
	told := event.Draft{Body: event.Noted{Why: event.NotedPhase, Text: note}}
	running := s.ops.QueueNote(told)
	ds := []event.Draft{{Body: b}}
	if !running {
		ds = append(ds, told)
	}
	return s.ops.RecordAnytime(ctx, ds...)
}

// repeatPlanNote tells the model of a plan file again, after a compaction.
func (s *taskPhases) repeatPlanNote(ctx context.Context) error {
	note := eventlog.Query(s.log, s.progress.Phases().PlanNote)
	if note == "" {
		return nil
	}
	return s.log.Append(ctx, event.Draft{Body: event.Noted{Why: event.NotedPhase, Text: note}})
}

// recordPendingNotes records what the model still must be told, and warns the person, once,
// of a phase that takes too long.
func (s *taskPhases) recordPendingNotes(ctx context.Context) error {
	ds := s.ops.TakeNotes()
	s.log.View(func() {
		if w, ok := s.progress.Phases().Warning(); ok {
			ds = append(ds, event.Draft{Body: w})
		}
	})
	return s.log.Append(ctx, ds...)
}
