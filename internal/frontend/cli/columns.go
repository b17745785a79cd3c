package cli

import (
	"bytes"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// columns returns the width of the terminal that w is, in columns, or 0 if w is no
// terminal: its lines are not broken.
func columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	n, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return n
}

// wrapped returns a writer that breaks lines between words on a terminal, and writes
// unchanged to anything else.
func wrapped(w io.Writer, hang bool) io.Writer {
	if columns(w) == 0 {
		return w
	}
	return plain.Wrapped(w, func() int { return columns(w) }, hang)
}

// nameAlone is a boolean flag that its help shows without pflag's [=true|false].
type nameAlone struct{ pflag.Value }

func (nameAlone) Type() string { return "boolfunc" }

func namesAlone(fs *pflag.FlagSet) {
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "bool" {
			f.Value = nameAlone{f.Value}
		}
	})
}

func wrapHelp(root *cobra.Command, columns func() int) {
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		namesAlone(c.Flags())
		out := c.OutOrStdout()
		var b bytes.Buffer
		c.SetOut(&b)
		help(c, args)
		c.SetOut(out)
		_, _ = io.WriteString(out, plain.Wrap(b.String(), columns(), true)) // a closed terminal reads nothing
	})
}
