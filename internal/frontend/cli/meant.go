package cli

import (
	"fmt"
	"math"
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
	return usageError("unknown command %s %s%s; the commands are %s%s", c.Name(), args[0], meant(args[0], names, ""), strings.Join(names, ", "), asPrompt(c, args))
}

// asPrompt returns a hint: several words after a command's name may be a prompt that
// begins with that name.
func asPrompt(c *cobra.Command, args []string) string {
	if len(args) > 1 && c.HasParent() && !c.Parent().HasParent() {
		return fmt.Sprintf("; to run it as a prompt: pawl run %q", strings.Join(append([]string{c.Name()}, args...), " "))
	}
	return ""
}

// between accepts that many arguments.
func between(least, most int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return wrongArgs(c, args)
		}
		return nil
	}
}

func exactly(n int) cobra.PositionalArgs { return between(n, n) }

var atMostOne, atLeastOne = between(0, 1), between(1, math.MaxInt)

// wrongArgs returns an error for arguments that a command does not accept.
func wrongArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 && c.HasAvailableSubCommands() {
		return noSubcommand(c, args)
	}
	return usageError("usage: %s%s", c.UseLine(), asPrompt(c, args))
}

// meant returns a hint if a name is similar to the typed one, "" otherwise.
func meant(name string, names []string, prefix string) string {
	if near := editdistance.Nearest(name, names); near != "" {
		return " (did you mean " + prefix + near + "?)"
	}
	return ""
}
