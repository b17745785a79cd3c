package sqlite

import (
	"cmp"
	"context"
	"fmt"

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
	var facts store.Facts // of the shared events
	for e, err := range s.ReadKinds(ctx, from.Session, 0, "prompted", "rebased") {
		if err != nil {
			return err
		}
		if e.Seq > from.At {
			break
		}
		f := store.Of(e.Body)
		facts.Title, facts.Model = cmp.Or(facts.Title, f.Title), cmp.Or(f.Model, facts.Model)
	}
	now := s.opt.Now().UnixNano()
	err := s.writer(ctx, func(ctx context.Context, c *conn) error {
		parent, err := c.one(ctx, "SELECT num, last, dir, updated FROM sessions WHERE id = ? AND state = 0", from.Session)
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
		_, err = c.exec(ctx, "INSERT INTO sessions (id, dir, title, model, created, updated, last, parent, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			id, text(parent[2]), facts.Title, facts.Model, now, max(now, integer(parent[3])), from.At, parent[0], from.At)
		return err
	})
	return s.explain("fork a session in", err)
}
