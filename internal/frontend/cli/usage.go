package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

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
