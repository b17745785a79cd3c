package session

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/diagnosed"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/questions"
	"github.com/pawl-agent/pawl/internal/engine/routing"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// compose opens the log with its folds, and makes the parts of the session that
// act on it. It records nothing.
func (s *Session) compose(ctx context.Context) (err error) {
	cfg, agent := s.cfg, s.cfg.child.agent
	s.questions = questions.New(questions.Config{
		Person: cfg.Person, NewID: cfg.NewID, Record: s.record, Asked: func(a event.Asked) { s.hooks.Asked(a) }, Parent: cfg.child.questions, Agent: cfg.child.kind(),
	})
	s.spending = spending.New(spending.Config{
		Session: cfg.ID, Limits: cfg.Limits, Parent: cfg.Parent, Person: cfg.Person && agent == nil, Timeout: cfg.Timeout,
		Now: cfg.Now, Sleep: cfg.Sleep, Record: s.record, Ask: s.questions.Ask,
	})
	s.answers = answers.New(answers.Config{
		Store: cfg.Answers, Prefer: cfg.Prefer, Tools: cfg.Tools, Files: cfg.Files, Masked: turn.Results{Mask: cfg.Mask.String}.Masked, Now: cfg.Now, Record: s.record,
		Model: func() string { return s.info().Ref() }, Limit: func() int { return window.Bytes(s.window.resultCap()) },
	})
	if s.log, err = eventlog.Open(ctx, eventlog.Config{
		Store: cfg.Store, Session: cfg.ID, Mask: cfg.Mask, Now: cfg.Now, Lost: s.machines.storage.Lost, Snapshots: snapshots(cfg),
	}, allFolds(s.state, s.spending, s.answers)...); err != nil {
		return err
	}
	s.spending.Use(s.log)
	s.answers.Use(s.log)
	s.ops = operations.New(operations.Config{
		Session: cfg.ID, Log: s.log, Fold: &s.operation, Record: s.record, CatchUp: s.catchUp, Cause: &s.cause,
		Turn: func(r *operations.Run) { s.turn(r, Prompt{}) },
	})
	s.side = &side.Requests{Model: s.inUse, Spending: s.spending, Record: s.record}
	s.router = routing.New(routing.Config{
		Route: cfg.Route, Person: cfg.Person, Log: s.log, Fold: &s.routing, Record: s.record, Running: s.ops.Context,
		Model: s.info, Mode: s.mode, Side: s.side, Answers: s.answers,
	})
	s.rights = &permission.Rights{
		Log: s.log, Policy: s.perm, Record: s.record, Keep: cfg.Keep, Route: s.router.GrantRight,
		Parent: cfg.child.rights, ReadOnly: agent != nil && agent.ReadOnly,
	}
	s.window = &contextWindow{s.state, s.side}
	s.tasks = &taskPhases{s.state, s.ops}
	s.changes = changes.New(s.log, &s.changeFold, changes.Config{
		Session: cfg.ID, Dir: cfg.Dir, Store: cfg.Store, Files: cfg.Files, Shell: cfg.Shell, Journal: cfg.Journal, Kept: cfg.Kept,
		Locks: cfg.Locks, Agent: agent != nil, ReadOnly: cfg.ReadOnly, Now: cfg.Now, Record: s.record, CatchUp: s.catchUp, Exclusive: s.ops.Exclusive,
	})
	s.hooks = hooks.New(hooks.Config{
		Runner: cfg.Hooks, Session: cfg.ID, Dir: cfg.Dir, Child: agent != nil, Source: startOf(s.log.Began() > 0),
		Mode: func() string { return string(s.mode()) }, Record: s.record, Around: s.changes.Around,
	})
	s.diagnosed = &diagnosed.Stage{Watch: cfg.CodeWatch, Syntax: cfg.Syntax, Store: cfg.Store, Log: s.log, Fold: &s.diagnoses, Record: s.record, QueueNote: s.ops.QueueNote}
	s.consent = permission.New(permission.Config{
		Rights: s.rights, Person: cfg.Person, Files: cfg.Files, Env: s.env, Drafts: s.drafts,
		Unrestorable: s.changes.Unrestorable, Ask: s.questions.Ask, Hooks: s.hooks.PermissionRequest, Mask: cfg.Mask.String, Spill: s.spill,
	})
	s.children = children.New(children.Config{
		Session: cfg.ID, Store: cfg.Store, Log: s.log, Fold: &s.childFold, Now: cfg.Now, NewID: cfg.NewID, Record: s.record,
		Inherit: s.lend, OpenModel: s.openAllowed, Open: s.openChild,
		Turn: children.Turn{Context: s.ops.Context, QueueNote: s.ops.QueueNote, HasNote: s.ops.HasNote, Waiting: s.ops.HasPrompt, Queued: s.ops.Queued()},
	})
	return nil
}
