package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// This file is what people bring along from other agents: their words for
// flags, and how they give a prompt.

// noCommand takes a prompt and refuses what looks like a command that there is
// not: a single word goes to no model unless somebody says that it is a prompt.
func noCommand(c *cobra.Command, args []string) error {
	if len(args) > 0 && others[args[0]] != "" {
		return usageError("no command %q: %s", args[0], others[args[0]])
	}
	if len(args) != 1 || len(strings.Fields(args[0])) != 1 {
		return nil
	}
	var names []string
	for _, s := range c.Commands() {
		names = append(names, s.Name())
	}
	return usageError("no command %q%s; a prompt is given with: pawl run %q", args[0], meant(args[0], names, "pawl "), args[0])
}

// others are commands and flags of other agents, with what pawl has for them.
var others = map[string]string{
	"config": "the file is ~/.config/pawl/config.json; doc/configuration.md has its keys",
	"update": "build it anew, or use your package manager", "upgrade": "build it anew, or use your package manager",
	"login": "set the provider's key in the environment, such as ANTHROPIC_API_KEY; pawl models lists them", "auth": "set the provider's key in the environment, such as ANTHROPIC_API_KEY; pawl models lists them",
	"resume": "pawl --continue, or pawl --resume ID", "continue": "pawl --continue", "chat": "pawl alone opens a conversation", "init": "write AGENTS.md; pawl rules shows what is read",

	"--append-system-prompt": "write it into AGENTS.md or .pawl/rules.md",
	"--system-prompt":        "write what is to hold into AGENTS.md or .pawl/rules.md",
	"--mcp-config":           "pawl mcp add NAME, or pawl mcp import FILE",
	"--add-dir":              "work in the folder above both with -C, or allow the other one: --allow 'read(/path/**)'",
	"--json-schema":          "say in the prompt how the answer shall look; --output-format json is about pawl's own result",
	"--worktree":             "git worktree add ../other, then pawl -C ../other",
	"--session-id":           "--resume ID goes on with a session",
	"--input-format":         "the prompt is text, as the argument or on standard input",
	"--debug":                "--output-format stream-json shows every event, pawl why explains the last trouble",
	"--full-auto":            "--permission-mode auto", "--ask-for-approval": "--permission-mode ask", "--approval-mode": "--permission-mode",
	"--sandbox": "pawl has no sandbox; --permission-mode plan only reads",
	"--cd":      "-C", "--quiet": "pawl run has only the answer on standard output", "--json": "--output-format json",
}

// meantFlag is what is said behind the error of an unknown flag.
func meantFlag(c *cobra.Command, err error) string {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: ")
	if !ok {
		return ""
	}
	if hint := others[name]; hint != "" {
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

// othersWords takes other agents' names of flags for pawl's.
func othersWords(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	switch name {
	case "allowedTools", "allowed-tools", "allow-tool":
		name = "allow"
	case "disallowedTools", "disallowed-tools", "deny-tool":
		name = "deny"
	case "dangerously-skip-permissions", "dangerously-bypass-approvals-and-sandbox":
		name = "yolo"
	}
	return pflag.NormalizedName(name)
}

// asRun makes of a command line with -p the one of pawl run: what stands beside
// the flags is the prompt then, also where a command is called so.
func asRun(root *cobra.Command, args []string) []string {
	fs := root.Flags()
	takes := func(f *pflag.Flag) bool { return f != nil && f.NoOptDefVal == "" }
	out, found, word := []string{"run"}, false, false
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			if !found {
				return args
			}
			return append(out, args[i:]...)
		case arg == "--print":
			found = true
			continue
		case strings.HasPrefix(arg, "--print="):
			found, arg = true, strings.TrimPrefix(arg, "--print=")
		case strings.HasPrefix(arg, "--"):
			if name, _, whole := strings.Cut(arg[2:], "="); !whole && takes(fs.Lookup(name)) && i+1 < len(args) {
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
			case at == len(arg)-2 && i+1 < len(args): // its value is the next word
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

func isCommand(root *cobra.Command, name string) bool {
	return slices.ContainsFunc(root.Commands(), func(c *cobra.Command) bool { return c.Name() == name || c.HasAlias(name) }) || name == "help" || name == "completion"
}

// wantsJSON reports whether a command line asks for a result as JSON, also one
// that can not be read otherwise.
func wantsJSON(args []string) bool {
	for i, a := range args {
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

func (a *App) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print pawl's version", Args: exactly(0), RunE: func(*cobra.Command, []string) error {
		_, err := fmt.Fprintln(a.Out, "pawl "+Version)
		return err
	}}
}
