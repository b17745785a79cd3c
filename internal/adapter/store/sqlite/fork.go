package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// Fork makes a session that shares another's events; see event.Store. It
// returns store.ErrExists if the id is taken, and store.ErrRefused if the
// parent does not have the sequence number.
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

// shared returns the time of the last shared event, and sets title and model
// from the shared events if they differ from those of all events.
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

// Delete removes a whole session; see event.Store. Its space is overwritten and
// reused. A content that was put and not named since is kept: somebody is about
// to name it.
func (s *Store) Delete(ctx context.Context, id string) error {
	var gone []string
	err := s.writer(ctx, func(ctx context.Context, c *conn) error {
		row, err := c.one(ctx, "SELECT num FROM sessions WHERE id = ? AND state = 0", id)
		if err != nil {
			return err
		}
		if row == nil {
			return fmt.Errorf("%w: %s", event.ErrNoSession, id)
		}
		nums, err := family(ctx, c, integer(row[0]))
		if err != nil {
			return err
		}
		gone = gone[:0]
		for _, num := range slices.Backward(nums) {
			named, err := c.one(ctx, "SELECT id FROM sessions WHERE num = ?", num)
			if err != nil {
				return err
			}
			gone = append(gone, text(named[0]))
			if err := s.drop(ctx, c, num); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		for _, session := range gone {
			s.forgetSnapshots(session)
		}
		s.tidy(ctx)
	}
	return s.explain("delete a session from", err)
}

// family lists a session, and then the sessions of its agents and of theirs.
func family(ctx context.Context, c *conn, num int64) ([]int64, error) {
	nums := []int64{num}
	for i := 0; i < len(nums); i++ {
		err := c.query(ctx, `SELECT o.num FROM sessions s JOIN sessions o ON o.owner = s.id AND o.owner <> ''
WHERE s.num = ? AND o.state = 0`, []driver.Value{nums[i]},
			func(row []driver.Value) (bool, error) {
				if n := integer(row[0]); !slices.Contains(nums, n) {
					nums = append(nums, n)
				}
				return true, nil
			})
		if err != nil {
			return nil, err
		}
	}
	return nums, nil
}

// drop removes a session, and earlier deleted ones that were kept for it.
func (s *Store) drop(ctx context.Context, c *conn, num int64) error {
	for {
		forked, err := c.one(ctx, "SELECT 1 FROM sessions WHERE parent = ?", num)
		if err != nil {
			return err
		}
		if forked != nil {
			_, err = c.exec(ctx, "UPDATE sessions SET state = 1, title = '' WHERE num = ?", num)
			return err
		}
		parent, err := s.purge(ctx, c, num)
		if err != nil || parent == 0 {
			return err
		}
		num = parent
	}
}

// purge removes a session without forks. It returns the num of a parent that
// waits to be removed, 0 for none.
func (s *Store) purge(ctx context.Context, c *conn, num int64) (int64, error) {
	row, err := c.one(ctx, "SELECT p.num FROM sessions s JOIN sessions p ON p.num = s.parent AND p.state = 1 WHERE s.num = ?", num)
	if err != nil {
		return 0, err
	}
	var alone []int64
	if err := c.query(ctx, `SELECT u.blob, b.hash FROM uses u JOIN blobs b ON b.num = u.blob WHERE u.session = ?1
  AND NOT EXISTS (SELECT 1 FROM uses o WHERE o.blob = u.blob AND o.session <> ?1)`, []driver.Value{num},
		func(row []driver.Value) (bool, error) {
			if _, fresh := s.puts.get(hex.EncodeToString(blob(row[1]))); !fresh {
				alone = append(alone, integer(row[0]))
			}
			return true, nil
		}); err != nil {
		return 0, err
	}
	for _, sql := range []string{
		"UPDATE sessions SET state = 2 WHERE num = ?1", // tells the trigger
		"DELETE FROM events WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32",
		"DELETE FROM uses WHERE session = ?1",
		"DELETE FROM sessions WHERE num = ?1",
	} {
		if _, err := c.exec(ctx, sql, num); err != nil {
			return 0, err
		}
	}
	for _, b := range alone {
		if _, err := c.exec(ctx, "DELETE FROM blobs WHERE num = ?", b); err != nil {
			return 0, err
		}
	}
	if row == nil {
		return 0, nil
	}
	parent := integer(row[0])
	if others, err := c.one(ctx, "SELECT 1 FROM sessions WHERE parent = ?", parent); err != nil || others != nil {
		return 0, err
	}
	return parent, nil
}

// tidy frees space after a committed deletion. If others are using the file it
// cannot, and the next deletion does it.
func (s *Store) tidy(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	s.write <- struct{}{}
	defer func() { <-s.write }()
	if s.closed {
		return
	}
	row, err := s.w.one(ctx, "SELECT freelist_count, page_count FROM pragma_freelist_count, pragma_page_count")
	if err != nil {
		return
	}
	if free, all := integer(row[0]), integer(row[1]); free > 4096 && free > all/2 {
		s.w.exec(ctx, "VACUUM")
	}
	s.w.one(ctx, "PRAGMA wal_checkpoint(TRUNCATE)") // deleted text leaves the WAL too
}
