package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/why"
)

// whyCommand explains from a session's log what stopped it.
func whyCommand(a *App) *cobra.Command {
	f := &flags{}
	asJSON := false
	c := &cobra.Command{
		Use: "why [SESSION]", Short: "Explain why a session was stopped, denied, blocked or expensive",
		Long: `Explain the last halt, denial, block, loop, retry and budget stop of a session, why
its changes are not verified, and what cost most, with the evidence from its log. The
default is the newest session of this folder.`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error { return explain(c.Context(), a, f, args, asJSON) },
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "use this folder instead of the current one")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func explain(ctx context.Context, a *App, f *flags, args []string, asJSON bool) error {
	st, _, row, err := a.stored(ctx, f.Dir, args...)
	if err != nil {
		return err
	}
	defer st.Close()
	fold := why.Fold{}
	broken := eventlog.Fold(ctx, st, row.ID, eventlog.Snapshots{}, &fold)
	found := fold.Findings()
	if asJSON {
		if err := printJSON(a.Out, struct {
			Session  string        `json:"session"`
			Findings []why.Finding `json:"findings"`
		}{row.ID, found}); err != nil {
			return err
		}
		return broken
	}
	fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("session %s  %s", row.ID, row.Title)))
	brief.Why(a.Out, found)
	return broken
}

// stored opens the log of sessions, and finds a session in it as session does.
func (a *App) stored(ctx context.Context, dir string, args ...string) (event.Store, settings.Paths, event.Row, error) {
	st, paths, err := a.store(ctx)
	if err != nil {
		return nil, paths, event.Row{}, err
	}
	row, err := a.session(ctx, st, dir, args)
	if err != nil {
		return nil, paths, row, errors.Join(err, st.Close())
	}
	return st, paths, row, nil
}

// session returns the session that an argument names or, without one, the folder's
// newest.
func (a *App) session(ctx context.Context, st event.Store, dir string, args []string) (event.Row, error) {
	if len(args) > 0 {
		row, err := st.Session(ctx, args[0])
		return row, setup.NoSession(err)
	}
	dir, err := a.RealDir(dir)
	if err != nil {
		return event.Row{}, err
	}
	for r, err := range setup.OwnSessions(ctx, st, dir) {
		return r, err // the first
	}
	return event.Row{}, usageError("there is no session in %s; to list all: pawl sessions list --all", dir)
}

func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
