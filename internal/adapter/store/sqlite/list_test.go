package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 19.3: what a start, --continue and a list ask of the log costs no more
// where there are many sessions: each is found in an index, and nothing is sorted.
func TestSessionsAreFoundInAnIndex(t *testing.T) {
	s := fresh(t)
	for i := range 300 {
		must.Done(t)(s.Append(t.Context(), fmt.Sprint("s", i), 0, event.Draft{Body: event.Opened{Dir: fmt.Sprint("/w", i%3)}}))
	}
	for _, q := range []struct {
		name, sql string
		args      []driver.Value
		want      string
		never     string
	}{
		{"the newest of a folder", sqlNewestOf, []driver.Value{"/w1", int64(1) << 62, int64(1), int64(1) << 62, int64(32)}, "SEARCH s USING INDEX sessions_of_dir (dir=? AND minute<?)", "FOR ORDER BY"},
		{"the newest of all", sqlNewest, []driver.Value{"", int64(1) << 62, int64(1), int64(1) << 62, int64(32)}, "SEARCH s USING INDEX sessions_by_minute (minute<?)", "FOR ORDER BY"},
		{"how many of a folder", sqlCountOf, []driver.Value{"/w1"}, "SEARCH s USING COVERING INDEX sessions_of_dir (dir=?)", "SCAN"},
		{"how many", sqlCount, []driver.Value{""}, "INDEX sessions_", "SCAN s\n"},
		{"by the start of an id", sqlPrefix, []driver.Value{"s1", prefixEnd("s1")}, "SEARCH s USING INDEX sqlite_autoindex_sessions_1 (id>? AND id<?)", "TEMP B-TREE"},
		{"the agents of one", sqlAgents, []driver.Value{"s1"}, "USING INDEX sessions_owner (owner=?)", "SCAN"},
	} {
		var plan strings.Builder
		err := s.reader(t.Context(), func(c *conn) error {
			return c.query(t.Context(), "EXPLAIN QUERY PLAN "+q.sql, q.args, func(row []driver.Value) (bool, error) {
				plan.WriteString(text(row[3]) + "\n")
				return true, nil
			})
		})
		if err != nil || !strings.Contains(plan.String(), q.want) || strings.Contains(plan.String(), q.never) {
			t.Errorf("%s: %v\n%s", q.name, err, plan.String())
		}
	}
}

// older makes a log that of a pawl before there were the indexes.
const older = `DROP TRIGGER sessions_begin; DROP TRIGGER sessions_go_on; DROP INDEX sessions_of_dir; DROP INDEX sessions_by_minute; DROP INDEX sessions_going;
ALTER TABLE sessions DROP COLUMN minute`

// SPEC 10.4: a log that an older pawl made gets the index, and one that an older
// pawl goes on with keeps it.
func TestIndexOfOldLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	open := func() *Store {
		s := must.Get(Open(t.Context(), path, Options{}))(t)
		return s
	}
	s := open()
	told(t, s, "s", 0, "a")
	must.Do(t, s.w.script(t.Context(), older))
	must.Do(t, s.Close())
	s = open()
	defer s.Close()
	if _, _, _, indexed, err := s.marks(t.Context()); err != nil || !indexed {
		t.Errorf("indexed %v, %v", indexed, err)
	}
	told(t, s, "z", 0, "a")
	told(t, s, "y", 0, "a")
	// An older pawl goes on with one, and makes one.
	if err := s.w.script(t.Context(), `UPDATE sessions SET last = last + 0, updated = updated + 7200000000000, dir = CASE WHEN dir = '' THEN '' ELSE dir END WHERE id = 's';
INSERT INTO sessions (id, dir, title, model, created, updated, last) SELECT 'new', '', '', '', updated, updated + 7200000000000, 0 FROM sessions WHERE id = 's'`); err != nil {
		t.Fatal(err)
	}
	if got := newestOf(t, s); got != "new s y z" {
		t.Errorf("the newest are %q", got)
	}
}

func newestOf(t *testing.T, s *Store) string {
	t.Helper()
	var ids []string
	for r, err := range s.Newest(context.Background(), "") {
		must.Do(t, err)
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}
