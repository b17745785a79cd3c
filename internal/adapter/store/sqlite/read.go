package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"iter"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
)

// The states of a session's row.
const (
	live   = 0
	hidden = 1 // deleted, but others were forked from it
	going  = 2 // being deleted, in several transactions (delete.go)
)

// A page is the result of one query. It is large enough to be fast, and small enough that
// a long log is never in memory and a slow reader blocks nobody.
const (
	pageRows  = 256
	firstRows = 16 // of the first query: some callers need only one event
	pageBytes = 1 << 20

	passedRows = 1 << 12 // rows that one query passes at most if only some kinds are read
)

// span is a range of events of one stored session: sequence numbers from+1 to to.
type span struct{ num, from, to int64 }

// Read yields events; see event.Log. It yields the events that were stored when it began.
func (s *Store) Read(ctx context.Context, session string, after int64) iter.Seq2[event.Event, error] {
	return s.read(ctx, session, after, "")
}

// ReadKinds implements event.Chooser. The bodies of other kinds are not read from the
// disk; with large outputs they are nearly all of the data.
func (s *Store) ReadKinds(ctx context.Context, session string, after int64, kinds ...string) iter.Seq2[event.Event, error] {
	return s.read(ctx, session, after, ","+strings.Join(kinds, ",")+",")
}

// read yields events of the kinds in a list between commas; "" means all kinds.
func (s *Store) read(ctx context.Context, session string, after int64, kinds string) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		var spans []span
		err := s.brief(ctx, func(c *conn) (err error) {
			spans, err = lineage(ctx, c, session)
			return err
		})
		if err != nil {
			yield(event.Event{}, s.explain("read a session of", err))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var ahead chan scanned // the next page, if it is being read
		defer func() {
			cancel()
			if ahead != nil {
				<-ahead
			}
		}()
		pages := &scan{store: s, session: session, spans: spans, after: after, kinds: kinds, rows: firstRows}
		if !pages.more() {
			return
		}
		page := pages.next(ctx)
		for first := true; ; first = false {
			// A caller that reads more than a few events usually reads all. Reading and decoding
			// take as long as the caller's own work, so they run in parallel with it.
			if !first && page.err == nil && pages.more() {
				ahead = make(chan scanned, 1)
				go func(to chan<- scanned) { to <- pages.next(ctx) }(ahead)
			}
			for _, e := range page.events {
				if !yield(e, nil) {
					return
				}
			}
			switch {
			case page.err != nil:
				yield(event.Event{}, s.explain("read a session of", page.err))
				return
			case ahead != nil:
				page, ahead = <-ahead, nil
			case first && pages.more():
				page = pages.next(ctx)
			default:
				return
			}
		}
	}
}

// scan reads spans of events, page by page.
type scan struct {
	store   *Store
	session string
	spans   []span
	after   int64
	kinds   string
	rows    int
}

// scanned is a page. If err is set, events has what was read before the error.
type scanned struct {
	events []event.Event
	err    error
}

// more reports whether there is another page.
func (c *scan) more() bool {
	for len(c.spans) > 0 {
		if sp := &c.spans[0]; max(sp.from, c.after) < sp.to {
			sp.from = max(sp.from, c.after)
			return true
		}
		c.spans = c.spans[1:]
	}
	return false
}

// next reads a page of the first span.
func (c *scan) next(ctx context.Context) (out scanned) {
	sp := &c.spans[0]
	records, last, err := c.store.page(ctx, c.session, *sp, c.kinds, c.rows)
	if err != nil {
		return scanned{err: err}
	}
	c.rows, sp.from = pageRows, last
	out.events = make([]event.Event, 0, len(records))
	for _, r := range records {
		e, err := c.store.decode(c.session, r)
		if err != nil {
			out.err = err
			return out
		}
		out.events = append(out.events, e)
	}
	return out
}

// lineage lists the spans of a session, the oldest ancestor's first.
func lineage(ctx context.Context, c *conn, session string) ([]span, error) {
	row, err := c.one(ctx, "SELECT num, last, parent, at FROM sessions WHERE id = ? AND state = 0", session)
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, fmt.Errorf("%w: %s", event.ErrNoSession, session)
	}
	var spans []span
	end := integer(row[1])
	for {
		at := integer(row[3])
		if end > at {
			spans = append(spans, span{integer(row[0]), at, end})
		}
		end = min(end, at)
		if row[2] == nil || end == 0 {
			break
		}
		parent := row[2]
		if row, err = c.one(ctx, "SELECT num, last, parent, at FROM sessions WHERE num = ?", parent); err != nil {
			return nil, err
		}
		if row == nil {
			return nil, fmt.Errorf("%w: session %s shares events of one that is not there", store.ErrCorrupt, session)
		}
	}
	for i, j := 0, len(spans)-1; i < j; i, j = i+1, j-1 {
		spans[i], spans[j] = spans[j], spans[i]
	}
	return spans, nil
}

// record is an event as it is stored.
type record struct {
	seq, cause, time int64
	kind             string
	version          int64
	body             body
}

