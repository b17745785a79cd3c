package setup

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
)

// This file finds the session that a command line means.

// sessionID returns the id of the session that the options name, or of a new one. For a
// new one it does not wait for the store.
func (s *opening) sessionID(ctx context.Context) (string, error) {
	opt, dir := s.opt, s.session.Dir
	if !opt.Fork && opt.Resume == "" && !opt.Continue && opt.SessionID == "" {
		return NewID(), nil
	}
	st, err := s.store()
	if err != nil {
		return "", err
	}
	var row event.Row
	switch {
	case opt.Resume != "" && opt.Resume != "latest":
		r, err := st.Session(ctx, opt.Resume)
		if err != nil {
			return "", NoSession(err)
		}
		row = r
	case opt.Continue, opt.Resume == "latest":
		for r, err := range OwnSessions(ctx, st, dir) {
			if err != nil {
				return "", err
			}
			if s.fr.ReadOnly || !OfSwarm(ctx, st, r.ID) { // a swarm's changes can be undone like any others, but nobody converses with it
				row = r
				break
			}
		}
		if row.ID == "" {
			return "", Usage("there is no session of %s to continue", dir)
		}
	default:
		return newSession(ctx, st, opt)
	}
	if row.Dir != "" && row.Dir != dir {
		return "", Usage("session %s belongs to the folder %s; to continue it there: -C %s", row.ID, row.Dir, row.Dir)
	}
	if !opt.Fork && opt.ForkAfter == "" {
		return row.ID, nil
	}
	id, err := newSession(ctx, st, opt)
	if err != nil {
		return "", err
	}
	at := row.Last
	if opt.ForkAt > 0 {
		at = opt.ForkAt
	}
	if opt.ForkAfter != "" {
		if at, err = agentsdk.Through(st.Read(ctx, row.ID, 0), opt.ForkAfter, opt.Drops); err != nil {
			return "", Usage("cannot continue session %s after a message: %w", row.ID, err)
		}
	}
	return id, st.Fork(ctx, event.Origin{Session: row.ID, At: at}, id)
}

// NoSession returns a clear error if err means that a session does not exist, and
// otherwise err.
func NoSession(err error) error {
	if errors.Is(err, event.ErrNoSession) {
		return Usage("%w; to list all: pawl sessions list", err)
	}
	return err
}

// newSession returns the id of a new session. An id in the options must not be in use
// yet.
func newSession(ctx context.Context, st event.Store, opt *Options) (string, error) {
	if opt.SessionID == "" {
		return NewID(), nil
	}
	if err := CheckSessionID(opt.SessionID); err != nil {
		return "", Usage("%w", err)
	}
	switch row, err := st.Session(ctx, opt.SessionID); {
	case err == nil && row.ID == opt.SessionID:
		return "", Usage("the session %s exists already; to continue it: --resume %s", row.ID, row.ID)
	case err != nil && !errors.Is(err, event.ErrNoSession):
		return "", err
	}
	return opt.SessionID, nil
}

// CheckSessionID returns why an id cannot be that of a new session, nil if it can.
func CheckSessionID(id string) error {
	if !sessionName().MatchString(id) {
		return fmt.Errorf("%q is not a session id: use 8 to 64 letters, digits and hyphens, such as a UUID", id)
	}
	return nil
}

var sessionName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9-]{7,63}$`)

// NewID returns 10 random bytes in hexadecimal: enough to make a short prefix unique
// for one person.
func NewID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// OfSwarm reports whether a session belongs to a swarm.
func OfSwarm(ctx context.Context, st event.Store, id string) bool {
	for e, err := range st.Read(ctx, id, 0) {
		b, ok := e.Body.(event.Opened)
		return err == nil && ok && b.Front == SwarmFront
	}
	return false
}

// OwnSessions yields the sessions of a folder, newest first, except those of agents,
// which are continued only by name.
func OwnSessions(ctx context.Context, st event.Store, dir string) iter.Seq2[event.Row, error] {
	return func(yield func(event.Row, error) bool) {
		for r, err := range st.Newest(ctx, dir) {
			if (err != nil || r.Parent == nil) && !yield(r, err) {
				return
			}
		}
	}
}

// SwarmFront is the value of Opened.Front in a swarm's log.
const SwarmFront = "swarm"
