package lsp

import (
	"context"
	"io"
)

// Command is a server to start.
type Command struct {
	Argv []string // the program's absolute path, and its arguments
	Dir  string
	Env  []string // added to the environment that the starter lets through
}

// Process is a running server. Its pipes are closed by Kill.
type Process interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Stderr() io.Reader
	PID() int
	// Kill ends the process with all that it started, and waits for that.
	Kill()
	// Done is closed when the process itself has ended; Err says how.
	Done() <-chan struct{}
	Err() error
}

// Starter starts servers: each in a group of its own, with an environment that
// is let through by a list, and gone when pawl is, however pawl ends.
type Starter interface {
	Start(ctx context.Context, c Command) (Process, error)
}
