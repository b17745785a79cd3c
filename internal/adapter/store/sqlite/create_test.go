package sqlite

import (
	"database/sql/driver"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 10.4: the image is what the migrations make of an empty file; -update makes it.
func TestImage(t *testing.T) {
	ctx := t.Context()
	shape := func(s *Store) (out string) {
		t.Helper()
		must.Do(t, s.w.query(ctx, "SELECT type, name, sql FROM sqlite_schema UNION ALL SELECT 'pragma', group_concat(p), '' FROM (SELECT user_version p FROM pragma_user_version"+
			" UNION ALL SELECT application_id FROM pragma_application_id UNION ALL SELECT page_size FROM pragma_page_size UNION ALL SELECT auto_vacuum FROM pragma_auto_vacuum"+
			" UNION ALL SELECT journal_mode FROM pragma_journal_mode) ORDER BY 1, 2", nil, func(row []driver.Value) (bool, error) {
			out += fmt.Sprintln(row[0], row[1], row[2])
			return true, nil
		}))
		return out
	}
	path := filepath.Join(t.TempDir(), "log.db")
	must.Do(t, os.WriteFile(path, nil, 0o600))
	migrated := openAt(t, path, Options{})
	want := shape(migrated)
	if golden.Update() {
		must.Do(t, migrated.w.script(ctx, "PRAGMA wal_checkpoint(TRUNCATE)"))
		must.Do(t, os.WriteFile("schema/empty.db", must.Get(os.ReadFile(path))(t), 0o600))
	}
	if got := shape(openAt(t, filepath.Join(t.TempDir(), "log.db"), Options{})); got != want {
		t.Errorf("a new log is\n%swant\n%s", got, want)
	}
	s := InMemory(nil)
	defer s.Close()
	if got := shape(s); strings.ReplaceAll(got, "memory", "wal") != want {
		t.Errorf("a log in memory is\n%swant\n%s", got, want)
	}
}

// SPEC 10.4: a log that was opened to be ready takes the first append without a
// sync; with "full" every append is synced all the same.
func TestReady(t *testing.T) {
	for _, c := range []struct {
		durability string
		ready      bool
		open, more int // syncs
	}{{"normal", false, 0, 1}, {"normal", true, 1, 0}, {"full", true, 0, 2}} {
		t.Run(fmt.Sprint(c.durability, c.ready), func(t *testing.T) {
			d, path := newDisk(t), filepath.Join(t.TempDir(), "log.db")
			syncs := func() (n int) {
				d.mu.Lock()
				defer d.mu.Unlock()
				for _, o := range d.ops {
					if o.kind == opSync {
						n++
					}
				}
				return n
			}
			must.Do(t, must.Get(open(t.Context(), path, Options{Durability: c.durability}, d.name))(t).Close()) // it creates the log
			for id := range 2 {
				before := syncs()
				s := must.Get(open(t.Context(), path, Options{Durability: c.durability, Ready: c.ready}, d.name))(t)
				opened := syncs()
				must.Done(t)(s.Append(t.Context(), strconv.Itoa(id), 0, event.Draft{Body: event.Opened{Dir: "/w"}}))
				if open, more := opened-before, syncs()-opened; open != c.open || more != c.more {
					t.Errorf("%d syncs at opening and %d at the first append, want %d and %d", open, more, c.open, c.more)
				}
				must.Do(t, s.Close())
			}
		})
	}
}
