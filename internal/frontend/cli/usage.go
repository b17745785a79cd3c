package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// byPerson refuses what only a person may do.
func (a *App) byPerson(what string) error {
	if a.InPawl() {
		return usageError("only a person can use %s; this pawl was started by an agent", what)
	}
	return nil
}

// forPerson lets only a person use these commands. Their subcommands are not concerned.
func (a *App) forPerson(commands ...*cobra.Command) []*cobra.Command {
	for _, c := range commands {
		run := c.RunE
		c.RunE = func(c *cobra.Command, args []string) error {
			if err := a.byPerson(c.CommandPath()); err != nil {
				return err
			}
			return run(c, args)
		}
	}
	return commands
}

// warn prints warnings.
func (a *App) warn(lines ...string) {
	for _, l := range lines {
		fmt.Fprintln(wrapped(a.Err, false), plain.Line("pawl: "+l))
	}
}

// exclude permits at most one of these flags. Cobra uses it for completions;
// its own error has neither a clear text nor exit code 2.
func exclude(c *cobra.Command, names ...string) {
	c.MarkFlagsMutuallyExclusive(names...)
	before := c.PreRunE
	c.PreRunE = func(c *cobra.Command, args []string) error {
		var given []string
		for _, n := range names {
			if c.Flags().Changed(n) {
				given = append(given, "--"+n)
			}
		}
		if last := len(given) - 1; last > 0 {
			return usageError("%s and %s cannot be used together; choose one\nsee: %s --help", strings.Join(given[:last], ", "), given[last], c.CommandPath())
		}
		if before != nil {
			return before(c, args)
		}
		return nil
	}
}
