package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-agent/pawl/internal/frontend/headless"
)

// manCommand writes the manual page, generated from the commands.
func manCommand(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page: pawl man | man -l -", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			var b strings.Builder
			manual(&b, c.Root())
			_, err := io.WriteString(a.Out, b.String())
			return err
		},
	}
}

func manual(b *strings.Builder, root *cobra.Command) {
	fmt.Fprintf(b, ".TH PAWL 1 \"\" \"pawl %s\"\n.SH NAME\npawl \\- %s\n", roff(Version), roff(strings.ToLower(root.Short[:1])+root.Short[1:]))
	fmt.Fprintf(b, ".SH SYNOPSIS\n.B pawl\n[flags] [PROMPT]\n.br\n.B pawl\nCOMMAND [flags] [arguments]\n.SH DESCRIPTION\n")
	paragraphs(b, root.Long)
	b.WriteString(".SH FLAGS\n")
	manFlags(b, root.Flags())
	b.WriteString(".SH COMMANDS\n")
	for _, c := range root.Commands() {
		manCommandOf(b, c)
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, c := range headless.Codes() {
		fmt.Fprintf(b, ".TP\n.B %d\n%s: %s\n", c.Code, roff(c.Outcome), roff(c.Meaning))
	}
	b.WriteString(".SH FILES\n.TP\n.I ~/.config/pawl/config.json\nThe configuration; see pawl config.\n.TP\n.I ~/.local/state/pawl\nSessions, permanent permissions, trusted folders.\n" +
		".SH ENVIRONMENT\n.TP\n.B PAWL_MODEL\nThe model.\n.TP\n.B PAWL_HOME\nThe folder for configuration and state.\n.TP\n.B ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY, ...\nAPI keys; pawl models lists all.\n.TP\n.B NO_COLOR\nTurns colours off.\n")
}

func manCommandOf(b *strings.Builder, c *cobra.Command) {
	if !c.IsAvailableCommand() {
		return
	}
	fmt.Fprintf(b, ".SS %s\n", roff(strings.TrimSuffix(c.UseLine(), " [flags]")))
	if text := c.Long; text != "" {
		paragraphs(b, text)
	} else {
		paragraphs(b, c.Short+".")
	}
	if c.Flags().Lookup("model") == nil { // the flags of a session are listed once
		manFlags(b, c.LocalNonPersistentFlags())
	}
	for _, s := range c.Commands() {
		manCommandOf(b, s)
	}
}

func manFlags(b *strings.Builder, fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.NoOptDefVal == "" {
			name += " " + manValue(f.Value.Type())
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(name), roff(f.Usage))
	})
}

// manValue returns the placeholder of a flag's value.
func manValue(kind string) string {
	switch kind {
	case "int", "int64", "float64":
		return "N"
	case "duration":
		return "TIME"
	}
	return "VALUE"
}

// paragraphs writes a text, and preserves empty lines and the breaks of indented lines.
func paragraphs(b *strings.Builder, text string) {
	for l := range strings.Lines(text) {
		switch l = strings.TrimRight(l, "\n"); {
		case strings.TrimSpace(l) == "":
			b.WriteString(".PP\n")
		case strings.HasPrefix(l, "  "):
			fmt.Fprintf(b, ".br\n%s\n", roff(l))
		default:
			b.WriteString(roff(l) + "\n")
		}
	}
}

// roff escapes a text for roff, the format of manual pages.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "’", `'`).Replace(strings.ReplaceAll(s, "\n", " "))
	var b strings.Builder
	for _, r := range s {
		if r > '~' {
			fmt.Fprintf(&b, `\[u%04X]`, r)
		} else {
			b.WriteRune(r)
		}
	}
	s = b.String()
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
