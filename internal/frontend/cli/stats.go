package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/policy/stats"
)

// statsCommand counts what sessions did.
func statsCommand(a *App) *cobra.Command {
	f := &flags{}
	asJSON, all := false, false
	c := &cobra.Command{
		Use: "stats [SESSION]", Short: "Count calls, tokens and costs per tool, model, session and day",
		Long: `Count what the sessions of this folder, or the named session, did: calls, successes
and times per tool, tokens and costs per model, and both per session and per day.
Costs are computed from the usage that providers report and the price table. A "+"
after a cost means that a part of it is unknown.`,
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
	fold := stats.Fold{Zone: time.Local}
	shared := counted{}
	for _, r := range rows {
		skip := shared.skip(r, rows)
		if err := foldEvents(ctx, st, r.ID, func(e event.Event) {
			if e.Seq > skip {
				fold.Apply(e)
			}
		}); err != nil {
			return fmt.Errorf("session %s: %w", r.ID, err)
		}
	}
	rep := fold.Report()
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

// sessionsToCount returns the sessions to count, newest first.
func sessionsToCount(ctx context.Context, a *App, st event.Store, f *flags, args []string, all bool) ([]event.Row, error) {
	if len(args) > 0 {
		row, err := a.session(ctx, st, f, args)
		if err != nil {
			return nil, err
		}
		rows, err := st.Sessions(ctx, row.Dir)
		_, agents := family(rows)
		var chosen []event.Row
		tree(row, agents, 0, func(r event.Row, _ int) { chosen = append(chosen, r) })
		return chosen, err
	}
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return nil, err
	}
	if all {
		dir = ""
	}
	return st.Sessions(ctx, dir)
}

// counted maps a session to the last of its events that were counted as those of a fork
// that shares them.
type counted map[string]int64

// skip returns the last of a session's events that belong to another counted session:
// events that a fork shares are counted once.
func (c counted) skip(r event.Row, rows []event.Row) int64 {
	if r.Origin == nil || len(rows) == 1 {
		return 0
	}
	for _, other := range rows {
		if other.ID == r.Origin.Session {
			return r.Origin.At
		}
	}
	done := c[r.Origin.Session] // the parent was deleted, its forks were not
	c[r.Origin.Session] = max(done, r.Origin.At)
	return min(done, r.Origin.At)
}
