package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// Fork creates a session that shares another session's events; see event.Store. It
// returns store.ErrExists if the id is taken, and store.ErrRefused if the parent does not
// have the sequence number.
func (s *Store) Fork(ctx context.Context, from event.Origin, id string) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	now := s.opt.Now().UnixNano()
	err := s.writer(ctx, func(ctx context.Context, c *conn) error {
		parent, err := c.one(ctx, "SELECT num, last, dir, title, model FROM sessions WHERE id = ? AND state = 0", from.Session)
		if err != nil {
			return err
		}
		if parent == nil {
			return fmt.Errorf("%w: %s", event.ErrNoSession, from.Session)
		}
		if last := integer(parent[1]); from.At < 0 || from.At > last {
			return fmt.Errorf("%w: session %s has no event %d to fork at, its last is %d", store.ErrRefused, from.Session, from.At, last)
		}
		if taken, err := c.one(ctx, "SELECT 1 FROM sessions WHERE id = ?", id); err != nil {
			return err
		} else if taken != nil {
			return fmt.Errorf("%w: %s", store.ErrExists, id)
		}
		facts := store.Facts{Title: text(parent[3]), Model: text(parent[4])}
		at, err := s.shared(ctx, c, from, integer(parent[1]), &facts)
		if err != nil {
			return err
		}
		_, err = c.exec(ctx, "INSERT INTO sessions (id, dir, title, model, created, updated, last, parent, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			id, text(parent[2]), facts.Title, facts.Model, now, max(now, at), from.At, parent[0], from.At)
		return err
	})
	return s.explain("fork a session in", err)
}

// shared returns the time of the last shared event. It sets title and model from the
// shared events if these differ from the values of all events.
func (s *Store) shared(ctx context.Context, c *conn, from event.Origin, last int64, facts *store.Facts) (at int64, err error) {
	spans, err := lineage(ctx, c, from.Session)
	if err != nil || from.At == 0 {
		if from.At == 0 {
			facts.Title, facts.Model = "", ""
		}
		return 0, err
	}
	for i := range spans {
		spans[i].to = min(spans[i].to, from.At)
	}
	spans = slices.DeleteFunc(spans, func(sp span) bool { return sp.from >= sp.to })
	end := spans[len(spans)-1]
	row, err := c.one(ctx, "SELECT time FROM events WHERE id = ?", end.num<<seqBits|end.to)
	if err != nil {
		return 0, err
	}
	if row == nil {
		return 0, fmt.Errorf("%w: session %s has no event %d", store.ErrCorrupt, from.Session, end.to)
	}
	if from.At == last {
		return integer(row[0]), nil
	}
	facts.Title, facts.Model = "", ""
	for _, sp := range spans {
		if err := s.facts(ctx, c, sp, "prompted", "", func(f store.Facts) bool { facts.Title = f.Title; return f.Title != "" }); err != nil {
			return 0, err
		}
		if facts.Title != "" {
			break
		}
	}
	for _, sp := range slices.Backward(spans) {
		if err := s.facts(ctx, c, sp, "rebased", "DESC", func(f store.Facts) bool { facts.Model = f.Model; return f.Model != "" }); err != nil {
			return 0, err
		}
		if facts.Model != "" {
			break
		}
	}
	return integer(row[0]), nil
}

// facts folds the events of a kind in a span, one by one, until stop returns true.
func (s *Store) facts(ctx context.Context, c *conn, sp span, kind, order string, stop func(store.Facts) bool) error {
	return c.query(ctx, "SELECT id, kind, version, packed, body FROM events WHERE id > ? AND id <= ? AND kind = ? ORDER BY id "+order,
		[]driver.Value{sp.num<<seqBits | sp.from, sp.num<<seqBits | sp.to, kind},
		func(row []driver.Value) (bool, error) {
			e, err := s.decode("", record{
				seq: integer(row[0]) & maxSeq, kind: text(row[1]), version: integer(row[2]),
				body: body{packed: integer(row[3]), data: blob(row[4])},
			})
			if err != nil {
				return false, err
			}
			return !stop(store.Of(e.Body)), nil
		})
}
