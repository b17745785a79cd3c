package cli

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// This file finds the session that a command line means.

// sessionID returns the session that the flags name, or an id for a new one.
// For a new one it does not wait for the store.
func (a *App) sessionID(ctx context.Context, f *flags, c choices) (string, error) {
	if !f.fork && f.resume == "" && !f.continueLast && f.sessionID == "" {
		return newID(), nil
	}
	st, err := c.store()
	if err != nil {
		return "", err
	}
	dir := c.dir
	var row event.Row
	switch {
	case f.resume != "" && f.resume != "latest":
		r, err := st.Session(ctx, f.resume)
		if err != nil {
			return "", noSession(err, f.resume)
		}
		row = r
	case f.continueLast, f.resume == "latest":
		for r, err := range ownSessions(ctx, st, dir) {
			if err != nil {
				return "", err
			}
			if c.readOnly || !ofSwarm(ctx, st, r.ID) { // what a swarm wrote is taken back as all else is, but nobody talks to it
				row = r
				break
			}
		}
		if row.ID == "" {
			return "", usageError("there is no session of %s to continue", dir)
		}
	case f.fork:
		return "", usageError("--fork-session needs --continue or --resume")
	default:
		return a.newSession(ctx, st, f)
	}
	if row.Dir != "" && row.Dir != dir {
		return "", usageError("session %s belongs to %s; go there, or give -C %s", row.ID, row.Dir, row.Dir)
	}
	if !f.fork {
		if f.sessionID != "" {
			return "", usageError("--session-id names a new session; with --continue or --resume it needs --fork-session")
		}
		return row.ID, nil
	}
	id, err := a.newSession(ctx, st, f)
	if err != nil {
		return "", err
	}
	at := row.Last
	if f.forkAt > 0 {
		at = f.forkAt
	}
	return id, st.Fork(ctx, event.Origin{Session: row.ID, At: at}, id)
}

func noSession(err error, id string) error {
	if errors.Is(err, event.ErrNoSession) {
		return usageError("%w: %s; see: pawl sessions list", err, id)
	}
	return err
}

// newSession returns the id of a new session: an unused one from the flag.
func (a *App) newSession(ctx context.Context, st event.Store, f *flags) (string, error) {
	if f.sessionID == "" {
		return newID(), nil
	}
	if !sessionName().MatchString(f.sessionID) {
		return "", usageError("--session-id %q: give 8 to 64 letters, digits and hyphens, such as a UUID", f.sessionID)
	}
	switch row, err := st.Session(ctx, f.sessionID); {
	case err == nil && row.ID == f.sessionID:
		return "", usageError("there is a session %s already; --resume %s goes on with it", row.ID, row.ID)
	case err != nil && !errors.Is(err, event.ErrNoSession):
		return "", err
	}
	return f.sessionID, nil
}

var sessionName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{7,63}$`)

// newID returns 10 random bytes: enough to make a short prefix unique for a person.
func newID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// ofSwarm reports whether a session is a swarm's.
func ofSwarm(ctx context.Context, st event.Store, id string) bool {
	for e, err := range st.Read(ctx, id, 0) {
		b, ok := e.Body.(event.Opened)
		return err == nil && ok && b.Front == swarmFront
	}
	return false
}
