package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// This file is `pawl --help`: one screen. `pawl help flags` has all flags, and `pawl
// man` has everything.

// helpWays are the most common ways to start.
const helpWays = `pawl is a coding agent for the terminal.

  pawl                       start a conversation in this folder
  pawl "fix the bug"         start a conversation with this prompt
  pawl -p "explain" < log    run one prompt without asking questions (pawl run)
  pawl -c                    continue the newest session of this folder
  pawl run --until 'go test ./...' "fix the parser"      work until it passes
`

// helpCommands are the commands by purpose, the most common ones with a
// description; the rest is only named.
var helpCommands = []struct {
	title    string
	commands string
}{
	{"Work", "run attach swarm acp demo"},
	{"History", "diff undo sessions why stats"},
	{"This folder", "rules memory trust sandbox"},
	{"Setup", "doctor login models config plugin"},
}

// helpFlags are the most used flags; -c and -p are in helpWays.
const helpFlags = "model permission-mode sandbox resume dir max-budget-usd output-format"

// rootHelp writes the help of pawl itself.
func rootHelp(w io.Writer, root *cobra.Command) {
	fmt.Fprint(w, helpWays)
	fmt.Fprintln(w)
	var shown []string
	for _, group := range helpCommands {
		fmt.Fprintf(w, "%s:\n", group.title)
		for _, name := range strings.Fields(group.commands) {
			c, _, _ := root.Find([]string{name}) // it is one of them
			shown = append(shown, name)
			fmt.Fprintf(w, "  %-11s %s\n", name, c.Short)
		}
	}
	var rest []string
	for _, c := range root.Commands() {
		if (c.IsAvailableCommand() || c.Name() == "help") && !slices.Contains(shown, c.Name()) {
			rest = append(rest, c.Name())
		}
	}
	half := (len(rest) + 1) / 2
	fmt.Fprintf(w, "Also: %s,\n  %s\n\nFlags:\n", strings.Join(rest[:half], ", "), strings.Join(rest[half:], ", "))
	for _, name := range strings.Fields(helpFlags) {
		f := root.Flags().Lookup(name)
		short := ""
		if f.Shorthand != "" {
			short = "-" + f.Shorthand + ", "
		}
		usage := f.Usage
		if i := strings.IndexAny(usage, ",:;("); i > 0 && len(usage) > 50 {
			usage = strings.TrimSpace(usage[:i])
		}
		fmt.Fprintf(w, "  %-22s %s\n", short+"--"+f.Name, usage)
	}
	fmt.Fprint(w, "\nMore: pawl COMMAND --help, pawl help flags, pawl help exit-codes, pawl man\n")
}

// flagsTopic is `pawl help flags`.
func flagsTopic() *cobra.Command {
	c := &cobra.Command{Use: "flags", Short: "All flags of pawl and pawl run"}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		fs := c.Root().LocalNonPersistentFlags()
		namesAlone(fs)
		fmt.Fprintf(c.OutOrStdout(), "Flags of pawl and pawl run:\n\n%s", fs.FlagUsages())
	})
	return c
}
