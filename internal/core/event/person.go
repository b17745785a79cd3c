package event

// This file has what a person sets, asks and decides beside prompts and answers.

// LimitSet records that a person set a hard limit by themselves, also where there was
// none. To is in the limit's own unit; 0 is none.
type LimitSet struct {
	What string  `json:"what"` // as in Warned
	To   float64 `json:"to"`
}

// AsideAsked records a person's question beside the conversation: it is answered
// with the conversation in view, and neither it nor its answer becomes a part of it.
type AsideAsked struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// AsideAnswered is the answer to the AsideAsked with that id, or why there is none.
type AsideAnswered struct {
	ID    string   `json:"id"`
	Text  string   `json:"text,omitempty"`
	Cost  *float64 `json:"cost,omitempty"` // in USD; nil: not known
	Error *Fault   `json:"error,omitempty"`
}

// PlanWritten is the plan of the task as a Markdown document, as the model wrote it in
// plan mode or as a person edited it. The newest one holds.
type PlanWritten struct {
	Text string `json:"text"`
	By   Author `json:"by"`
}

// PlanDecided is what a person said of the plan: approved, or rejected.
type PlanDecided struct {
	Approved bool   `json:"approved"`
	Why      string `json:"why,omitempty"`
}

// RemoteAct records that a person is about to do something from a browser that is paired:
// who, by the name of their device, and what, such as prompt or answer.
type RemoteAct struct {
	Device string `json:"device"`
	What   string `json:"what"`
}
