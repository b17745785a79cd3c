package session

import (
	"context"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// This file is plan mode where a person is there: the model is told what is expected,
// its plan is kept as a document, and a person edits, approves or rejects it.

// WritePlan replaces the plan by the person's own text.
type WritePlan struct{ Text string }

// DecidePlan approves the plan, or rejects it. Approved, it becomes the phases of the
// task in the given permission mode, and a turn begins that carries it out. Rejected
// with a reason, that is a prompt.
type DecidePlan struct {
	Approve bool
	Mode    string
	Why     string
	// Shown, if set, is the plan that the person was asked about. It is refused if that is
	// another one now, or was decided elsewhere: the first answer counts.
	Shown string
}

// Proposal is the plan as a document.
func (v *View) Proposal() phase.Proposal {
	return eventlog.Query(v.s.log, func() phase.Proposal { return v.s.planning.Proposal })
}

// planNotes returns what the model must be told of plan mode with a person's prompt.
func (s *state) planNotes() []event.Draft {
	if !s.cfg.Person || s.cfg.child.agent != nil {
		return nil
	}
	in := s.mode().ReadsOnly()
	text := eventlog.Query(s.log, func() string { return s.planning.Note(in) })
	if text == "" {
		return nil
	}
	return []event.Draft{{Body: event.Noted{Why: event.NotedPlan, Text: text}}}
}

// keepPlan records the plan that a turn in plan mode ended with.
func (s *Session) keepPlan(ctx context.Context) error {
	if !s.cfg.Person || s.cfg.child.agent != nil || !s.mode().ReadsOnly() {
		return nil
	}
	text, ok := phase.Proposed(eventlog.Query(s.log, s.said.Text))
	if !ok || text == s.View().Proposal().Text {
		return nil
	}
	return s.log.Append(ctx, event.Draft{Body: event.PlanWritten{Text: text, By: event.AuthorModel}})
}

func (op WritePlan) submit(ctx context.Context, s *Session) (int64, error) {
	text := strings.TrimSpace(strings.ToValidUTF8(op.Text, "\uFFFD"))
	if text == "" {
		return 0, fault.NewConfiguration("/plan reject rejects it", "an empty text is not a plan")
	}
	if _, err := (phase.Proposal{Text: text}).Steps(); err != nil {
		return 0, fault.NewConfiguration("write a heading \"## Phase 1: …\" for each phase, or a numbered list", "the plan cannot be used: %v", err)
	}
	return s.ops.RecordAnytime(ctx, event.Draft{Body: event.PlanWritten{Text: text + "\n", By: event.AuthorPerson}})
}

func (op DecidePlan) submit(ctx context.Context, s *Session) (int64, error) {
	p := s.View().Proposal()
	if p.Text == "" {
		return 0, fault.NewConfiguration("/plan TASK asks the model to write one", "there is no plan")
	}
	if op.Shown != "" && (op.Shown != p.Text || !p.Undecided) {
		return 0, fault.NewConfiguration("look at it again", "the plan was changed or decided meanwhile")
	}
	if !op.Approve {
		n, err := s.ops.RecordAnytime(ctx, event.Draft{Body: event.PlanDecided{Why: op.Why}})
		if err != nil || op.Why == "" {
			return n, err
		}
		return Prompt{Text: op.Why}.submit(ctx, s)
	}
	mode, err := s.modeOf(op.Mode)
	if err != nil {
		return 0, err
	}
	if mode.ReadsOnly() {
		return 0, fault.NewConfiguration("", "the mode %s only reads; choose another one", mode)
	}
	steps, err := p.Steps()
	if err != nil {
		return 0, fault.NewConfiguration("", "the plan cannot be used: %v", err)
	}
	ds := []event.Draft{{Body: event.PlanDecided{Approved: true, Why: op.Why}}, {Body: event.ModeSet{Mode: string(mode)}}}
	if _, err := s.ops.RecordAnytime(ctx, ds...); err != nil {
		return 0, err
	}
	if _, err := (Phase{Plan: steps}).submit(ctx, s); err != nil {
		return 0, err
	}
	text := "Implement the plan, phase by phase. It is approved."
	if p.By == event.AuthorPerson {
		text = "Implement the plan, phase by phase. It is approved as I edited it:\n\n" + strings.TrimSpace(p.Text)
	}
	if op.Why != "" {
		text += "\n\n" + op.Why
	}
	return Prompt{Text: text}.submit(ctx, s)
}
