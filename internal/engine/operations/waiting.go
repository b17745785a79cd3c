package operations

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
)

// This file handles prompts that wait, and the turns that they begin.

// TakePrompts returns the waiting prompts and empties the queue.
func (o *Operations) TakePrompts() []Prompt {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting := o.queue
	o.queue = nil
	return waiting
}

// HasPrompt reports whether a prompt waits for the turn's end. Checks are then skipped,
// so that the person need not wait for them.
func (o *Operations) HasPrompt() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) > 0
}

// Withdraw takes back a prompt that waits.
func (o *Operations) Withdraw(id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.queue, func(p Prompt) bool { return id != "" && p.ID == id })
	if i < 0 {
		return fault.NewConfiguration("", "the prompt is no longer in the queue")
	}
	o.queue = slices.Delete(o.queue, i, i+1)
	return nil
}

// TurnAfter returns what is closed when a turn is over that began after the event seq or
// is about to begin, nil if there is none.
func (o *Operations) TurnAfter(seq int64) (done <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	began := eventlog.Query(o.log, func() bool { return o.cfg.Fold.prompted > seq })
	switch r := o.running; {
	case r != nil && r.what == turnRuns && (began || !o.ending()):
		return r.done
	case began: // it is over
		over := make(chan struct{})
		close(over)
		return over
	}
	return nil
}

// forgetPrompts drops the waiting prompts, except for those with an ID: their sender
// takes them back with Withdraw, so that no text is lost in between. Callers hold mu.
func (o *Operations) forgetPrompts() {
	if o.closing {
		o.queue = nil
	}
	o.queue = slices.DeleteFunc(o.queue, func(p Prompt) bool { return p.ID == "" })
}
