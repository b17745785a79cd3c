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

// Lack is a promise that cannot be kept on this machine, and why.
type Lack struct{ Promise, Why string }

func (l *Lack) Error() string {
	return fmt.Sprintf("%v: %s is not promised: %s", ErrMissing, l.Promise, l.Why)
}

func (*Lack) Unwrap() error { return ErrMissing }

// ErrProcesses is the end of a command that had more than MaxProcesses.
var ErrProcesses = fmt.Errorf("the command had more than %d processes and threads and was killed", MaxProcesses)

// Proof is a promise that was tried.
type Proof struct {
	Promise string
	Err     error // nil: it holds
}
