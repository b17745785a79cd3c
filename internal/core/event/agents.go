package event

// This file has the events by which a session's log records its agents: child
// sessions with their own logs that work on a part of its task.

// ParentCall is the call of a parent session that started a child session.
type ParentCall struct {
	Session string `json:"session"`
	Call    string `json:"call"`
	Agent   string `json:"agent,omitempty"` // the kind of agent
}

// ChildEvent names an event in a child session's log.
type ChildEvent struct {
	Session string `json:"session"`
	Seq     int64  `json:"seq"`
	Call    string `json:"call,omitempty"` // the call in that log that ran then; "" for none
}

// AgentStarted records that a call started a child session.
type AgentStarted struct {
	Call  string `json:"call"`
	Child string `json:"child"` // the child session
	Agent string `json:"agent"` // the kind
	Title string `json:"title,omitempty"`
	// Background: the call does not wait for it.
	Background bool `json:"background,omitempty"`
	// Isolated: it works in a working tree of its own.
	Isolated bool `json:"isolated,omitempty"`
}

// AgentTree is the working tree of git of an agent that has one of its own.
type AgentTree struct {
	Dir    string `json:"dir"`
	Branch string `json:"branch"`
}

// AgentCalled is a call of a child session that ran something. It counts as
// evidence for the session that started the agent. Done.ID is Child.Call.
type AgentCalled struct {
	Call  string     `json:"call"`
	Child ChildEvent `json:"child"`
	Done  CallDone   `json:"done"`
}

// AgentEnded records how a child session's run ended. It is the last event of
// the run in this log.
type AgentEnded struct {
	Call  string `json:"call"`
	Child string `json:"child"`
	End   End    `json:"end"`
	Calls int    `json:"calls"`
	Error *Fault `json:"error,omitempty"`
	// Tree is its own working tree, if there is something in it.
	Tree *AgentTree `json:"tree,omitempty"`
}
