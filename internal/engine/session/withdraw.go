package session

// Withdraw takes back a prompt that waits for what runs. It is refused where
// the prompt does not wait any more: then it is recorded, or about to be.
type Withdraw struct{ ID string }

func (Withdraw) op() {}
