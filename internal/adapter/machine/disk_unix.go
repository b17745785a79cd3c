//go:build unix

package machine

import (
	"errors"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// disk returns how much an ordinary user may still write on the disk of a
// folder, or of the nearest existing one above it.
func disk(folder string) (uint64, bool) {
	var s unix.Statfs_t
	for {
		err := unix.Statfs(folder, &s)
		if err == nil {
			return uint64(s.Bavail) * uint64(s.Bsize), s.Blocks > 0 //nolint:unconvert // their types differ by system
		}
		up := filepath.Dir(folder)
		if !errors.Is(err, fs.ErrNotExist) || up == folder {
			return 0, false
		}
		folder = up
	}
}
