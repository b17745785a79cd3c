package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// permissionsCommand lists and revokes permanent permissions.
func permissionsCommand(a *App) *cobra.Command {
	c := &cobra.Command{
		Use: "permissions", Short: "List and revoke permanent permissions", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			conf, paths, err := a.Settings()
			if err != nil {
				return err
			}
			all, err := settings.Grants{Path: paths.Grants()}.All()
			if err != nil {
				return err
			}
			none := len(all) == 0
			say := func(kind string, rules []string) {
				for _, r := range rules {
					none = false
					fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("%-6s %s", kind, r)))
				}
			}
			say("deny", append(slices.Clone(conf.User.Permissions.Deny), conf.Project.Deny...))
			say("ask", append(slices.Clone(conf.User.Permissions.Ask), conf.Project.Ask...))
			for _, g := range conf.Guards {
				for _, r := range g.Rules {
					say(string(r.List), []string{r.Text + "  (" + r.Origin + ")"})
				}
			}
			say("allow", conf.User.Permissions.Allow)
			for _, dir := range slices.Sorted(maps.Keys(all)) {
				fmt.Fprintln(a.Out, plain.Line("always allowed in "+dir+":"))
				for _, g := range all[dir] {
					say("allow", []string{g.Rule})
				}
			}
			if none {
				fmt.Fprintln(a.Out, "no rules; what each mode allows without one: pawl permissions modes")
			}
			return nil
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "modes", Short: "Show what each permission mode allows, asks and refuses", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			for _, l := range permission.Table() {
				fmt.Fprintln(a.Out, l)
			}
			return nil
		},
	})
	c.AddCommand(&cobra.Command{
		Use: "revoke RULE", Short: "Revoke a permanent permission of this folder", Args: exactly(1),
		RunE: func(_ *cobra.Command, args []string) error {
			paths, err := settings.PathsFrom(a.Env)
			if err != nil {
				return err
			}
			dir, err := a.RealDir("")
			if err != nil {
				return err
			}
			grants := settings.Grants{Path: paths.Grants()}
			granted, err := grants.List(dir)
			if err != nil {
				return err
			}
			var rules []string
			for _, g := range granted {
				rules = append(rules, g.Rule)
			}
			found, err := grants.Revoke(dir, args[0])
			if err == nil && !found {
				err = usageError("no permanent permission %q in %s%s; to list them: pawl permissions", args[0], dir, meant(args[0], rules, ""))
			}
			if err == nil {
				fmt.Fprintln(a.Out, plain.Line("revoked "+args[0]+" in "+dir))
			}
			return err
		},
	})
	return c
}
