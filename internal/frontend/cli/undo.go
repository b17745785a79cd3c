package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/putback"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// putBackFlags are those of undo and redo.
type putBackFlags struct {
	flags
	turn, last, all, dry, yes bool
	file                      string
	include                   []string
}

// undoCommand undoes changes.
func undoCommand(a *App) *cobra.Command {
	f := &putBackFlags{}
	c := &cobra.Command{
		Use: "undo", Short: "Put back what the last turn changed",
		Long: `Put back the files that the last turn of a session changed, by tools or by
commands: all of them or none. Without a flag it is the whole last turn; in a
conversation a bare /undo is the last change alone.

It shows what it would do first, and asks on a terminal. A later edit by someone
else is kept: the file is merged, or left alone and the conflict shown. What
changed while a command ran, and may be somebody else's, is put back only when
you say so for that file (--include PATH). A file is removed only where the
agent created it and nobody changed it since.

Without a terminal it does what it is sure of: all, or with --yes what is
certain; it then says what it left, and exits 1. "pawl redo" takes it back.`,
		Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			return putBack(c.Context(), a, f, f.unit(undo.ByTurn))
		},
	}
	f.add(c)
	f.units(c, "all that the last turn changed (the default)", "the last change of this file", "what the last command changed", "all changes of the session that stand")
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

// redoCommand redoes what was undone.
func redoCommand(a *App) *cobra.Command {
	f := &putBackFlags{}
	c := &cobra.Command{
		Use: "redo", Short: "Do again what the last undo put back", Args: exactly(0),
		Long: `Do again what the newest undo of a session put back, under the same rules:
shown first, asked about on a terminal, and never over someone else's later edit.
It is a new change, which can be undone.`,
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
	fs.BoolVarP(&f.yes, "yes", "y", false, "ask nothing: do what is certain, and leave out the rest")
	fs.StringArrayVar(&f.include, "include", nil, "a file to put back although that needs a word (repeatable)")
}

// which adds the flags that select the session.
func (f *flags) which(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVarP(&f.Dir, "dir", "C", "", "of this folder instead of the current one")
	fs.StringVarP(&f.Resume, "session", "s", "", "of this session instead of the folder's newest")
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

// putBack shows a plan, asks if somebody can answer, and executes it.
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
		if c, ok, err = putback.Agree(p, asker(a)); err != nil {
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
		return fault.NewConfiguration("--yes leaves them out; --include PATH says that a file may be put back", "nothing was put back: %v", open)
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

// asker asks on the terminal.
func asker(a *App) func(string) (string, error) {
	in := bufio.NewReader(a.In)
	return func(q string) (string, error) {
		fmt.Fprint(a.Out, q)
		line, err := in.ReadString('\n')
		if err != nil && strings.TrimSpace(line) == "" {
			return "", errors.New("nothing was changed: no answer came")
		}
		return line, nil
	}
}

// diffCommand shows the changes in effect.
func diffCommand(a *App) *cobra.Command {
	f := &putBackFlags{}
	c := &cobra.Command{
		Use: "diff", Short: "Show what the last turn changed", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			f.Continue = f.Resume == ""
			o, err := a.Open(c.Context(), &f.Options, setup.Frontend{Name: "diff", ReadOnly: true})
			if err != nil {
				return err
			}
			defer o.Close()
			w := f.unit(undo.ByTurn)
			if w.Kind == undo.ByFile {
				w.Kind = undo.ByAll // all that was done to the file
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
	f.units(c, "of the last turn (the default)", "all changes of this file", "of the last command", "of the whole session")
	return c
}
