package event

// OpStarted records that an operation begins which has the session to itself and
// is not a turn: a person's command, a compaction, an undo, another model. Text is what it
// was asked for with.
type OpStarted struct {
	Op   string `json:"op"` // command, compact, model, undo, redo
	Text string `json:"text,omitempty"`
}

// OpDone ends it: its cause is the OpStarted. What came of it stands before, in
// events of its own.
type OpDone struct {
	Op      string  `json:"op"`
	Outcome Outcome `json:"outcome"` // ok, nothing, failed, cancelled, unknown
	Error   *Fault  `json:"error,omitempty"`
}
