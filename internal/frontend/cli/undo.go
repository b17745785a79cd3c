package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/putback"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// putBackFlags are the flags of undo and redo.
type putBackFlags struct {
	flags
	turn, last, all, dry, yes bool
	file                      string
	include                   []string
}

func undoCommand(a *App) *cobra.Command {
	f := &putBackFlags{}
	c := &cobra.Command{
		Use: "undo", Short: "Undo the changes of the last turn",
		Long: `Undo what tools and commands changed in the last turn of a session: all of it or
nothing. In a conversation, /undo undoes only the last change.

On a terminal it shows the plan and asks. Later edits by someone else are kept: pawl
merges the file, or leaves it and shows the conflict. A file that changed while a
command ran may be somebody else's: it needs --include PATH.

Without a terminal it undoes only if it is sure of everything. With --yes it undoes
what it is sure of, lists the rest and exits with code 1. To reverse it: pawl redo.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return putBack(c.Context(), a, f, f.unit(undo.ByTurn))
		},
	}
	f.add(c)
	f.units(c, "undo all changes of the last turn (the default)", "undo the last change of this file", "undo the changes of the last command", "undo all changes of the session")
	return c
}

// units adds the flags that select changes: one of them at most.
func (f *putBackFlags) units(c *cobra.Command, turn, file, last, all string) {
	fs := c.Flags()
	fs.BoolVar(&f.turn, "turn", false, turn)
	fs.StringVar(&f.file, "file", "", file)
	fs.BoolVar(&f.last, "last-command", false, last)
	fs.BoolVar(&f.all, "all", false, all)
	exclude(c, "turn", "file", "last-command", "all")
}

// redoCommand repeats changes that were undone.
func redoCommand(a *App) *cobra.Command {
	f := &putBackFlags{}
	c := &cobra.Command{
		Use: "redo", Short: "Redo the changes that the last undo undid", Args: exactly(0),
		Long: `Make the changes of the last undo again, by the same rules. This is a new change,
which you can undo.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return putBack(c.Context(), a, f, undo.Selector{Kind: undo.ByRedo})
		},
	}
	f.add(c)
	return c
}

func (f *putBackFlags) add(c *cobra.Command) {
	fs := c.Flags()
	f.which(c)
	fs.BoolVarP(&f.dry, "dry-run", "n", false, "only show what would be done")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask for confirmation: do only what is certain, and leave out the rest")
	fs.StringArrayVar(&f.include, "include", nil, "also undo this file, although pawl is not sure that the change is the agent's (repeatable)")
}

// which adds the flags that select the session.
func (f *flags) which(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVarP(&f.Dir, "dir", "C", "", "use this folder instead of the current one")
	fs.StringVarP(&f.Resume, "session", "s", "", "use this session instead of the newest one of the folder")
}

func (f *putBackFlags) unit(otherwise undo.Kind) undo.Selector {
	switch {
	case f.file != "":
		return undo.Selector{Kind: undo.ByFile, Path: f.file}
	case f.last:
		return undo.Selector{Kind: undo.ByCommand}
	case f.all:
		return undo.Selector{Kind: undo.ByAll}
	}
	return undo.Selector{Kind: otherwise}
}

// putBack shows a plan, asks if a person can answer, and executes the plan.
func putBack(ctx context.Context, a *App, f *putBackFlags, w undo.Selector) error {
	f.Continue = f.Resume == ""
	o, err := a.Open(ctx, &f.Options, setup.Frontend{Name: "undo", ReadOnly: true})
	if err != nil {
		return err
	}
	defer o.Close()
	p, err := o.View().Changes().Plan(ctx, w)
	if errors.Is(err, undo.ErrNothing) || errors.Is(err, undo.ErrNoRedo) {
		return usageError("%w", putback.Nothing(ctx, o.Session, w.Kind, err))
	}
	if err != nil {
		return err
	}
	lost := putback.Lost(ctx, o.Session, w.Kind)
	asks := a.Terminal && !f.yes
	if f.dry || asks || !p.NeedsNoConsent() {
		putback.Show(a.Out, p)
	}
	if f.dry {
		return nil
	}
	var c undo.Consent
	switch {
	case asks:
		var ok bool
		if c, ok, err = putback.Agree(p, "", choice.Lines(asker(a))); err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(a.Out, "nothing was changed")
			return &exitError{code: 1}
		}
	case f.yes || len(f.include) > 0:
		if c = putback.Settled(p, f.include); !f.yes {
			c.LeaveOut = nil // an unnamed file is refused and reported
		}
	}
	u, err := putback.Do(ctx, o.Session, p, c)
	if open := (*undo.OpenError)(nil); errors.As(err, &open) {
		return fault.NewConfiguration("--yes leaves these files out; --include PATH undoes a file anyway", "nothing was undone: %v", open)
	}
	if err != nil {
		return err
	}
	putback.Done(a.Out, putback.Verb(w.Kind), u)
	if lost != "" {
		fmt.Fprintln(a.Out, lost)
	}
	if len(u.Left) > 0 && !asks {
		return &exitError{code: 1}
	}
	return nil
}

// asker returns a function that asks on the terminal.
func asker(a *App) func(string) (string, error) {
	in := bufio.NewReader(a.In)
	return func(q string) (string, error) {
		fmt.Fprint(a.Out, q)
		line, err := in.ReadString('\n')
		if err != nil && strings.TrimSpace(line) == "" {
			return "", errors.New("nothing was changed: there was no answer")
		}
		return line, nil
	}
}

// diffCommand shows the changes in effect.
func diffCommand(a *App) *cobra.Command {
	f := &putBackFlags{}
	c := &cobra.Command{
		Use: "diff", Short: "Show the changes that are not undone", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			f.Continue = f.Resume == ""
			o, err := a.Open(c.Context(), &f.Options, setup.Frontend{Name: "diff", ReadOnly: true})
			if err != nil {
				return err
			}
			defer o.Close()
			w := f.unit(undo.ByAll)
			if w.Kind == undo.ByFile {
				w.Kind = undo.ByAll // all changes to the file
			}
			text, err := o.View().Changes().Diff(c.Context(), w)
			if err != nil {
				return err
			}
			fmt.Fprint(a.Out, plain.Diff(text, plain.ThemeOf(a.Terminal, a.Env)))
			return nil
		},
	}
	f.which(c)
	f.units(c, "show the changes of the last turn", "show all changes of this file", "show the changes of the last command", "show all changes of the session (the default)")
	return c
}
