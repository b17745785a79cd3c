package session

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// This file is about a model and an effort that hold for one turn: those of a command.

// OwnModel reports whether the prompt's turn has a model or an effort of its own.
func (p Prompt) OwnModel() bool { return p.Model != "" || p.Effort != "" }

// openModel opens another model, if the session's limits hold with it.
func (s *state) openModel(ref, effort string) (llm.Model, error) {
	if s.cfg.OpenModel == nil {
		return nil, fmt.Errorf("this session opens no other model")
	}
	m, err := s.cfg.OpenModel(ref, effort)
	if err != nil {
		return nil, err
	}
	return m, s.cfg.Limits.Allow(m.Info())
}

// modelOf opens the model of a prompt that has its own, before the prompt is sent.
func (s *state) modelOf(p Prompt) (llm.Model, error) {
	m, err := s.openModel(cmp.Or(p.Model, s.info().Ref()), cmp.Or(p.Effort, s.cfg.Effort))
	if err != nil {
		return nil, &fault.Error{
			Category: fault.Configuration, Err: err, Message: "the command is not sent, because the model that it asks for cannot be used",
			Hint: "change or remove the model in the command's file; pawl models lists what can be used",
		}
	}
	return m, nil
}

// forTurn gives the turn the model and the effort of its prompt, and tells it in one line.
// back gives the session its own again, whatever the turn used in between.
func (s *Session) forTurn(ctx context.Context, of Prompt) (back func() error, err error) {
	if of.model == nil {
		return func() error { return nil }, nil
	}
	own, effort := s.model, s.cfg.Effort
	change := func(ctx context.Context, m llm.Model, effort string, first ...event.Draft) error {
		s.log.View(func() { s.cfg.Effort = effort })
		return s.switchModel(ctx, m, event.RebasedModel, first...)
	}
	as := func(m llm.Model) string {
		if e := m.Info().Effort; e != "" {
			return m.Info().Ref() + ", effort " + e
		}
		return m.Info().Ref()
	}
	told := event.Warned{What: event.WarnedModel, Text: fmt.Sprintf("the command's turn runs with %s; then the session has %s again", as(of.model), as(own))}
	err = change(ctx, of.model, cmp.Or(of.Effort, effort), event.Draft{Body: told})
	return func() error { return change(context.WithoutCancel(ctx), own, effort) }, err
}
