package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 10.4: a new log has the schema of the source.
func TestImage(t *testing.T) {
	made := must.Get(newImage(context.Background()))(t)
	golden.File(t, "schema/empty.db", string(made))
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
			for id := range 2 { // the second opens what the first has closed
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

// newImage builds an empty log from the schema.
func newImage(ctx context.Context) ([]byte, error) {
	c, err := dialDSN(":memory:")
	if err != nil {
		return nil, err
	}
	defer c.close()
	sql := fmt.Sprintf("PRAGMA page_size=%d; PRAGMA auto_vacuum=%d; PRAGMA application_id=%d; BEGIN;", pageSize, incremental, appID)
	for v := 1; v <= version; v++ {
		sql += schema(v)
	}
	sql += indexes + "PRAGMA user_version=" + strconv.Itoa(version) + "; COMMIT;"
	if err := c.script(ctx, sql); err != nil {
		return nil, err
	}
	image, err := c.c.(interface{ Serialize() ([]byte, error) }).Serialize()
	if err != nil {
		return nil, err
	}
	// Bytes 18 and 19 of the header are the journal mode: 2 is WAL
	// (https://www.sqlite.org/fileformat2.html#file_format_version_numbers).
	if len(image) < 100 {
		return nil, errors.New("a new database has no header")
	}
	image[18], image[19] = 2, 2
	return image, nil
}
