package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/transcript"
)

func attachCommand(a *App) *cobra.Command {
	f := &flags{}
	steer := false
	c := &cobra.Command{
		Use: "attach [ID]", Short: "Watch a session that runs in another terminal, or take part in it", Args: atMostOne,
		Long: `Watch a session that is open in another terminal: the session with this ID, or
the newest open one of this folder. You see what is shown there.
With --steer you take part: your prompts, answers and interrupts go to that
session. Ctrl+C stops watching; the session goes on.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				f.Resume = args[0]
			}
			return a.attach(c.Context(), f, steer)
		},
	}
	c.Flags().StringVarP(&f.Dir, "dir", "C", "", "use this folder instead of the current one")
	c.Flags().BoolVar(&steer, "steer", false, "take part: send prompts, answers and interrupts to the session")
	c.Flags().BoolVar(&f.plain, "plain", false, "print it line by line, not on a full screen: for screen readers, logs and pipes")
	return c
}

func (a *App) attach(ctx context.Context, f *flags, steer bool) error {
	if steer {
		if err := a.byPerson("--steer"); err != nil {
			return err
		}
	}
	conf, paths, err := a.Settings()
	if err != nil {
		return err
	}
	row, owner, err := ownerOf(ctx, a, f, paths.State, steer)
	if err != nil {
		return err
	}
	f.Dir, f.Resume = row.Dir, row.ID
	f.attached = &attached{owner: owner, Attached: chat.Attached{Steers: steer, Over: func() (string, string) {
		again := "pawl --resume " + row.ID
		if owner.Ended() {
			return fmt.Sprintf("the pawl process %d, which ran the session, has ended", owner.PID()), again
		}
		if !isStored(a, row.ID) {
			return "the session was deleted", ""
		}
		return fmt.Sprintf("the pawl process %d, which ran the session, was killed; everything that was shown as done is saved", owner.PID()), again
	}}}
	if t := a.screenOn(f, conf.User.Screen); t != nil {
		return a.onScreen(ctx, f, setup.Frontend{Name: "attach"}, "", t, conf, paths)
	}
	if steer {
		return usageError("--steer needs the full screen: use a terminal that can move its cursor, without --plain")
	}
	return printEvents(ctx, a, f)
}

// printEvents prints a session of another process as it happens.
func printEvents(ctx context.Context, a *App, f *flags) error {
	ctx, stop := untilSignal(ctx, a.Signals)
	defer stop()
	st, _, err := a.store(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	last, write := int64(0), transcript.Text(a.Out)
	for e, err := range st.Read(ctx, f.Resume, 0) {
		if err == nil {
			err = write(e)
		}
		if err != nil {
			return err
		}
		last = e.Seq
	}
	for e, err := range f.attached.owner.Events(ctx, last) {
		if err != nil {
			break // the owner was killed
		}
		if err := write(e); err != nil {
			return err
		}
	}
	if ctx.Err() == nil {
		why, again := f.attached.Over()
		fmt.Fprintln(a.Out, plain.Line(why))
		if again != "" {
			fmt.Fprintln(a.Out, "to continue this session: "+again)
		}
	}
	return nil
}

// attached describes how a session of another process is opened.
type attached struct {
	chat.Attached
	owner  *attach.Owner
	opened bool
}

// ownerOf finds the session that the flags name, and connects to the process that runs
// it.
func ownerOf(ctx context.Context, a *App, f *flags, state string, steer bool) (row event.Row, owner *attach.Owner, err error) {
	st, _, err := a.store(ctx)
	if err != nil {
		return row, nil, err
	}
	defer st.Close()
	if f.Resume != "" {
		if row, err = st.Session(ctx, f.Resume); err != nil {
			return row, nil, setup.NoSession(err)
		}
		owner, err = reached(ctx, st, state, row.ID, steer)
		if errors.Is(err, attach.ErrNoOwner) {
			return row, nil, notOpen(st, state, row.ID)
		}
		return row, owner, err
	}
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return row, nil, err
	}
	for r, err := range setup.OwnSessions(ctx, st, dir) {
		if err != nil {
			return row, nil, err
		}
		row = r
		if owner, err = reached(ctx, st, state, row.ID, steer); err == nil {
			return row, owner, nil
		}
	}
	return row, nil, usageError("no session of %s is open in another terminal; see: pawl sessions list", dir)
}

// reached connects to the pawl that has a session open. A process that has just opened
// it serves it a moment later, so reached retries.
func reached(ctx context.Context, st event.Store, state, id string, steer bool) (*attach.Owner, error) {
	for range 50 {
		owner, err := attach.Dial(ctx, state, id, steer)
		if !errors.Is(err, attach.ErrNoOwner) {
			return owner, err
		}
		if held := (*event.HeldError)(nil); !errors.As(cleared(st, state, id), &held) {
			return nil, err
		}
		if err := session.SleepFor(ctx, 20*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return nil, attach.ErrNoOwner
}

// notOpen returns the error that explains why a session cannot be followed.
func notOpen(st event.Store, state, id string) error {
	if held := (*event.HeldError)(nil); errors.As(cleared(st, state, id), &held) {
		return fault.NewConfiguration("watch it with the same version of pawl; if the path of pawl's state folder is very long, set PAWL_HOME to a shorter one", "%v, and it cannot be watched", held)
	}
	return usageError("session %s is not open in another terminal; to continue it: pawl --resume %s", id, id)
}

// cleared cleans up after a session whose process was killed. It returns a HeldError if
// a process still has the session open.
func cleared(st event.Store, state, id string) error {
	h, ok := st.(event.Holder)
	if !ok {
		return nil
	}
	release, err := h.Hold(id)
	if err == nil {
		attach.Forget(state, id)
		release()
	}
	return err
}

// isStored reports whether a session still exists.
func isStored(a *App, id string) bool {
	st, _, err := a.store(context.Background())
	if err != nil {
		return false
	}
	defer st.Close()
	_, err = st.Session(context.Background(), id)
	return !errors.Is(err, event.ErrNoSession)
}

// follow opens a session of another process.
func (a *App) follow(ctx context.Context, f *flags, person chat.Person) (*setup.Opened, error) {
	if f.attached.opened {
		return nil, fault.NewConfiguration("start pawl in another terminal", "this terminal is attached to session %s", f.Resume)
	}
	f.attached.opened = true
	return a.Open(ctx, &f.Options, setup.Frontend{Name: "attach", ReadOnly: true, Configure: func(c *session.Config) { c.Owner = f.attached.owner }})
}

// terminalID returns an id that tells this terminal's entries from those of others.
func (f *flags) terminalID() string {
	if f.attached == nil {
		return ""
	}
	return fmt.Sprintf("%d-", os.Getpid())
}
