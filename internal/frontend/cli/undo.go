package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// undoCommand puts back what the newest turn with standing changes changed.
func (a *App) undoCommand() *cobra.Command {
	f := &flags{}
	var dry bool
	c := &cobra.Command{
		Use: "undo", Short: "Put back what the last turn changed",
		Long: `Put back the files that the last turn of a session changed with the edit tools:
all of them or none. A file that was changed since by someone else is never
touched. What shell commands changed is not recorded and not undone.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			f.continueLast = f.resume == ""
			o, err := a.open(c.Context(), f, front{name: "undo", look: true})
			if err != nil {
				return err
			}
			defer o.close()
			t, ok := o.Standing()
			if !ok {
				return usageError("there is nothing to undo in session %s", o.ID())
			}
			if !dry {
				if t, err = o.Undo(c.Context()); err != nil {
					return err
				}
			}
			verb := "put back"
			if dry {
				verb = "would put back"
			}
			for _, r := range t.Files {
				what := r.Path
				if r.Before == "" {
					what += " (removed: the agent had created it)"
				}
				fmt.Fprintln(a.Out, plain.Line(verb+" "+what))
			}
			return nil
		},
	}
	c.Flags().StringVarP(&f.dir, "dir", "C", "", "of this folder instead of the current one")
	c.Flags().StringVarP(&f.resume, "session", "s", "", "of this session instead of the folder's newest")
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "only say what would be put back")
	return c
}

// diffCommand shows what the newest turn with standing changes changed.
func (a *App) diffCommand() *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "diff", Short: "Show what the last turn changed", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			f.continueLast = f.resume == ""
			o, err := a.open(c.Context(), f, front{name: "diff", look: true})
			if err != nil {
				return err
			}
			defer o.close()
			text, err := o.Diff(c.Context())
			if err != nil {
				return err
			}
			fmt.Fprint(a.Out, plain.Text(text))
			return nil
		},
	}
	c.Flags().StringVarP(&f.dir, "dir", "C", "", "of this folder instead of the current one")
	c.Flags().StringVarP(&f.resume, "session", "s", "", "of this session instead of the folder's newest")
	return c
}
