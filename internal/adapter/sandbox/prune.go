package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// bounds limit the sandbox's own caches. A program can lose any file of its cache.
type bounds struct {
	unused  time.Duration // after which a workspace's caches are removed
	most    int64         // bytes of a workspace's caches
	leave   int64         // bytes that remain when there are more
	entries int           // files; with more all are removed
	every   time.Duration // between two checks
}

var usualBounds = bounds{unused: 30 * 24 * time.Hour, most: 4 << 30, leave: 3 << 30, entries: 1 << 20, every: 24 * time.Hour}

// pruned is a file beside the workspaces' caches. Its time is that of the last check. No
// command can write there.
const pruned = ".pruned"

// pruneDue returns the folder of the caches of all workspaces if they are to be checked
// now, nil if they have been; own is the folder in use. It writes all that pruning writes,
// so that what is left for later only removes files.
func pruneDue(own string, b bounds, now time.Time) (*os.Root, error) {
	r, err := os.OpenRoot(filepath.Dir(own))
	if err != nil {
		return nil, err
	}
	due := func() (bool, error) {
		if err := r.Chtimes(filepath.Base(own), now, now); err != nil {
			return false, err
		}
		if st, err := r.Lstat(pruned); err == nil && now.Sub(st.ModTime()) < b.every && !st.ModTime().After(now) {
			return false, nil
		}
		if err := r.WriteFile(pruned, nil, 0o600); err != nil {
			return false, err
		}
		return true, r.Chtimes(pruned, now, now)
	}
	if ok, err := due(); !ok || err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// prune applies bounds to the caches in r, and closes it. Untrusted commands wrote the
// caches, so no link is followed out of the folder.
func prune(r *os.Root, b bounds, now time.Time) {
	defer r.Close()
	folders, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return // it is tried again another day
	}
	for _, f := range folders {
		st, err := f.Info()
		if err != nil || !st.IsDir() {
			continue
		}
		if now.Sub(st.ModTime()) > b.unused {
			_ = r.RemoveAll(f.Name())
			continue
		}
		shrink(r, f.Name(), b)
	}
}

// shrink removes the oldest files of a folder until it is small enough.
func shrink(r *os.Root, folder string, b bounds) {
	type file struct {
		name string
		size int64
		at   time.Time
	}
	var all []file
	var total int64
	n := 0
	_ = fs.WalkDir(r.FS(), folder, func(p string, d fs.DirEntry, err error) error {
		if n++; n > b.entries {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() {
			return nil // what cannot be read does not count
		}
		if st, err := d.Info(); err == nil && st.Mode().IsRegular() {
			all, total = append(all, file{p, st.Size(), st.ModTime()}), total+st.Size()
		}
		return nil
	})
	if n > b.entries {
		_ = r.RemoveAll(folder)
		return
	}
	if total <= b.most {
		return
	}
	sorting.By(all, func(x, y file) int { return x.at.Compare(y.at) })
	for _, f := range all {
		if total <= b.leave {
			return
		}
		if r.Remove(f.name) == nil {
			total -= f.size
		}
	}
}
