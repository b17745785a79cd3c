package chat

import (
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// Interrupts is what an interrupt key means at any moment, and what it cancels
// (SPEC 10.3). The zero value is ready; all may be called from anywhere, since
// the key is a signal where a terminal knows no better.
type Interrupts struct {
	mu     sync.Mutex
	policy lifecycle.InterruptPolicy
	cancel func(by string) // what runs; nil: nothing does
}

// Press takes an interrupt; input: there is text that was not entered yet. It
// cancels nothing: Cancel does, where that is the answer.
func (i *Interrupts) Press(now time.Time, input bool) lifecycle.Action {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.policy.Press(now, lifecycle.Situation{Running: i.cancel != nil, Input: input})
}

// Typed notes that something was entered: the next interrupt asks again.
func (i *Interrupts) Typed() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.policy.Typed()
}

// Runs sets what an interrupt cancels, until done is called: then it is what it
// was before. by is a person, or the name of a signal.
func (i *Interrupts) Runs(cancel func(by string)) (done func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	before := i.cancel
	i.cancel = cancel
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.cancel = before
	}
}

// Waits is Runs for a question that what runs has put: an interrupt cancels
// what runs, and then ends the question.
func (i *Interrupts) Waits(end func()) (done func()) {
	i.mu.Lock()
	cancel := i.cancel
	i.mu.Unlock()
	return i.Runs(func(by string) {
		if cancel != nil {
			cancel(by)
		}
		end()
	})
}

// Cancel cancels what runs, if anything does.
func (i *Interrupts) Cancel(by string) {
	i.mu.Lock()
	cancel := i.cancel
	i.mu.Unlock()
	if cancel != nil {
		cancel(by)
	}
}
