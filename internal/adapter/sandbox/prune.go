package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
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

// prune applies bounds to the caches of all workspaces; own is the folder in use.
// Untrusted commands wrote the caches, so no link is followed out of the folder.
func prune(own string, b bounds, now time.Time) error {
	r, err := os.OpenRoot(filepath.Dir(own))
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Chtimes(filepath.Base(own), now, now); err != nil {
		return err
	}
	if st, err := r.Lstat(pruned); err == nil && now.Sub(st.ModTime()) < b.every && !st.ModTime().After(now) {
		return nil
	}
	if err := r.WriteFile(pruned, nil, 0o600); err != nil {
		return err
	}
	if err := r.Chtimes(pruned, now, now); err != nil {
		return err
	}
	folders, err := fs.ReadDir(r.FS(), ".")
	if err != nil {
		return err
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
	return nil
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
	slices.SortFunc(all, func(x, y file) int { return x.at.Compare(y.at) })
	for _, f := range all {
		if total <= b.leave {
			return
		}
		if r.Remove(f.name) == nil {
			total -= f.size
		}
	}
}
