package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/sessionfile"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/store/sqlite"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

func importCommand(a *App) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: "import FILE", Short: "Import a session that was exported as JSONL", Args: exactly(1),
		Long: `Import a session from a file that "pawl sessions export --format jsonl" wrote: its
prompts, replies, calls and results. The new session belongs to this folder; you can
show, search and continue it. Because the file may come from somebody else,
permissions, modes, file changes, checks and costs are not imported.`,
		RunE: func(c *cobra.Command, args []string) error { return importSession(c.Context(), a, f, args[0]) },
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "use this folder instead of the current one")
	return c
}

// importBatch is how many events are stored per transaction.
const importBatch = 500

func importSession(ctx context.Context, a *App, f *flags, name string) (err error) {
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return err
	}
	in, err := plainfile.Open(a.Path(name))
	if err != nil {
		return usageError("cannot import %s: %w", name, err)
	}
	defer in.Close()
	paths, err := settings.PathsFrom(a.Env)
	if err != nil {
		return err
	}
	at := a.Now()
	st, err := sqlite.Open(ctx, paths.Database(), sqlite.Options{Now: func() time.Time { return at }})
	if err != nil {
		return err
	}
	defer st.Close()
	id := setup.NewID()
	last, waiting := int64(0), []event.Draft{}
	flush := func() error {
		es, err := st.Append(ctx, id, last, waiting...)
		last, waiting = last+int64(len(es)), waiting[:0]
		return err
	}
	// Remove an incomplete import.
	defer func() {
		if err != nil && last > 0 {
			err = errors.Join(err, st.Delete(context.WithoutCancel(ctx), id))
		}
	}()
	begun := false
	kept, left, err := sessionfile.Read(in, a.Now(), secrets.New(a.Secrets()...).MaskBytes, func(when time.Time, b event.Body) error {
		if !begun {
			begun, at = true, when
			waiting = append(waiting, event.Draft{Body: event.Opened{Dir: dir, Pawl: Version, Mode: "ask", Front: "import"}})
		}
		if !when.Equal(at) || len(waiting) >= importBatch {
			if err := flush(); err != nil {
				return err
			}
		}
		at = when
		waiting = append(waiting, event.Draft{Body: b})
		return nil
	})
	switch {
	case err != nil:
		return usageError("cannot import %s: %w", name, err)
	case kept == 0:
		return usageError("cannot import %s: it contains no prompt and no reply", name)
	}
	if err := flush(); err != nil {
		return err
	}
	fmt.Fprintf(a.Out, "imported as session %s: %s; %s of other kinds left out\n", id, plural.Of(kept, "event"), plural.Of(left, "event"))
	return nil
}

// plainID matches the ids that pawl generates; no other id is used in a path.
var plainID = lazyregexp.New(`^[0-9A-Za-z_-]+$`)
