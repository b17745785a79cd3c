package session

// Withdraw takes back a waiting prompt. It is refused if the prompt does not
// wait any more: then it is recorded, or about to be.
type Withdraw struct{ ID string }

func (Withdraw) op() {}
