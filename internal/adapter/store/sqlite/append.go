package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

const (
	seqBits = 32
	maxSeq  = 1<<seqBits - 1
)

// The statements of an append. The first one finds the session, checks that it has no
// newer events, and updates its row, in one statement. sqlAdvanceIn also writes the
// folder. It is used only if a draft names one, since that column is indexed.
const (
	sqlAdvance   = `UPDATE sessions SET last = last + ?3, updated = max(updated, ?4)` + sqlFacts
	sqlAdvanceIn = `UPDATE sessions SET last = last + ?3, updated = max(updated, ?4), dir = CASE WHEN dir = '' THEN ?5 ELSE dir END` + sqlFacts
	sqlFacts     = `,
  title = CASE WHEN title = '' THEN ?6 ELSE title END,
  model = CASE WHEN ?7 = '' THEN model ELSE ?7 END
WHERE id = ?1 AND last = ?2 AND state = 0 RETURNING num, updated`
	sqlBegin = `INSERT INTO sessions (id, dir, title, model, created, updated, last, owner, owner_call, agent)
VALUES (?1, ?5, ?6, ?7, ?4, ?4, ?3, ?8, ?9, ?10)
RETURNING num, updated`
	sqlEvent = `INSERT INTO events (id, cause, time, kind, version, packed, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
)

// Append stores drafts; see event.Log.
func (s *Store) Append(ctx context.Context, session string, after int64, ds ...event.Draft) ([]event.Event, error) {
	items, facts, err := store.Prepare(session, ds)
	if err != nil {
		return nil, err
	}
	if after < 0 || after+int64(len(ds)) > maxSeq {
		return nil, fmt.Errorf("%w: after %d", store.ErrRefused, after)
	}
	if len(ds) == 0 {
		return nil, s.explain("append to", s.at(ctx, session, after))
	}
	bodies := make([]body, len(items))
	for i, it := range items {
		if len(it.Raw) > maxBlob {
			return nil, fmt.Errorf("%w: an event of %d bytes", store.ErrRefused, len(it.Raw))
		}
		if bodies[i].data, bodies[i].packed, err = s.pack.in(it.Raw); err != nil {
			return nil, s.explain("append to", err)
		}
	}
	now := s.opt.Now().UnixNano()
	err = s.writer(ctx, func(ctx context.Context, c *conn) error {
		num, at, err := advance(ctx, c, session, after, int64(len(ds)), now, facts)
		if err != nil {
			return err
		}
		now = at
		for i, it := range items {
			id := num<<seqBits | (after + int64(i) + 1)
			if _, err := c.exec(ctx, sqlEvent, id, it.Cause, now, it.Kind, int64(it.Version), bodies[i].packed, bodies[i].data); err != nil {
				return err
			}
			for _, hash := range it.Blobs {
				if err := s.use(ctx, c, num, hash); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, s.explain("append to", err)
	}
	out := make([]event.Event, len(ds))
	for i, d := range ds {
		out[i] = event.Event{Session: session, Seq: after + int64(i) + 1, Cause: d.Cause, Time: instant(now), Body: d.Body}
		for _, hash := range items[i].Blobs {
			s.puts.done(hash)
		}
	}
	return out, nil
}

// at checks that a session's last sequence number is seq. It serves an append without
// drafts, and writes nothing.
func (s *Store) at(ctx context.Context, session string, seq int64) error {
	return s.brief(ctx, func(c *conn) error { return stands(ctx, c, session, seq) })
}

// stands checks that a session's last sequence number is seq. That of a missing session
// is 0.
func stands(ctx context.Context, c *conn, session string, seq int64) error {
	row, err := c.one(ctx, "SELECT state, last FROM sessions WHERE id = ?", session)
	switch {
	case err != nil:
		return err
	case row == nil && seq == 0:
		return nil
	case row == nil || integer(row[0]) != live:
		return fmt.Errorf("%w: %s", event.ErrNoSession, session)
	case integer(row[1]) != seq:
		return fmt.Errorf("%w: session %s is at %d, not at %d", event.ErrStale, session, integer(row[1]), seq)
	}
	return nil
}

// body is an event's JSON as it is stored.
type body struct {
	data   []byte
	packed int64
}

// advance adds n events to a session's row. It returns the row's num and the time of the
// new events.
func advance(ctx context.Context, c *conn, session string, after, n, now int64, f store.Facts) (num, at int64, err error) {
	sql := sqlAdvance
	if f.Dir != "" {
		sql = sqlAdvanceIn
	}
	row, err := c.one(ctx, sql, session, after, n, now, f.Dir, f.Title, f.Model)
	if err != nil {
		return 0, 0, err
	}
	if row == nil {
		if err := stands(ctx, c, session, after); err != nil {
			return 0, 0, err
		}
		var owner event.ParentCall
		if f.Parent != nil {
			owner = *f.Parent
		}
		if row, err = c.one(ctx, sqlBegin, session, nil, n, now, f.Dir, f.Title, f.Model, owner.Session, owner.Call, owner.Agent); err != nil {
			return 0, 0, err
		}
	}
	return integer(row[0]), integer(row[1]), nil
}

// instant returns a stored time.
func instant(ns int64) time.Time { return time.Unix(0, ns).UTC() }
