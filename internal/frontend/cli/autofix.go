package cli

import (
	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// addAutofix adds the flags that decide whether a turn's changes are checked.
func addAutofix(c *cobra.Command, opt *setup.Options) {
	c.Flags().BoolVar(&opt.Autofix, "autofix", false, "run the project's checks after changes and have failures mended, also where the configuration says not to")
	c.Flags().BoolVar(&opt.NoAutofix, "no-autofix", false, "run no checks after changes")
	exclude(c, "autofix", "no-autofix")
}
