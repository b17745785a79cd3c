package cli

import (
	_ "embed"
	"io"

	"github.com/spf13/cobra"
)

// licenses has the licences where .ci/dist built the program, which puts the output of
// .ci/notices in the place of this file; otherwise it says how to get them.
//
//go:embed licenses.txt
var licenses string

func licensesCommand(a *App) *cobra.Command {
	return &cobra.Command{Use: "licenses", Short: "Print the licenses of the works that pawl contains", Args: exactly(0), RunE: func(*cobra.Command, []string) error {
		_, err := io.WriteString(a.Out, licenses)
		return err
	}}
}
