package cli

import (
	"os"
	"os/signal"
	"syscall"
)

// surviveClosedOutput makes writing to a closed pipe an error, which ends the run in an
// orderly way; by default Go's runtime would kill the process. SIGPIPE is not ignored,
// because commands would inherit that.
func surviveClosedOutput() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
