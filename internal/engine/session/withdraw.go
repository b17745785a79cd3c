package session

import "context"

// Withdraw takes back a waiting prompt. It is refused if the prompt does not
// wait any more: then it is recorded, or about to be.
type Withdraw struct{ ID string }

func (op Withdraw) submit(_ context.Context, s *Session) (int64, error) {
	return 0, s.ops.Withdraw(op.ID)
}
