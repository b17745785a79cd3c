package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.12: the sandbox's own caches are bounded: those of workspaces that are
// not used go, and of the others the oldest files; nothing is followed out of
// them, and one look a day is enough.
func TestPrune(t *testing.T) {
	now := time.Now()
	top, outside := t.TempDir(), t.TempDir()
	write := func(file string, size int, age time.Duration) {
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must.Do(t, os.WriteFile(file, make([]byte, size), 0o600))
		must.Do(t, os.Chtimes(file, now.Add(-age), now.Add(-age)))
	}
	b := bounds{unused: 30 * 24 * time.Hour, most: 100, leave: 60, entries: 20, every: 24 * time.Hour}
	for i, n := range []string{"a", "b", "c", "d"} {
		write(filepath.Join(top, "mine/go-build", n), 30, time.Duration(4-i)*time.Hour) // a is the oldest
		write(filepath.Join(top, "small/npm", n), 10, time.Hour)
		write(filepath.Join(top, "unused", n), 1, time.Hour)
	}
	for i := range 30 {
		write(filepath.Join(top, "many", strings.Repeat("x", i+1)), 0, time.Hour)
	}
	write(filepath.Join(outside, "keep"), 1000, 90*24*time.Hour)
	for _, link := range []string{"mine/link", "unused/link", "away"} {
		must.Do(t, os.Symlink(outside, filepath.Join(top, link)))
	}
	old := now.Add(-40 * 24 * time.Hour)
	for _, d := range []string{"unused", "mine"} { // mine is in use by now
		must.Do(t, os.Chtimes(filepath.Join(top, d), old, old))
	}
	list := func() string {
		var out []string
		err := filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
			if rel, _ := filepath.Rel(top, p); err == nil && !d.IsDir() && rel != pruned {
				out = append(out, rel)
			}
			return err
		})
		must.Do(t, err)
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	check := func(at time.Time) {
		if caches := must.Get(pruneDue(filepath.Join(top, "mine"), b, at))(t); caches != nil {
			prune(caches, b, at)
		}
	}
	check(now)
	const want = "away mine/go-build/c mine/go-build/d mine/link small/npm/a small/npm/b small/npm/c small/npm/d"
	if got := list(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if _, err := os.Stat(filepath.Join(outside, "keep")); err != nil {
		t.Error(err)
	}
	write(filepath.Join(top, "small/npm/e"), 500, time.Hour)
	for _, c := range []struct {
		after time.Duration
		there bool
	}{{23 * time.Hour, true}, {25 * time.Hour, false}} {
		check(now.Add(c.after))
		if there := strings.Contains(list(), "small/npm/e"); there != c.there {
			t.Errorf("after %s it is there: %v", c.after, there)
		}
	}
}
