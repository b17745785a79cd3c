package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// listedHook is a hook in the output of `pawl hooks list --json`.
type listedHook struct {
	Event   hook.Event `json:"event"`
	Matcher string     `json:"matcher,omitempty"`
	Command string     `json:"command"`
	From    string     `json:"from"`
	Seconds float64    `json:"timeout"`
	Free    bool       `json:"unconfined,omitempty"`
	Inert   string     `json:"inert,omitempty"` // why it does not run
}

func hooksCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use: "hooks", Short: "List the hooks: programs that run at certain points of a session", Args: exactly(0),
		Long: `Hooks are programs that pawl runs at certain points of a session: before and after
a tool call, when you send a prompt, when a turn ends. They are configured in your
config.json and, if the folder is trusted, in its .claude/settings.json and
.pawl/config.json. See doc/extending.md.`,
	}
	var dir string
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List your hooks and those of this folder, and whether they run", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			all, err := a.ListHooks(dir)
			if err != nil {
				return err
			}
			if asJSON {
				listed := []listedHook{}
				for _, h := range all {
					listed = append(listed, listedHook{h.Event, h.Matcher, h.Command, h.From, h.Timeout.Seconds(), h.Free, h.Inert})
				}
				return printJSON(a.Out, listed)
			}
			out := wrapped(a.Out, true)
			if len(all) == 0 {
				fmt.Fprintln(out, "no hooks are configured; see doc/extending.md")
			}
			for _, h := range all {
				fmt.Fprintln(out, plain.Line(hookLine(h)))
			}
			return nil
		},
	}
	c.RunE = list.RunE
	for _, x := range []*cobra.Command{c, list} {
		x.Flags().StringVarP(&dir, "dir", "C", "", "use this folder instead of the current one")
		x.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	}
	c.AddCommand(list)
	return c
}

// hookLine returns a hook as one line.
func hookLine(h setup.ListedHook) string {
	s := string(h.Event)
	if h.Matcher != "" {
		s += " " + h.Matcher
	}
	s += ": " + h.Command + " (" + h.From + ")"
	if h.Free {
		s += ", outside the sandbox"
	}
	if h.Inert != "" {
		s += ", not run: " + h.Inert
	}
	return s
}
