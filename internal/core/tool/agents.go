package tool

import (
	"context"
	"time"
)

// Agents runs agents: sessions of their own that work on a part of the task.
// None has more rights than the session that starts it, at any moment, and what
// they do to files, and prove, counts for that session.
type Agents interface {
	// Run runs an agent to its end. Where Agent.Told is set, it returns once the
	// agent runs, and the session's turn does not end before the agent.
	Run(ctx context.Context, a Agent) (AgentRun, error)
}

// Agent is what an agent is, and what it is to do.
type Agent struct {
	Kind   string // its name
	Title  string
	Prompt string
	About  string // what it is told of its kind
	// Tools names those that it may use, as other agents call them too; nil: all.
	Tools    []string
	ReadOnly bool    // it may change nothing
	Model    string  // "": that of the session
	USD      float64 // what it may cost, 0: what the session has left
	// Told, if set, has it run in the background: it words what came of it, for
	// the session's model.
	Told func(AgentRun) string
}

// AgentRun is what came of an agent.
type AgentRun struct {
	Session string // its own
	End     string // as event.End; "" while it runs
	Error   string // why it did not end well
	Reply   string // the last words of its model
	Calls   int
	USD     *float64 // nil: not known
	Files   []string // that it changed
	Notes   []string // what of Agent could not be kept to
	Took    time.Duration
}
