package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
)

// exitCodesTopic is `pawl help exit-codes`.
func exitCodesTopic() *cobra.Command {
	var b strings.Builder
	b.WriteString("Exit codes:\n\n")
	for _, c := range headless.Codes() {
		fmt.Fprintf(&b, "  %3d  %-13s  %s\n", c.Code, c.Outcome, c.Meaning)
	}
	b.WriteString("\nThe second column is the outcome in the result of --output-format json.")
	return &cobra.Command{Use: "exit-codes", Short: "What the exit codes mean", Long: b.String()}
}

// exitBy returns the exit code of a conversation that a signal ended.
func exitBy(signal string) error {
	if code := headless.SignalCode(signal); code != 0 {
		return &exitError{code: code}
	}
	return nil
}

// interrupted returns the exit code of an interrupt, and any other error unchanged.
func interrupted(err error) error {
	if i := (session.Interrupt{}); errors.As(err, &i) {
		return exitBy(i.By)
	}
	return err
}

// untilSignal returns a context that a signal cancels, with an Interrupt as its cause.
// The third signal ends the process.
func untilSignal(ctx context.Context, signals func() <-chan string) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if signals == nil {
		return ctx, func() { cancel(nil) }
	}
	in, over := signals(), make(chan struct{})
	go func() {
		for n := 1; ; n++ {
			select {
			case by := <-in:
				if n == 3 {
					os.Exit(headless.SignalCode(by))
				}
				cancel(session.Interrupt{By: by})
			case <-over:
				return
			}
		}
	}()
	return ctx, func() { close(over); cancel(nil) }
}
