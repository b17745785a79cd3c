package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/rules"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// rulesCommand lists the rules files of a folder.
func rulesCommand(a *App) *cobra.Command {
	f := &flags{}
	var text bool
	c := &cobra.Command{
		Use: "rules [PATH]…", Short: "List the rules files (AGENTS.md …), and the problems in them",
		Long: `List the rules files of this folder, the most important last: AGENTS.md (or
CLAUDE.md), .pawl/rules.md and your own rules.md. With paths, also those of their
folders. Rules are text for the model; they grant no permissions.`,
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := a.RealDir(f.Dir)
			if err != nil {
				return err
			}
			paths, err := settings.PathsFrom(a.Env)
			if err != nil {
				return err
			}
			return listRules(c.Context(), a, a.Rules(dir, paths), text, args)
		},
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "use this folder instead of the current one")
	c.Flags().BoolVar(&text, "text", false, "print the text that the model gets")
	return c
}

func listRules(ctx context.Context, a *App, of rules.Options, text bool, paths []string) error {
	set, err := rules.Load(ctx, of)
	if err != nil {
		return err
	}
	sets := []rules.Set{set}
	var shown []string
	for _, p := range paths {
		for _, s := range rules.Below(ctx, of, p) {
			if k := s.String() + s.Text; !slices.Contains(shown, k) {
				shown = append(shown, k)
				sets = append(sets, s)
			}
		}
	}
	files := 0
	for i, s := range sets {
		files += len(s.Files)
		switch {
		case !text:
			fmt.Fprint(a.Out, plain.Text(s.String()))
		case i == 0:
			fmt.Fprint(a.Out, plain.Text(strings.TrimPrefix(s.Prompt(), "\n")))
		case s.Text != "":
			fmt.Fprintln(a.Out, plain.Text("\n"+s.Note()))
		}
		a.warn(s.Warnings...)
	}
	if files == 0 {
		fmt.Fprintln(a.Out, "no rules files; to add rules, write them into AGENTS.md")
	}
	return nil
}
