package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
)

// noSubcommand refuses an unknown subcommand and lists the known ones.
func noSubcommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, s := range c.Commands() {
		if !s.Hidden && s.Name() != "help" {
			names = append(names, s.Name())
		}
	}
	return usageError("no command %s %s%s; there are %s", c.Name(), args[0], meant(args[0], names, ""), strings.Join(names, ", "))
}

// wrongArgs refuses arguments that a command does not accept. Several words
// after a command's name may be a prompt that begins with it.
func wrongArgs(c *cobra.Command, args []string) error {
	more := ""
	if len(args) > 1 && c.HasParent() && !c.Parent().HasParent() {
		more = fmt.Sprintf("; a prompt is given with: pawl run %q", strings.Join(append([]string{c.Name()}, args...), " "))
	}
	return usageError("usage: %s%s", c.UseLine(), more)
}

// meant returns a hint if a name is similar to the typed one, "" otherwise.
func meant(name string, names []string, prefix string) string {
	if near := editdistance.Nearest(name, names); near != "" {
		return " (did you mean " + prefix + near + "?)"
	}
	return ""
}
