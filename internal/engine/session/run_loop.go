package session

import (
	"context"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/engine/verify"
)

// runLoop runs the turn's loop again until the prompt's goal is reached, the checks
// pass or give up, no hook wants the turn to go on, and the answer has its form.
func (s *Session) runLoop(ctx context.Context, of Prompt) (end event.End, err error) {
	back, err := s.forTurn(ctx, of)
	if err != nil {
		return event.EndFailed, err
	}
	defer func() { err = errors.Join(err, back()) }()
	if err := s.refreshTools(ctx); err != nil {
		return turn.EndOf(err)
	}
	loop := s.loop()
	var fix verify.Verifier
	if s.cfg.Autofix != nil {
		fix = s.cfg.Autofix()
	}
	said := func() string { return eventlog.Query(s.log, s.said.Text) }
	t := verify.New(verify.Config{
		Tools: s.cfg.Tools, Shell: s.cfg.Shell != nil, Files: s.cfg.Files, Env: s.abilities.env, Person: s.cfg.Person,
		Evidence: s.proof, Log: s.log, Content: s.cfg.Store.Get, Spill: s.spill, Now: s.cfg.Now, RemainingErrors: s.diagnosed.RemainingErrors, LastReply: said,
	}, loop)
	defer s.children.Stop(operations.Interrupted("the turn's end"))
	if err := s.runLines(ctx, loop, of.Lines); err != nil {
		return turn.EndOf(err)
	}
	for round := 0; ; {
		end, err := loop.Run(ctx)
		if end == event.EndDone && err == nil && s.children.MustContinue(ctx) {
			continue
		}
		if end != event.EndDone || err != nil || s.ops.HasPrompt() {
			return end, err
		}
		prompt, source := "", event.Autofix
		if of.Until != nil {
			prompt, err = of.Until.Next(ctx, t)
		}
		if prompt == "" && err == nil && fix != nil && len(s.proof().Changed()) > 0 {
			prompt, err = fix.Next(ctx, t)
		}
		if prompt == "" && err == nil {
			source = event.Hook
			if prompt, err = s.hooks.Stop(ctx, said(), round); prompt != "" {
				round++
			}
		}
		if prompt == "" && err == nil && of.Answer != nil {
			source = event.Form
			prompt, err = of.Answer.Next(ctx, t)
		}
		switch {
		case ctx.Err() != nil:
			return turn.EndOf(context.Cause(ctx))
		case err != nil:
			return turn.EndOf(err)
		case prompt == "":
			return end, nil
		}
		if err := s.log.Append(ctx, s.promptDrafts(Prompt{Source: source, Text: prompt})...); err != nil {
			return event.EndFailed, err
		}
	}
}
