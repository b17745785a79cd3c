package session

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Withdraw takes back a prompt that waits for what runs. It is refused where
// the prompt does not wait any more: then it is recorded, or about to be.
type Withdraw struct{ ID string }

func (Withdraw) op() {}

func (s *Session) withdraw(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.queue, func(p Prompt) bool { return id != "" && p.ID == id })
	if i < 0 {
		return fault.NewConfiguration("", "the prompt does not wait any more")
	}
	s.queue = slices.Delete(s.queue, i, i+1)
	return nil
}