// The events of a span. sqlChosen returns a body only for chosen kinds.
const (
	sqlEvents = "SELECT id, cause, time, kind, version, packed, body FROM events WHERE id > ?1 AND id <= ?2 ORDER BY id"
	sqlChosen = "SELECT id, cause, time, kind, version, packed, CASE WHEN instr(?3, ',' || kind || ',') THEN body END FROM events WHERE id > ?1 AND id <= ?2 ORDER BY id"
)

// page reads the next events of a span. It returns the sequence number of the last event
// that it read or passed. A gap means damage, or that the session was just deleted.
func (s *Store) page(ctx context.Context, session string, sp span, kinds string, rows int) (out []record, last int64, err error) {
	sql, args := sqlEvents, []driver.Value{sp.num<<seqBits | sp.from, sp.num<<seqBits | sp.to}
	if kinds != "" {
		sql, args = sqlChosen, append(args, kinds)
	}
	err = s.brief(ctx, func(c *conn) error {
		out, last = out[:0], sp.from
		size := 0
		err := c.query(ctx, sql, args, func(row []driver.Value) (bool, error) {
			seq := integer(row[0]) & maxSeq
			if seq != last+1 {
				return false, nil
			}
			last = seq
			if row[6] == nil {
				return last-sp.from < passedRows, nil
			}
			r := record{
				seq: seq, cause: integer(row[1]), time: integer(row[2]), kind: text(row[3]),
				version: integer(row[4]), body: body{packed: integer(row[5]), data: blob(row[6])},
			}
			size += len(r.body.data)
			out = append(out, r)
			return len(out) < rows && size < pageBytes, nil
		})
		if err != nil || last > sp.from {
			return err // the events before a gap are returned first
		}
		if _, err := lineage(ctx, c, session); err != nil {
			return err
		}
		return fmt.Errorf("%w: session %s has no event %d", store.ErrCorrupt, session, last+1)
	})
	if err != nil && last > sp.from {
		return out, last, nil // there is damage after these events: the next page reports it
	}
	return out, last, err
}

func (s *Store) decode(session string, r record) (event.Event, error) {
	raw, err := s.pack.out(r.body.data, r.body.packed)
	if err != nil {
		return event.Event{}, fmt.Errorf("%w: event %d of session %s: %w", store.ErrCorrupt, r.seq, session, err)
	}
	b, err := event.Decode(r.kind, int(r.version), raw)
	if err != nil {
		return event.Event{}, fmt.Errorf("%w: event %d of session %s: %w", store.ErrCorrupt, r.seq, session, err)
	}
	return event.Event{Session: session, Seq: r.seq, Cause: r.cause, Time: instant(r.time), Body: b}, nil
}

const sqlRow = `SELECT s.id, s.dir, s.title, s.model, s.created, s.updated, s.last, p.id, s.at, s.owner, s.owner_call, s.agent, s.num
FROM sessions s LEFT JOIN sessions p ON p.num = s.parent WHERE s.state = 0 `

func rowOf(row []driver.Value) event.Row {
	r := event.Row{
		ID: text(row[0]), Dir: text(row[1]), Title: text(row[2]), Model: text(row[3]),
		Created: instant(integer(row[4])), Updated: instant(integer(row[5])), Events: integer(row[6]), Last: integer(row[6]),
	}
	if row[7] != nil {
		r.Origin = &event.Origin{Session: text(row[7]), At: integer(row[8])}
	}
	if owner := text(row[9]); owner != "" {
		r.Parent = &event.ParentCall{Session: owner, Call: text(row[10]), Agent: text(row[11])}
	}
	return r
}

// Sessions lists sessions by their last event, newest first; see event.Store.
func (s *Store) Sessions(ctx context.Context, dir string) ([]event.Row, error) {
	var out []event.Row
	err := s.reader(ctx, func(c *conn) error {
		out = nil
		return c.query(ctx, sqlRow+"AND (?1 = '' OR s.dir = ?1) ORDER BY s.updated DESC, s.num DESC", []driver.Value{dir},
			func(row []driver.Value) (bool, error) {
				out = append(out, rowOf(row))
				return true, nil
			})
	})
	return out, s.explain("list the sessions of", err)
}

// Session returns one row; see event.Store. If several match it returns
// store.ErrAmbiguous.
func (s *Store) Session(ctx context.Context, id string) (event.Row, error) {
	if store.CheckID(id) != nil {
		return event.Row{}, fmt.Errorf("%w: %.40q", event.ErrNoSession, id)
	}
	var found []event.Row
	err := s.brief(ctx, func(c *conn) error {
		found = nil
		return c.query(ctx, sqlPrefix, []driver.Value{id, prefixEnd(id)},
			func(row []driver.Value) (bool, error) {
				found = append(found, rowOf(row))
				return found[0].ID != id, nil // the session whose whole id is the prefix comes first
			})
	})
	switch {
	case err != nil:
		return event.Row{}, s.explain("find a session in", err)
	case len(found) == 0:
		return event.Row{}, fmt.Errorf("%w: %s", event.ErrNoSession, id)
	case len(found) > 1 && found[0].ID != id:
		ids := make([]string, len(found))
		for i, r := range found {
			ids[i] = r.ID
		}
		return event.Row{}, store.Ambiguous(id, ids)
	}
	return found[0], nil
}
