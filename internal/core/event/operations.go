package event

import "errors"

// OpStarted records the start of an operation that has the session to itself and
// is not a turn: a person's command, a compaction, an undo, a change of the model.
// Text is the text of the request.
type OpStarted struct {
	Op   OpName `json:"op"`
	Text string `json:"text,omitempty"`
}

// OpDone ends it: its cause is the OpStarted. Its effects are recorded before it,
// in their own events.
type OpDone struct {
	Op      OpName  `json:"op"`
	Outcome Outcome `json:"outcome"` // ok, nothing, failed, cancelled, unknown
	Error   *Fault  `json:"error,omitempty"`
}

// Err returns why the operation was not done, nil if it was or there was nothing to do.
func (d OpDone) Err() error {
	if d.Error == nil || d.Outcome == OK || d.Outcome == NothingDone {
		return nil
	}
	return errors.New(d.Error.Message)
}
