//go:build linux

package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 11.1, 19.1: random bursts of ten thousand changes during one command, in a
// tree of 300 folders whose files are old: while somebody reads the events and
// while nobody does, so that the system's queue overflows; with a hundred watches;
// on a file system that tells of nothing. Nothing is missed, nothing is invented.
// Each burst is as long as the queue of most systems, which takes its time.
func TestBurstsAgainstAModel(t *testing.T) {
	n, first := worlds(t)
	for name, c := range map[string]struct {
		tune   func(*Journal)
		listen bool
	}{
		"read meanwhile":  {nil, true},
		"a full queue":    {nil, false},
		"hundred watches": {func(j *Journal) { limited(j, 100, nil) }, true},
		"no notification": {func(j *Journal) {
			j.notify = func(string) (notifier, int, error) { return nil, 0, errForeign }
		}, true},
	} {
		for seed := first; seed < first+n; seed++ {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				root := realTemp(t)
				for i := range 300 {
					put(t, root, fmt.Sprintf("d%02d/e%d/f%d", i/10, i%10, i%3), fmt.Sprint(i%20))
				}
				in := must.Get(os.OpenRoot(root))(t)
				defer in.Close()
				b := &burst{in: in, r: rand.New(rand.NewPCG(seed, 11))}
				j := following(t, root, c.tune)
				clock := newClock(t)
				before := readTree(t, root)
				for step := range 2 {
					clock.ticks()
					if c.listen {
						must.Do(t, j.Checkpoint(fmt.Sprint("command ", step)))
					}
					// What comes last is in folders of which nothing was told before: there
					// an event that is lost is a change that is missed.
					b.from, b.dirs = 0, 10
					for i := range 10_000 {
						if i == 9_500 {
							if b.from, b.dirs = 10, 20; !c.listen {
								b.fill(maxQueued(t))
							}
						}
						b.act()
					}
					after := readTree(t, root)
					l := must.Get(j.Snapshot(t.Context(), nil))(t)
					compare(t, j, before, after, l.Effects, true)
					if !c.listen && l.Partial && maxQueued(t) <= 20_000 {
						t.Error("the queue did not overflow: this test sees nothing")
					}
					if len(l.Effects) < 100 {
						t.Errorf("only %d changes", len(l.Effects))
					}
					must.Do(t, j.Checkpoint(""))
					if l := verified(t, j); len(l.Effects) != 0 {
						t.Fatalf("not seen at first: %+v", l.Effects)
					}
					before = after
				}
			})
		}
	}
}

// burst changes files one after the other, within a root.
type burst struct {
	in         *os.Root
	r          *rand.Rand
	n          int
	from, dirs int // which folders at the top
}

func (b *burst) path() string {
	p := fmt.Sprintf("d%02d", b.from+b.r.IntN(b.dirs))
	if b.r.IntN(8) == 0 {
		return p
	}
	p = filepath.Join(p, fmt.Sprintf("e%d", b.r.IntN(10)))
	if b.r.IntN(20) == 0 {
		return p
	}
	return filepath.Join(p, fmt.Sprintf("f%d", b.r.IntN(5)))
}

// fill does as much in one file as the system's queue holds, if that is not too much.
func (b *burst) fill(events int) {
	for range min(events, 20_000)/2 + 100 { // a change, and its end
		if f, err := b.in.OpenFile("full", os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
			_, _ = f.WriteString("x")
			_ = f.Close()
		}
	}
}

// act does one thing; that it may fail is part of it.
func (b *burst) act() {
	p := b.path()
	b.n++
	switch b.r.IntN(20) {
	default:
		if b.in.MkdirAll(filepath.Dir(p), 0o755) == nil {
			// Without O_TRUNC, for which some file systems write to the disk at once.
			if f, err := b.in.OpenFile(p, os.O_WRONLY|os.O_CREATE, 0o644); err == nil {
				_, _ = fmt.Fprintf(f, "%02d", b.n%20)
				_ = f.Close()
			}
		}
	case 0, 1:
		_ = b.in.Remove(p)
	case 2, 3:
		_ = b.in.Rename(p, b.path())
	case 4: // two folders change places
		q := b.path()
		if b.in.Rename(p, "swap~") == nil {
			_ = b.in.Rename(q, p)
			_ = b.in.Rename("swap~", q)
		}
	case 5:
		_ = b.in.Chmod(p, 0o755)
	}
}
