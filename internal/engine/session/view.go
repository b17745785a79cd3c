package session

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/memory"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// View answers questions about the present state of a session. A question is no
// operation: it has no start and no end in the log, and its answer is the
// method's result (ADR 016). It changes nothing of the person's, and its
// methods are safe for concurrent use.
type View struct {
	s        *state
	spending *spending.Account
	changes  *changes.Recorder
	hooks    *hooks.Hooks
}

// Changes returns the read access to the changes of files: which there are,
// their contents, and what an Undo of them would do.
func (v *View) Changes() *changes.History { return v.changes.History() }

// Hooks lists a person's hooks that may run.
func (v *View) Hooks() []hook.Rule { return v.hooks.Rules() }

// Code returns the access to language servers, nil if there are none.
func (v *View) Code() tool.Code { return v.s.cfg.Code }

// Symbols finds what the workspace's code declares, nil if nothing does.
func (v *View) Symbols() tool.Symbols { return v.s.cfg.Symbols }

// Outside returns the provider of tools from outside, nil if there is none.
func (v *View) Outside() Outside { return whole(v.s.cfg.Outside) }

// Jobs lists the background commands that run, those of agents as well.
func (v *View) Jobs() []tool.Job {
	if sh, ok := v.s.cfg.Shell.(tool.Jobs); ok {
		return sh.Running()
	}
	return nil
}

// Info is the model in use.
func (v *View) Info() llm.Info { return v.s.info() }

func (v *View) Tools() tool.Set { return v.s.tools() }

func (v *View) Mode() permission.Mode { return v.s.mode() }

// RefusesMode returns why a mode cannot be chosen, nil if it can.
func (v *View) RefusesMode(m permission.Mode) error { return v.s.cfg.Permission.Refuses(m) }

// Rules lists the permission rules in force, a line each.
func (v *View) Rules() []string { return eventlog.Query(v.s.log, v.s.perm.Explain) }

// Grants lists the rules that were granted in this session or for always.
func (v *View) Grants() []string { return eventlog.Query(v.s.log, v.s.perm.Grants) }

// Sandbox is how the commands of this session can be confined.
func (v *View) Sandbox() permission.Sandbox { return v.s.perm.Sandbox() }

// Limits are the hard limits in force: those of the configuration, and what a person
// changed since.
func (v *View) Limits() budget.Limits { return v.spending.Limits() }

// Spent is what the session and its running or last turn spent.
func (v *View) Spent() (session, turn budget.Spent) { return v.spending.Spent() }

// Evidence returns what the log proves about the running or last turn.
func (v *View) Evidence() evidence.Report { return v.s.proof() }

// Plan is the model's plan as it stands.
func (v *View) Plan() []tool.Item {
	return eventlog.Query(v.s.log, func() []tool.Item { return v.s.plan })
}

// Last is the sequence number of the last stored event.
func (v *View) Last() int64 { return v.s.log.Last() }

// Began is the last sequence number before this process opened the session: 0
// for a new one.
func (v *View) Began() int64 { return v.s.log.Began() }

// Route returns how the prompt of the running or last turn was classified; a
// zero one if prompts are not classified.
func (v *View) Route() event.Routed {
	return eventlog.Query(v.s.log, v.s.routing.Current)
}

// Window is what fills the context window.
func (v *View) Window() window.Report { return eventlog.Query(v.s.log, v.s.conv.Report) }

// Urgency returns how urgent a compaction is (SPEC 9.8), and how full the
// window is in percent.
func (v *View) Urgency() (string, float64) {
	p := eventlog.Query(v.s.log, v.s.conv.Percent)
	return window.Urgency(p), p
}

// Memory returns the working and the session tier (SPEC 11.4).
func (v *View) Memory() (w memory.Working, all memory.Session) {
	v.s.log.View(func() { w, all = v.s.memory.Working(), v.s.memory.Session() })
	return w, all
}

// Phases returns which phases there are and how far they are.
func (v *View) Phases() phase.Status {
	return eventlog.Query(v.s.log, v.s.progress.Phases().Status)
}

// State is the agent's state (SPEC 1).
func (v *View) State() fsm.State { return v.s.agent.State() }

// Activity is what the session does now (SPEC 2).
func (v *View) Activity() fsm.State { return v.s.activity.State() }

// Path is the activities that the running or last run went through, oldest
// first; the last is the one now.
func (v *View) Path() []fsm.State { return v.s.activity.Path() }

// States is where every machine is (SPEC 2).
func (v *View) States() States {
	return eventlog.Query(v.s.log, func() States {
		m := &v.s.machines
		return States{
			Agent: v.s.agent.State(), Activity: v.s.activity.State(), Path: v.s.activity.Path(), Window: m.window.State(),
			Application: m.app.State(), Storage: m.storage.State(), Calls: m.calls.Open(),
			Violations: slices.Concat(v.s.agent.Violations(), v.s.activity.Violations(), m.calls.Violations(), m.app.Violations(), m.storage.Violations()),
		}
	})
}

// Listen calls hear for every transition from now on, and panicked, which may
// be nil, for a panic in it. Earlier transitions are not reported. hear is
// called while an event is recorded: it must be fast, and may call only State,
// Activity and Path of the session.
func (v *View) Listen(hear TransitionFunc, panicked func(any)) (stop func()) {
	of := func(machine string) fsm.Listener {
		return func(from, to fsm.State, meta fsm.Meta) { hear(machine, from, to, meta) }
	}
	stopAgent := v.s.agent.Listen(of(lifecycle.AgentTable().Name), panicked)
	stopActivity := v.s.activity.Listen(of(lifecycle.ActivityTable().Name), panicked)
	return func() {
		stopAgent()
		stopActivity()
	}
}
