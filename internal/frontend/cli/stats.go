package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
)

// statsCommand counts what sessions did.
func statsCommand(a *App) *cobra.Command {
	f := &flags{}
	asJSON, all := false, false
	c := &cobra.Command{
		Use: "stats [SESSION]", Short: "Count calls, tokens and costs per tool, model, session and day",
		Long: `Count calls, tokens, times and costs of this folder's sessions, or of one: by tool,
model, session and day. A "+" after a cost: a part of it is not known.`,
		Args: atMostOne,
		RunE: func(c *cobra.Command, args []string) error { return showStats(c.Context(), a, f, args, all, asJSON) },
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "use this folder instead of the current one")
	c.Flags().BoolVarP(&all, "all", "a", false, "use the sessions of all folders")
	c.Flags().BoolVar(&asJSON, "json", false, "print as JSON")
	return c
}

func showStats(ctx context.Context, a *App, f *flags, args []string, all, asJSON bool) error {
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := sessionsToCount(ctx, a, st, f, args, all)
	if err != nil {
		return err
	}
	rep, err := brief.Count(ctx, st, rows)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(a.Out, rep)
	}
	titles := map[string]string{}
	for _, x := range rows {
		titles[x.ID] = x.Title
	}
	brief.Stats(a.Out, rep, titles)
	return nil
}

// sessionsToCount returns the sessions to count, newest first, and those of their agents and
// workers.
func sessionsToCount(ctx context.Context, a *App, st event.Store, f *flags, args []string, all bool) ([]event.Row, error) {
	rows, err := st.Sessions(ctx, "")
	if len(args) > 0 && err == nil {
		row, err := a.session(ctx, st, f.Dir, args)
		return brief.Family(rows, func(r event.Row) bool { return r.ID == row.ID }), err
	}
	if err != nil || all {
		return rows, err
	}
	dir, err := a.RealDir(f.Dir)
	return brief.Family(rows, func(r event.Row) bool { return r.Dir == dir }), err
}
