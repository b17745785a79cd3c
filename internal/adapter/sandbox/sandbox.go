package sandbox

import (
	"errors"
	"fmt"
)

// MaxProcesses is how many processes and threads a command may have: with more,
// all of it is killed.
const MaxProcesses = 2048

// ErrMissing is wrapped by every error about a promise that the kernel cannot keep.
var ErrMissing = errors.New("the sandbox is missing")

// Unsupported is the error for a promise that cannot be kept on this machine.
type Unsupported struct{ Promise, Why string }

func (l *Unsupported) Error() string {
	return fmt.Sprintf("%v: %s is not promised: %s", ErrMissing, l.Promise, l.Why)
}

func (*Unsupported) Unwrap() error { return ErrMissing }

// ErrExhausted is the end of a command that used up the machine's memory or disk.
var ErrExhausted = errors.New("the command used up the machine")

// ErrProcesses is the end of a command that had more than MaxProcesses.
var ErrProcesses = fmt.Errorf("the command had more than %d processes and threads and was killed", MaxProcesses)

// Proof is the result of a promise's tests.
type Proof struct {
	Promise string
	Err     error // nil: it holds
}
