package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// mostCompleted is how many sessions the Tab key offers.
const mostCompleted = 50

// aSession matches the placeholder of a session in usage lines.
var aSession = lazyregexp.New(`\b(SESSION|ID)\b`)

// complete lets the Tab key complete the values of flags: modes, models,
// sessions. It uses no network.
func (a *App) complete(root *cobra.Command) {
	var modes []string
	for _, m := range permission.Modes() {
		modes = append(modes, string(m)+"\t"+m.About())
	}
	words := map[string][]string{
		"permission-mode": modes,
		"sandbox":         {"workspace\tcommands can write in the workspace", "read-only\tcommands cannot write", "off\tcommands are not confined"},
		"effort":          catalog.Efforts(),
		"output-format":   {"text", "json", "stream-json"},
		"route":           {route.Auto, route.Off, route.Read, route.Edit, "run", route.Profile},
		"budget":          {"quick", "standard", "deep", "unlimited"},
	}
	asked := map[string]func(context.Context) []string{"model": a.knownModels, "fallback-model": a.knownModels, "resume": a.knownSessions}
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		for name, values := range words {
			if f := c.Flags().Lookup(name); f != nil && c.Flags().Lookup("model") != nil { // the command is about a session
				_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // the flag exists
			}
		}
		for name, values := range asked {
			if c.Flags().Lookup(name) != nil {
				_ = c.RegisterFlagCompletionFunc(name, func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
					return values(c.Context()), cobra.ShellCompDirectiveNoFileComp
				})
			}
		}
		if aSession().MatchString(c.Use) {
			c.ValidArgsFunction = func(c *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
				return a.knownSessions(c.Context()), cobra.ShellCompDirectiveNoFileComp
			}
		}
		for _, s := range c.Commands() {
			each(s)
		}
	}
	each(root)
}

// shellScripts adds the command that prints completion scripts for shells.
func shellScripts(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, _ := root.Find([]string{"completion"}) // it was just added
	c.Short, c.Args = "Print the completion script for bash, zsh, fish or PowerShell", noSubcommand
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
}

// knownSessions returns the newest sessions of the folder, with their topics.
func (a *App) knownSessions(ctx context.Context) []string {
	st, _, err := a.store(ctx)
	if err != nil {
		return nil
	}
	defer st.Close()
	dir, err := setup.RealPath(a.Dir)
	if err != nil {
		return nil
	}
	var out []string
	for r, err := range st.Newest(ctx, dir) {
		if err != nil || len(out) == mostCompleted {
			break
		}
		out = append(out, fmt.Sprintf("%s\t%s", plain.Line(r.ID), plain.Line(cut.Runes(r.Title, 60))))
	}
	return out
}

// knownModels returns the models that can be used by their names alone.
func (a *App) knownModels(context.Context) []string {
	conf, _, err := a.Settings()
	if err != nil {
		return nil
	}
	out := []string{"offline\tthe built-in planner"}
	for _, l := range catalog.Usable(a.Want("", conf)) {
		for _, m := range l.Models() {
			if l.Usable {
				out = append(out, l.Provider+"/"+m)
			}
		}
	}
	for _, s := range catalog.Shorts(a.Env) {
		out = append(out, s.Name+"\t"+s.Model)
	}
	return out
}
