package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveClosedOutput makes writing to a pipe that nobody reads any more an
// error, which ends the run in order, and not the sudden death that Go's
// runtime makes of it. Ignoring the signal would not do: commands inherit it.
func surviveClosedOutput() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
