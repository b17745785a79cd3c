package session

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Withdraw takes back a prompt that waits for what runs. It is refused where
// the prompt does not wait any more: then it is recorded, or about to be.
type Withdraw struct{ ID string }

func (Withdraw) op() {}

func (o *operations) withdraw(id string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.IndexFunc(o.queue, func(p Prompt) bool { return id != "" && p.ID == id })
	if i < 0 {
		return fault.NewConfiguration("", "the prompt does not wait any more")
	}
	o.queue = slices.Delete(o.queue, i, i+1)
	return nil
}
