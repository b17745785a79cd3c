package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/rules"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// rulebook reads the rules of a workspace for a session. Secrets in them are
// masked before anything is compared or stored.
type rulebook struct {
	o    rules.Options
	mask func(string) string
}

func (a *App) rulebook(dir string, p settings.Paths, mask func(string) string) *rulebook {
	return &rulebook{o: rules.Options{Root: dir, Home: a.Env("HOME"), Config: p.Config}, mask: mask}
}

// start returns the part of the system prompt with the rules, and the problems
// with them. A session that is only read needs none.
func (b *rulebook) start(ctx context.Context, readOnly bool) (string, []string, error) {
	if readOnly {
		return "", nil, nil
	}
	set, err := rules.Load(ctx, b.o)
	set.Text = b.mask(set.Text)
	return set.Prompt(), set.Warnings, err
}

// notes is session.Config.Rules: changed rules, and those of folders that are
// new to the session. Problems were reported at the start.
func (b *rulebook) notes(ctx context.Context, g session.Guidance) []string {
	var notes []string
	if set, err := rules.Load(ctx, b.o); err == nil {
		set.Text = b.mask(set.Text)
		if n := set.Changed(g.System, g.Notes); n != "" {
			notes = append(notes, n)
		}
	}
	for _, file := range g.Seen {
		for _, set := range rules.Below(ctx, b.o, file) {
			set.Text = b.mask(set.Text)
			if n := set.Note(); n != "" && !slices.Contains(g.Notes, n) && !slices.Contains(notes, n) {
				notes = append(notes, n)
			}
		}
	}
	return notes
}

// rulesCommand lists the rules files of a folder.
func (a *App) rulesCommand() *cobra.Command {
	f := &flags{}
	var text bool
	c := &cobra.Command{
		Use: "rules [PATH]…", Short: "List the rules files that are loaded, and what is wrong with them",
		Long: `List the rules files of this folder, the most important last: AGENTS.md (or
CLAUDE.md), .pawl/rules.md and your own rules.md. With paths, also those of the
folders on the way to each, which a session is told when it first meets a file
there. Rules are text for the model; they cannot grant permissions.`,
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := a.realDir(f)
			if err != nil {
				return err
			}
			paths, err := settings.PathsFrom(a.Env)
			if err != nil {
				return err
			}
			b := a.rulebook(dir, paths, strings.Clone)
			return b.list(c.Context(), a.Out, a.Err, text, args)
		},
	}
	c.Flags().StringVarP(&f.dir, "dir", "C", "", "look in this folder instead of the current one")
	c.Flags().BoolVar(&text, "text", false, "print the text as the model is told it")
	return c
}

func (b *rulebook) list(ctx context.Context, out, warn io.Writer, text bool, paths []string) error {
	set, err := rules.Load(ctx, b.o)
	if err != nil {
		return err
	}
	sets := []rules.Set{set}
	var shown []string
	for _, p := range paths {
		for _, s := range rules.Below(ctx, b.o, p) {
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
			fmt.Fprint(out, plain.Text(s.String()))
		case i == 0:
			fmt.Fprint(out, plain.Text(strings.TrimPrefix(s.Prompt(), "\n")))
		case s.Text != "":
			fmt.Fprintln(out, plain.Text("\n"+s.Note()))
		}
		for _, w := range s.Warnings {
			fmt.Fprintln(warn, "pawl: "+plain.Line(w))
		}
	}
	if files == 0 {
		fmt.Fprintln(out, "no rules; write some for agents into AGENTS.md")
	}
	return nil
}
