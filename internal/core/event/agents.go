package event

// This file has what the log of a session says of its agents: child sessions,
// each with a log of its own, that work on a part of its task.

// ParentCall is the call of another session that a session was made for.
type ParentCall struct {
	Session string `json:"session"`
	Call    string `json:"call"`
	Agent   string `json:"agent,omitempty"` // the kind of agent
}

// ChildEvent names an event in a child session's log.
type ChildEvent struct {
	Session string `json:"session"`
	Seq     int64  `json:"seq"`
	Call    string `json:"call,omitempty"` // in that log, that ran then; "" for none
}

// AgentStarted says that a call has a child session work for it.
type AgentStarted struct {
	Call  string `json:"call"`
	Child string `json:"child"` // its session
	Agent string `json:"agent"` // the kind
	Title string `json:"title,omitempty"`
	// Background: the call does not wait for it.
	Background bool `json:"background,omitempty"`
}

// AgentCalled is a call of a child session that ran something. It counts for
// the evidence of the session that started the agent. Done.ID is Child.Call.
type AgentCalled struct {
	Call  string     `json:"call"`
	Child ChildEvent `json:"child"`
	Done  CallDone   `json:"done"`
}

// AgentEnded says how a child session's run ended: the last that this log has
// of it.
type AgentEnded struct {
	Call  string `json:"call"`
	Child string `json:"child"`
	End   End    `json:"end"`
	Calls int    `json:"calls"`
	Error *Fault `json:"error,omitempty"`
}
