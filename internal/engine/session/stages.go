package session

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// stages lists everything that happens around a request and around a call, in order.
func (s *Session) stages(tools tool.Set) turn.Stages {
	seen, consent := &seenGate{s: s}, s.consent.Gate()
	return turn.Stages{
		Before: append([]turn.Before{
			s.waitForResources,
			orEnd(s.recordRuleNotes),          // the project's rules that the conversation lacks
			orEnd(s.window.recordHints),       // how full the window is; how the tools are used
			orEnd(s.warnUnseen),               // which media it does not see
			orEnd(s.tasks.recordPendingNotes), // what the model is still to be told
			orEnd(s.paused),
			s.hooks.Before,
			s.escalate, // whether the run makes progress: the last stage
		}, s.cfg.Stages.Before...),
		// The order of SPEC 4.3.
		Gates: append([]turn.Gate{
			turn.Exists{Tools: tools, Late: s.lateTool},
			turn.Arguments{Env: s.abilities.env},
			turn.Repeated{},
			&stuckGate{s: s},
			s.spending,
			windowGate{s: s},
			hooks.Gate{Hooks: s.hooks, Env: s.abilities.env}, // what they change is judged by those that follow
			seen,
			permission.Inherited{Rights: s.rights}, // what a person allowed the session that started this one
			consent,
		}, s.cfg.Stages.Gates...),
		// The journal's snapshot comes last, after everything that may refuse the call.
		Start: append(append([]turn.Starter{seen, consent, holdSecrets{s}}, s.cfg.Stages.Start...), s.changes),
		After: append([]turn.After{s.changes, s.hooks, s.diagnosed, consent}, s.cfg.Stages.After...),
	}
}

// orEnd returns a stage before a request that ends the turn only if it fails.
func orEnd(do func(context.Context) error) turn.Before {
	return func(ctx context.Context) (event.End, error) {
		if err := do(ctx); err != nil {
			return turn.EndOf(err)
		}
		return "", nil
	}
}

// loop puts together the loop of one turn.
func (s *Session) loop() *turn.Loop {
	model := s.inUse()
	tools := s.tools().For(model.Info())
	return &turn.Loop{
		Model: model, Tools: tools, Stages: s.stages(tools), Env: s.abilities.runEnv, Locks: s.cfg.Locks, Compaction: compaction{s}, Requests: requests{s},
		Retry: turn.Retry{
			For: s.cfg.RetryFor, TimeLeft: s.spending.TimeLeft, Longer: s.waitLonger, Fallback: s.fallbackChain(model), Jitter: s.cfg.Jitter,
		},
		Log:     countingLog{s.log, s},
		Results: s.results(),
		Clock:   turn.Clock{Now: s.cfg.Now, Sleep: s.cfg.Sleep},

		Interrupted: s.cfg.child.interrupted,
	}
}
