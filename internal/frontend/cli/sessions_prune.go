package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

func pruneCommand(a *App) *cobra.Command {
	var older string
	var all, sure bool
	c := &cobra.Command{
		Use: "prune --older-than AGE", Short: "Delete old sessions", Args: exactly(0),
		Long: `Delete the sessions of this folder that were not used for that long, such as 30d,
8w or 36h: whole sessions, with the data that undo needs. It lists them and asks for
confirmation first, except with --yes.`,
		RunE: func(c *cobra.Command, _ []string) error {
			age, err := parseAge(older)
			if err != nil {
				return err
			}
			return pruneSessions(c.Context(), a, age, all, sure)
		},
	}
	c.Flags().StringVar(&older, "older-than", "", "delete sessions older than this, such as 30d")
	c.Flags().BoolVarP(&all, "all", "a", false, "use the sessions of all folders")
	c.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask for confirmation")
	return c
}

// parseAge parses an age as people write it. There is no default: only sessions of an
// age that somebody named are deleted.
func parseAge(s string) (time.Duration, error) {
	if s == "" {
		return 0, usageError("--older-than is missing: pawl sessions prune --older-than 30d")
	}
	for unit, d := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		if n, ok := strings.CutSuffix(s, unit); ok {
			if days, err := strconv.Atoi(n); err == nil && days > 0 && days < 100_000/int(d/(24*time.Hour)) {
				return time.Duration(days) * d, nil
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	return 0, usageError("%q is not an age: use one such as 30d, 8w or 36h", s)
}

func pruneSessions(ctx context.Context, a *App, age time.Duration, all, sure bool) error {
	st, paths, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	rows, err := a.rows(ctx, st, all)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for _, r := range rows {
		there[r.ID] = true
	}
	old := slices.DeleteFunc(rows, func(r event.Row) bool { // an agent's session is deleted with the one that it worked for
		return r.Parent != nil && there[r.Parent.Session] || a.Now().Sub(r.Updated) <= age
	})
	if len(old) == 0 {
		fmt.Fprintln(a.Out, "no session is that old")
		return nil
	}
	for _, r := range old {
		fmt.Fprintln(a.Out, plain.Line(fmt.Sprintf("%s  %s  %s", r.ID, r.Updated.Local().Format("2006-01-02 15:04"), r.Title)))
	}
	if ok, err := a.mayDelete(len(old), sure); !ok {
		return err
	}
	var failed []error
	for _, r := range old {
		if err := removeSession(ctx, st, paths, r); err != nil {
			failed = append(failed, fmt.Errorf("session %s: %w", r.ID, err))
		}
	}
	fmt.Fprintln(a.Out, "deleted "+plural.Of(len(old)-len(failed), "session"))
	return errors.Join(failed...)
}

// rows returns the sessions of the current folder, or of all folders.
func (a *App) rows(ctx context.Context, st event.Store, all bool) ([]event.Row, error) {
	if all {
		return st.Sessions(ctx, "")
	}
	dir, err := a.RealDir("")
	if err != nil {
		return nil, err
	}
	return st.Sessions(ctx, dir)
}

// removeSession deletes a session with its stored outputs.
func removeSession(ctx context.Context, st event.Store, paths settings.Paths, r event.Row) error {
	if h, ok := st.(event.Holder); ok {
		release, err := h.Hold(r.ID)
		if err != nil {
			return fault.NewConfiguration("close the session there first", "session %s was not deleted: %v", r.ID, err)
		}
		defer release()
	}
	if err := st.Delete(ctx, r.ID); err != nil {
		return err
	}
	attach.Forget(paths.State, r.ID)
	if !plainID().MatchString(r.ID) {
		return nil // no folder has such a name
	}
	return errors.Join(os.RemoveAll(filepath.Join(paths.Spill(), r.ID)), os.RemoveAll(filepath.Join(paths.Kept(), r.ID)))
}
