package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// SPEC 16.12: the sandbox's own caches are bounded: those of workspaces that are
// not used go, and of the others the oldest files; nothing is followed out of
// them, and one look a day is enough.
func TestPrune(t *testing.T) {
	now := time.Now()
	top, outside := t.TempDir(), t.TempDir()
	write := func(file string, size int, age time.Duration) {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
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
		if err := os.Symlink(outside, filepath.Join(top, link)); err != nil {
			t.Fatal(err)
		}
	}
	old := now.Add(-40 * 24 * time.Hour)
	for _, d := range []string{"unused", "mine"} { // mine is in use by now
		if err := os.Chtimes(filepath.Join(top, d), old, old); err != nil {
			t.Fatal(err)
		}
	}
	list := func() string {
		var out []string
		err := filepath.WalkDir(top, func(p string, d os.DirEntry, err error) error {
			if rel, _ := filepath.Rel(top, p); err == nil && !d.IsDir() && rel != pruned {
				out = append(out, rel)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	if err := prune(filepath.Join(top, "mine"), b, now); err != nil {
		t.Fatal(err)
	}
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
		if err := prune(filepath.Join(top, "mine"), b, now.Add(c.after)); err != nil {
			t.Fatal(err)
		}
		if there := strings.Contains(list(), "small/npm/e"); there != c.there {
			t.Errorf("after %s it is there: %v", c.after, there)
		}
	}
}
