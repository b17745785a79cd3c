package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/transcript"
)

func (a *App) sessionsCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "sessions", Short: "List, show, export and delete sessions",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError("no command sessions %s; there are list, show, export and delete", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return a.listSessions(c.Context(), "") },
	}
	var all bool
	list := &cobra.Command{
		Use: "list", Short: "List the sessions of this folder, newest first", Args: exactly(0),
		RunE: func(c *cobra.Command, _ []string) error {
			dir, err := a.realDir(&flags{})
			if err != nil {
				return err
			}
			if all {
				dir = ""
			}
			return a.listSessions(c.Context(), dir)
		},
	}
	list.Flags().BoolVarP(&all, "all", "a", false, "of all folders")
	show := &cobra.Command{
		Use: "show ID", Short: "Show a session as text", Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			return a.eachEvent(c.Context(), args[0], transcript.Text(a.Out))
		},
	}
	var format, output string
	export := &cobra.Command{
		Use: "export ID", Short: "Export a session as Markdown or JSONL", Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error { return a.export(c.Context(), args[0], format, output) },
	}
	export.Flags().StringVar(&format, "format", "markdown", "markdown or jsonl")
	export.Flags().StringVarP(&output, "output", "o", "", "write to this new file instead of stdout")
	del := &cobra.Command{
		Use: "delete ID", Short: "Delete a whole session", Args: exactly(1),
		RunE: func(c *cobra.Command, args []string) error { return a.deleteSession(c.Context(), args[0]) },
	}
	c.AddCommand(list, show, export, del)
	return c
}

func exactly(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError("usage: %s", c.UseLine())
		}
		return nil
	}
}

// store opens the log to look into it. Where there is none yet, none is made.
func (a *App) store(ctx context.Context) (event.Store, settings.Paths, error) {
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return nil, paths, err
	}
	if _, err := os.Stat(paths.Database()); errors.Is(err, fs.ErrNotExist) {
		return nil, paths, usageError("there are no sessions yet (%s does not exist)", paths.Database())
	}
	st, err := sqlite.Open(ctx, paths.Database(), sqlite.Options{Now: a.Now})
	return st, paths, err
}

func (a *App) listSessions(ctx context.Context, dir string) error {
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := st.Sessions(ctx, dir)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		fmt.Fprintln(a.Out, "no sessions of this folder; see: pawl sessions list --all")
	}
	for _, r := range rows {
		line := fmt.Sprintf("%s  %s  %5d events  %s", r.ID, r.Updated.Local().Format("2006-01-02 15:04"), r.Events, r.Title)
		if dir == "" {
			line += "  (" + r.Dir + ")"
		}
		fmt.Fprintln(a.Out, plain.Line(line))
	}
	return nil
}

// eachEvent reads a session. What can be read of a damaged log is shown before
// the error.
func (a *App) eachEvent(ctx context.Context, id string, show func(event.Event) error) error {
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	row, err := st.Session(ctx, id)
	if err != nil {
		return noSession(err, id)
	}
	for e, err := range st.Read(ctx, row.ID, 0) {
		if err != nil {
			return err
		}
		if err := show(e); err != nil {
			return err
		}
	}
	return nil
}

func (a *App) export(ctx context.Context, id, format, output string) (err error) {
	out := a.Out
	if output != "" {
		f, err := os.OpenFile(output, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return usageError("cannot export to %s: %w", output, err)
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		out = f
	}
	w := bufio.NewWriter(out)
	defer func() { err = errors.Join(err, w.Flush()) }()
	redact := transcript.Redact()
	switch format {
	case "markdown":
		write := transcript.Markdown(w)
		return a.eachEvent(ctx, id, func(e event.Event) error { return write(redact(e)) })
	case "jsonl":
		return a.eachEvent(ctx, id, func(e event.Event) error { return headless.WriteEvent(w, redact(e)) })
	}
	return usageError("no export format %q: markdown and jsonl exist", format)
}

func (a *App) deleteSession(ctx context.Context, id string) error {
	st, paths, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	row, err := st.Session(ctx, id)
	if err != nil {
		return noSession(err, id)
	}
	if err := st.Delete(ctx, row.ID); err != nil {
		return err
	}
	fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("deleted session %s (%s)", row.ID, row.Title)))
	return os.RemoveAll(filepath.Join(paths.Spill(), row.ID))
}
