//go:build !linux

package workspace

import (
	"io"
	"os"
	"syscall"
)

// folder opens many files of one folder, and never through a symlink.
type folder struct{ root *os.Root }

func openFolder(dir *os.Root) (*folder, error) { return &folder{dir}, nil }

func (d *folder) close() {}

// read fills c.buf with a regular file. skipped: it is one, but it is not searched.
func (d *folder) read(name string, c *contents) (ok, skipped bool) {
	info, err := d.root.Lstat(name)
	if err != nil {
		return false, false
	}
	if ok, skipped = c.searchable(info.Mode(), info.Size()); !ok {
		return false, skipped
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, false
	}
	defer f.Close()
	buf := c.room(int(info.Size()) + 1)
	n, err := io.ReadFull(f, buf[:info.Size()])
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return false, false
	}
	c.buf = buf[:n]
	return true, false
}
