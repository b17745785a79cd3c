package sqlite

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

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
