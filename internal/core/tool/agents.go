package tool

import "context"

// Agents runs agents: child sessions that work on a part of the task. At any
// moment an agent has at most the rights of the session that started it. Its
// changes of files and its checks count for that session.
type Agents interface {
	// Run runs an agent to its end. With Agent.Report set, it returns as soon as
	// the agent runs; the session's turn then waits for the agent.
	Run(ctx context.Context, a Agent) (AgentRun, error)
}

// Agent describes an agent and its task.
type Agent struct {
	Kind   string // its name
	Title  string
	Prompt string
	About  string // the instructions of its kind
	// Tools are the tools that it may use, also by other agents' names; nil: all.
	Tools []string
	// Not are tools that it may not use, by pawl's names: all of a family, and all of an
	// MCP server.
	Not      []string
	ReadOnly bool    // it may change nothing
	Isolated bool    // it works in a working tree of its own
	Model    string  // "": the session's model
	Effort   string  // of reasoning; "": the session's
	USD      float64 // the most that it may cost; 0: what the session has left
	Steps    int     // the most replies of its model; 0: no limit of its own
	// Hooks are the files of the folder whose hooks hold for it.
	Hooks []string
	// Servers is the file whose MCP servers only it has, "" for none.
	Servers string
	// Report, if set, makes it run in the background. It returns the text that
	// reports the result to the session's model.
	Report func(AgentRun) string
}

// AgentRun is the result of an agent.
type AgentRun struct {
	Session string // the agent's session
	End     string // as event.End; "" while it runs
	Error   string // why it failed
	Reply   string // the last words of its model
	Calls   int
	USD     *float64 // nil: not known
	Files   []string // that it changed
	Branch  string   // of the working tree of its own in which its files are
	Notes   []string // which parts of Agent could not be honored
}
