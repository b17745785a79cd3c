package cli

import (
	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// repairPrompt is the prompt that `pawl repair` sends to the built-in model.
const repairPrompt = "The build or the tests of this project fail. Find the cause and repair it."

// repairCommand has the built-in model repair a project's failing build or tests.
func repairCommand(a *App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "repair [DIR]", Short: "Repair a Go project's failing build or tests, offline",
		Long: `Repair a Go project's failing build or tests with the built-in planner, which is
not a language model: it tries small changes near the failing tests, and keeps one
that passes all tests. A change that passes the tests may still be wrong: read the
diff. To undo it: pawl undo.`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error {
			if f.format == claudeStream {
				return usageError("--output-format %s is for pawl run", claudeStream)
			}
			if len(args) == 1 {
				f.Dir = args[0]
			}
			f.Model = "offline"
			s, err := a.Open(c.Context(), &f.Options, setup.Frontend{Name: "repair"})
			if err != nil {
				return err
			}
			defer s.Close()
			return a.headless(c.Context(), s, repairPrompt, "", f)
		},
	}
	f.addResult(c)
	c.Flags().BoolVar(&f.NoSession, "no-session", false, "do not save this session (then pawl undo cannot undo it)")
	return c
}
