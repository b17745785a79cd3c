package sqlite

import (
	"context"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// The maximum that one transaction of a deletion removes, so that other processes do not
// wait longer.
const (
	stepRows  = 500
	stepBytes = 2 << 20
	stepPages = 2048 // free pages returned to the disk
)

// keptFree is how many free pages stay in the file for later writes.
const keptFree = 512

// Delete removes a whole session; see event.Store. Its space is overwritten and reused. A
// content that was put, and that no event has named since, is not removed: a caller is
// about to name it.
//
// The session is gone at once. Its data is removed in many short transactions, and other
// processes can append between them. If Delete is interrupted, the next deletion does the
// rest.
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
		for _, num := range nums {
			named, err := c.one(ctx, `UPDATE sessions SET state = CASE WHEN EXISTS (SELECT 1 FROM sessions f WHERE f.parent = ?1) THEN 1 ELSE 2 END, title = ''
WHERE num = ?1 RETURNING id`, num)
			if err != nil {
				return err
			}
			gone = append(gone, text(named[0]))
		}
		return nil
	})
	if err != nil {
		return s.explain("delete a session from", err)
	}
	for _, session := range gone {
		s.forgetSnapshots(session)
	}
	if err := s.inSteps(ctx, s.clear); err != nil {
		return s.explain("delete a session from", err)
	}
	s.tidy(ctx)
	return nil
}

// family lists a session, then the sessions of its agents, their agents, and so on.
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

// inSteps runs step in separate transactions until step reports that nothing is left.
// After each transaction it leaves the file to other processes for as long as the
// transaction took.
func (s *Store) inSteps(ctx context.Context, step func(context.Context, *conn) (more bool, err error)) error {
	for more := true; more; {
		began := time.Now()
		err := s.writer(ctx, func(ctx context.Context, c *conn) (err error) {
			more, err = step(ctx, c)
			return err
		})
		if err != nil {
			return err
		}
		if s.stepped != nil {
			s.stepped()
		}
		if more {
			time.Sleep(min(max(time.Since(began), time.Millisecond), 50*time.Millisecond))
		}
	}
	return nil
}

// clear removes a part of a session that is being deleted: first its events, then the
// contents that only it used, then its row.
func (s *Store) clear(ctx context.Context, c *conn) (more bool, err error) {
	row, err := c.one(ctx, "SELECT num FROM sessions WHERE state = 2 ORDER BY num DESC LIMIT 1")
	if err != nil || row == nil {
		return false, err
	}
	num := integer(row[0])
	for _, part := range []func(context.Context, *conn, int64) (bool, error){s.clearEvents, s.clearBlobs} {
		if some, err := part(ctx, c, num); err != nil || some {
			return true, err
		}
	}
	row, err = c.one(ctx, "DELETE FROM sessions WHERE num = ? RETURNING parent", num)
	if err != nil {
		return false, err
	}
	// A deleted parent that was kept only for this fork is removed too.
	if row[0] != nil {
		_, err = c.exec(ctx, "UPDATE sessions SET state = 2 WHERE num = ?1 AND state = 1 AND NOT EXISTS (SELECT 1 FROM sessions f WHERE f.parent = ?1)", integer(row[0]))
	}
	return true, err
}

// clearEvents removes the first events of a session. It returns false if there are none.
func (s *Store) clearEvents(ctx context.Context, c *conn, num int64) (some bool, err error) {
	last, bytes := int64(0), int64(0)
	err = c.query(ctx, "SELECT id, length(body) FROM events WHERE id >= ?1 << 32 AND id < (?1 + 1) << 32 ORDER BY id LIMIT ?2", []driver.Value{num, int64(stepRows)},
		func(row []driver.Value) (bool, error) {
			last, bytes = integer(row[0]), bytes+integer(row[1])
			return bytes < stepBytes, nil
		})
	if err != nil || last == 0 {
		return false, err
	}
	_, err = c.exec(ctx, "DELETE FROM events WHERE id >= ?1 << 32 AND id <= ?2", num, last)
	return true, err
}

// clearBlobs removes contents that only this session uses. It returns false if none are
// left.
func (s *Store) clearBlobs(ctx context.Context, c *conn, num int64) (some bool, err error) {
	var used, alone []int64
	bytes := int64(0)
	err = c.query(ctx, `SELECT b.num, b.hash, length(b.data), EXISTS (SELECT 1 FROM uses o WHERE o.blob = u.blob AND o.session <> ?1)
FROM uses u JOIN blobs b ON b.num = u.blob WHERE u.session = ?1 LIMIT ?2`, []driver.Value{num, int64(stepRows)},
		func(row []driver.Value) (bool, error) {
			used = append(used, integer(row[0]))
			if _, fresh := s.puts.get(hex.EncodeToString(blob(row[1]))); !fresh && integer(row[3]) == 0 {
				alone = append(alone, integer(row[0]))
				bytes += integer(row[2])
			}
			return bytes < stepBytes, nil
		})
	if err != nil {
		return false, err
	}
	for _, b := range used {
		if _, err := c.exec(ctx, "DELETE FROM uses WHERE session = ? AND blob = ?", num, b); err != nil {
			return false, err
		}
	}
	for _, b := range alone {
		if _, err := c.exec(ctx, "DELETE FROM blobs WHERE num = ?", b); err != nil {
			return false, err
		}
	}
	return len(used) > 0, nil
}

// tidy returns free space to the disk after a deletion. If other processes prevent it,
// the next deletion does it.
func (s *Store) tidy(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	s.shrink(ctx)
	s.write <- struct{}{}
	defer func() { <-s.write }()
	if !s.closed {
		s.w.one(ctx, "PRAGMA wal_checkpoint(TRUNCATE)") // deleted text leaves the WAL too
	}
}

// shrink returns free pages to the disk, a few at a time.
func (s *Store) shrink(ctx context.Context) {
	_ = s.inSteps(ctx, func(ctx context.Context, c *conn) (more bool, err error) { // else the next deletion does it
		row, err := c.one(ctx, "SELECT freelist_count, auto_vacuum FROM pragma_freelist_count, pragma_auto_vacuum")
		if err != nil || integer(row[0]) <= keptFree || integer(row[1]) != incremental { // a file of an old version keeps its size
			return false, err
		}
		n := min(integer(row[0])-keptFree, stepPages)
		return n == stepPages, c.script(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", n))
	})
}
