package session

import (
	"slices"

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

// compose makes the parts of a session that act on its log, each from parts that are
// made before it. It records nothing.
func compose(st *state) *Session {
	cfg, agent := st.cfg, st.cfg.child.agent
	ops := operations.New(operations.Config{Session: cfg.ID, Log: st.log, Fold: &st.operation, CatchUp: st.catchUp})
	recorder := changes.New(st.log, &st.changeFold, changes.Config{
		Session: cfg.ID, Dir: cfg.Dir, Store: cfg.Store, Files: cfg.Files, Shell: cfg.Shell, Journal: cfg.Journal, Kept: cfg.Kept,
		Locks: cfg.Locks, Agent: agent != nil, ReadOnly: cfg.ReadOnly, Now: cfg.Now, CatchUp: st.catchUp, Exclusive: ops.Exclusive,
	})
	person := questions.New(questions.Config{
		Person: cfg.Person, NewID: cfg.NewID, Log: st.log, Parent: cfg.child.questions, Agent: cfg.child.kind(),
	})
	account := spending.New(spending.Config{
		Session: cfg.ID, Limits: cfg.Limits, Parent: cfg.Parent, Person: cfg.Person && agent == nil, Timeout: cfg.Timeout,
		Now: cfg.Now, Sleep: cfg.Sleep, Log: st.log, Meter: &st.meter, Ask: person.Ask,
	})
	beside := &side.Requests{Model: st.inUse, Spending: account, Log: st.log}
	hook := hooks.New(hooks.Config{
		Runner: cfg.Hooks, Session: cfg.ID, Dir: cfg.Dir, Child: agent != nil, Kind: cfg.child.kind(), Source: startOf(st.log.Began() > 0),
		Files: func() (own, others []string) { return slices.Concat(cfg.hooksOf, st.hooksOfTurn()), cfg.hooksUnder },
		Over:  func() []string { return eventlog.Query(st.log, func() []string { return st.hooksFold.Over }) },
		Mode:  st.mode, Log: st.log, Around: recorder.Around, Side: beside,
	})
	win := &contextWindow{st, beside}
	cache := answers.New(answers.Config{
		Store: cfg.Answers, Prefer: cfg.Prefer, Tools: cfg.Tools, Files: cfg.Files, Masked: turn.Results{Mask: cfg.Mask.String}.Masked, Now: cfg.Now,
		Log: st.log, Fold: &st.answered, Model: func() string { return st.info().Ref() }, Limit: func() int { return window.Bytes(win.resultCap()) },
	})
	router := &routing.Router{
		Route: cfg.Route, Person: cfg.Person, Log: st.log, Fold: &st.routing, Model: st.info, Mode: st.mode, Side: beside, Answers: cache,
	}
	rights := &permission.Rights{
		Log: st.log, Policy: st.perm, Keep: cfg.Keep, Route: router.GrantRight,
		Parent: cfg.child.rights, ReadOnly: agent != nil && agent.ReadOnly,
	}
	agents := children.New(children.Config{
		Session: cfg.ID, Store: cfg.Store, Log: st.log, Fold: &st.childFold, NewID: cfg.NewID,
		Parent: &parent{state: st, ops: ops, questions: person, rights: rights, spending: account}, Turn: ops,
	})
	calls := &abilities{state: st, changes: recorder, children: agents, questions: person, side: beside, window: win, rights: rights}
	return &Session{
		state: st, ops: ops, questions: person, rights: rights, children: agents,
		spending: account, side: beside, window: win, router: router, tasks: &taskPhases{st, ops}, answers: cache,
		changes: recorder, hooks: hook, abilities: calls,
		diagnosed: &diagnosed.Stage{Watch: cfg.CodeWatch, Syntax: cfg.Syntax, Store: cfg.Store, Log: st.log, Fold: &st.diagnoses, QueueNote: ops.QueueNote},
		consent: permission.New(permission.Config{
			Rights: rights, Person: cfg.Person, Files: cfg.Files, Env: calls.env, Drafts: st.drafts,
			Unrestorable: recorder.Unrestorable, Ask: person.Ask, Hooks: hook.PermissionRequest, Mask: cfg.Mask.String, Spill: st.spill,
		}),
	}
}
