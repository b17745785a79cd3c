package sqlite

import (
	"context"
	"database/sql/driver"
	"iter"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// newestPage is how many sessions one query of Newest reads.
const newestPage = 32

// The statements list the newest sessions of a folder (?1), or of all folders, after a
// position: ?2 is its time, ?3 its num, ?4 the minute of the time. An index orders
// sessions by the minute of their last event; those of one minute are sorted by the
// query.
const (
	sqlOwn      = ` AND (s.owner = '' OR NOT EXISTS (SELECT 1 FROM sessions o WHERE o.id = s.owner AND o.state = 0 AND (?1 = '' OR o.dir = ?1))) `
	sqlAfter    = `AND s.minute <= ?4 AND (s.updated, s.num) < (?2, ?3)` + sqlOwn + `ORDER BY s.minute DESC, s.updated DESC, s.num DESC LIMIT ?5`
	sqlNewestOf = sqlRow + `AND s.dir = ?1 ` + sqlAfter
	sqlNewest   = sqlRow + sqlAfter
	sqlCountOf  = `SELECT count(*) FROM sessions s WHERE s.state = 0 AND s.dir = ?1` + sqlOwn
	sqlCount    = `SELECT count(*) FROM sessions s WHERE s.state = 0` + sqlOwn
	sqlAgents   = sqlRow + `AND s.owner = ?1 AND s.owner <> '' ORDER BY s.updated, s.num`
	sqlPrefix   = sqlRow + `AND s.id >= ?1 AND s.id < ?2 ORDER BY s.id` // ?2 is prefixEnd
)

// Newest yields sessions by their last event; see event.Store.
func (s *Store) Newest(ctx context.Context, dir string) iter.Seq2[event.Row, error] {
	return func(yield func(event.Row, error) bool) {
		const end = int64(1<<63 - 1)
		updated, num := end, end
		query := sqlNewestOf
		if dir == "" {
			query = sqlNewest
		}
		for {
			var page []event.Row
			err := s.reader(ctx, func(c *conn) error {
				page = page[:0]
				return c.query(ctx, query, []driver.Value{dir, updated, num, updated / int64(time.Minute), int64(newestPage)}, func(row []driver.Value) (bool, error) {
					page = append(page, rowOf(row))
					updated, num = integer(row[5]), integer(row[12])
					return true, nil
				})
			})
			if err != nil {
				yield(event.Row{}, s.explain("list the sessions of", err))
				return
			}
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if len(page) < newestPage {
				return
			}
		}
	}
}

// Count returns how many rows Newest yields; see event.Store.
func (s *Store) Count(ctx context.Context, dir string) (n int, err error) {
	query := sqlCountOf
	if dir == "" {
		query = sqlCount
	}
	err = s.reader(ctx, func(c *conn) error {
		row, err := c.one(ctx, query, dir)
		if err == nil {
			n = int(integer(row[0]))
		}
		return err
	})
	return n, s.explain("list the sessions of", err)
}

// Agents lists the sessions that a session's agents run in; see event.Store.
func (s *Store) Agents(ctx context.Context, id string) ([]event.Row, error) {
	var out []event.Row
	err := s.reader(ctx, func(c *conn) error {
		out = nil
		return c.query(ctx, sqlAgents, []driver.Value{id},
			func(row []driver.Value) (bool, error) {
				out = append(out, rowOf(row))
				return true, nil
			})
	})
	return out, s.explain("list the sessions of", err)
}

// prefixEnd returns the least text that is greater than every text with the prefix.
func prefixEnd(prefix string) string {
	b := []byte(prefix)
	b[len(b)-1]++ // no UTF-8 text has the byte 255
	return string(b)
}
