package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
)

// This file handles habits from other agents: their flags, and how they accept a
// prompt.

// noCommand accepts a prompt and refuses what looks like an unknown command: a single
// word, or a command word followed by a known subcommand, is sent to a model only if
// the person marks it as a prompt.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	alone := len(args) == 1 && len(strings.Fields(args[0])) == 1
	if hint := otherCommands[args[0]]; hint != "" && (alone || len(args) > 1 && isSubcommand(args[1])) {
		return usageError("unknown command %q; in pawl: %s; to run it as a prompt: pawl run %q", args[0], hint, strings.Join(args, " "))
	}
	var names []string
	for _, s := range c.Commands() {
		names = append(names, s.Name())
		if len(args) > 1 && editdistance.Nearest(args[0], []string{s.Name()}) != "" && slices.ContainsFunc(s.Commands(), func(o *cobra.Command) bool { return o.Name() == args[1] }) {
			alone = true
		}
	}
	if !alone {
		return nil
	}
	return usageError("unknown command %q%s; to run it as a prompt: pawl run %q", args[0], meant(args[0], names, "pawl "), strings.Join(args, " "))
}

// aPickedSession is the value of --resume if the person picks the session: no id.
const aPickedSession = "?"

// withResume gives a --resume without an id its value, for a conversation in a terminal.
func withResume(args []string, terminal bool) []string {
	if !terminal || len(args) == 0 || !strings.HasPrefix(args[0], "-") || slices.ContainsFunc(args, func(arg string) bool { return isPrint(arg) || arg == "-p" }) {
		return args
	}
	out := slices.Clone(args)
	for i, arg := range out {
		if (arg == "-r" || arg == "--resume") && (i+1 == len(out) || strings.HasPrefix(out[i+1], "-")) {
			out[i] = "--resume=" + aPickedSession
		}
	}
	return out
}

// meantFlag returns a hint for the error of an unknown flag, or of a flag without its
// value.
func meantFlag(c *cobra.Command, err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "flag needs an argument: ") && (strings.Contains(text, "--resume") || strings.Contains(text, "'r'")) {
		return "; --continue continues the newest session; pawl sessions lists all"
	}
	if short, ok := strings.CutPrefix(text, "unknown shorthand flag: '"); ok && len(short) > 0 {
		if short[0] == 'p' { // in Codex, -p is a profile
			return "; in pawl: pawl -p PROMPT, or pawl run PROMPT, which needs no -p"
		}
		if hint := otherShort[short[:1]]; hint != "" {
			return "; in pawl: " + hint
		}
	}
	name, ok := strings.CutPrefix(text, "unknown flag: ")
	if !ok {
		return ""
	}
	if hint := cmp.Or(otherFlags[name], agentsdk.RefusedFlags()[name]); hint != "" {
		return "; in pawl: " + hint
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return meant(strings.TrimPrefix(name, "--"), names, "--")
}

// othersWords maps other agents' flag names to pawl's.
func othersWords(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	if ours := sameFlags[name]; ours != "" {
		name = ours
	}
	return pflag.NormalizedName(name)
}

// asRun turns a command line with -p into one of `pawl run`: all arguments that are not
// flags are then the prompt, even the name of a command.
func asRun(root *cobra.Command, args []string) []string {
	fs := root.Flags()
	takes := func(f *pflag.Flag) bool { return f != nil && f.NoOptDefVal == "" }
	args = withName(oneByOne(args))
	out, found, word := []string{"run"}, false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			if !found {
				return args
			}
			return append(out, args[i:]...)
		case isPrint(arg):
			found = true
			_, prompt, given := strings.Cut(arg, "=")
			if !given {
				continue
			}
			arg = prompt
		case strings.HasPrefix(arg, "--"):
			name, _, whole := strings.Cut(arg[2:], "=")
			found = found || name == inputFormat // a program drives the conversation
			if !whole && takes(fs.Lookup(name)) && i+1 < len(args) {
				out = append(out, arg)
				i++
				arg = args[i]
			}
		case len(arg) > 1 && arg[0] == '-':
			at := strings.IndexFunc(arg[1:], func(r rune) bool { return r == 'p' || r > 0x7e || takes(fs.ShorthandLookup(string(r))) })
			switch {
			case at >= 0 && arg[1+at] == 'p':
				found = true
				if arg = arg[:1+at] + arg[2+at:]; arg == "-" {
					continue
				}
			case at == len(arg)-2 && i+1 < len(args): // its value is the next argument
				out = append(out, arg)
				i++
				arg = args[i]
			}
		case !found && !word && isCommand(root, arg):
			return args
		default:
			word = true
		}
		out = append(out, arg)
	}
	if !found {
		return args
	}
	return out
}

// isPrint reports whether an argument is the flag, under any of its names, for a run
// without a person.
func isPrint(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
	return strings.HasPrefix(arg, "--") && (name == "print" || sameFlags[name] == "print")
}

func isCommand(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) }) || name == "help" || name == "completion"
}

// wantsJSON reports whether a command line requests a JSON result, even if the command
// line is otherwise invalid.
func wantsJSON(args []string) bool {
	for i, a := range args {
		if a == "--json" {
			return true
		}
		value, ok := strings.CutPrefix(a, "--output-format=")
		if a == "--output-format" && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if ok {
			return value == "json" || value == "stream-json"
		}
	}
	return false
}

func versionCommand(a *App) *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print pawl's version", Args: exactly(0), RunE: func(*cobra.Command, []string) error {
		return printVersion(a.Out)
	}}
}

func printVersion(out io.Writer) error {
	_, err := fmt.Fprintln(out, "pawl "+Version)
	return err
}
