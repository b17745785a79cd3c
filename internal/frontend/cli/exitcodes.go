package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

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
