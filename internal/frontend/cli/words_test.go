package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// TestCatalogue prints what a person can read about commands, flags and slash commands
// in one file of each kind, so that it can be read from the first line to the last:
// go test ./internal/frontend/cli -run TestCatalogue -update. A flag is printed at the
// first command that has it, and again where its words differ. Issue 31.8.
func TestCatalogue(t *testing.T) {
	var b strings.Builder
	flags := map[string]bool{}
	each(t, func(c *cobra.Command) {
		fmt.Fprintf(&b, "\n%s\n", c.UseLine())
		for l := range strings.Lines(strings.TrimSpace(c.Short + "\n" + strings.TrimSpace(c.Long))) {
			fmt.Fprintf(&b, "    %s", l)
		}
		b.WriteString("\n")
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if line := fmt.Sprintf("    --%s: %s\n", f.Name, f.Usage); !f.Hidden && !flags[line] {
				flags[line] = true
				b.WriteString(line)
			}
		})
	})
	golden.File(t, filepath.Join("testdata", "words", "help.golden"), b.String())
	b.Reset()
	for _, c := range slash.All() {
		fmt.Fprintf(&b, "%s\n    %s\n", strings.TrimSpace("/"+c.Name+" "+c.Args), c.Doc)
	}
	golden.File(t, filepath.Join("testdata", "words", "slash.golden"), b.String())
}

// each calls a function with every command that a person is shown.
func each(t *testing.T, do func(c *cobra.Command)) {
	t.Helper()
	root := (&App{Environment: setup.Environment{Env: func(string) string { return "" }, Dir: t.TempDir()}}).root()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden || c.Name() == "completion" { // these words are cobra's
			return
		}
		do(c)
		for _, s := range c.Commands() {
			walk(s)
		}
	}
	walk(root)
}

// The words of help have one form: a description is one line that begins with a
// capital and ends without a full stop; that of a flag or a slash command begins small.
func TestFormOfHelp(t *testing.T) {
	check := func(what, words string, capital bool) {
		first := strings.TrimLeft(words, "(-")
		switch {
		case words == "" || strings.Contains(words, "\n"):
			t.Errorf("%s: %q is not one line", what, words)
		case strings.HasSuffix(words, ".") || strings.HasSuffix(words, "!"):
			t.Errorf("%s: %q ends like a sentence", what, words)
		case capital != (strings.ToUpper(first[:1]) == first[:1]) && !strings.HasPrefix(first, "MCP"):
			t.Errorf("%s: %q begins in another case than the others", what, words)
		case capital && len(words) > 90 || len(words) > 160:
			t.Errorf("%s: %q has %d characters", what, words, len(words))
		}
	}
	each(t, func(c *cobra.Command) {
		check(c.CommandPath(), c.Short, true)
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				check(c.CommandPath()+" --"+f.Name, f.Usage, false)
			}
		})
	})
	for _, c := range slash.All() {
		check("/"+c.Name, c.Doc, false)
	}
}
