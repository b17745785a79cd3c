//go:build !linux

package workspace

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"
)

// folder opens many files of one folder, and never through a symlink.
type folder struct{ root *os.Root }

func openFolder(dir *os.Root) (*folder, error) { return (&folder{dir}).sub("") }

func (d *folder) close() { d.root.Close() }

// sub opens a folder below this one; at is "" for itself, or ends in a slash.
func (d *folder) sub(at string) (*folder, error) {
	if at == "" {
		at = "."
	}
	at = path.Clean(at)
	for p := at; p != "."; p = path.Dir(p) {
		if st, err := d.root.Lstat(filepath.FromSlash(p)); err != nil || !st.IsDir() {
			return nil, fs.ErrNotExist
		}
	}
	root, err := d.root.OpenRoot(filepath.FromSlash(at))
	return &folder{root}, err
}

// list returns the names in the folder, in no order.
func (d *folder) list() ([]entry, error) {
	es, err := readDir(d.root, "")
	if err != nil {
		return nil, err
	}
	out := make([]entry, len(es))
	for i, e := range es {
		out[i] = entry{name: e.Name(), kind: e.Type()}
	}
	return out, nil
}

// changed returns when a file was written; false for a folder, or if it is gone.
func (d *folder) changed(name string) (time.Time, bool) {
	st, err := d.root.Lstat(name)
	if err != nil || st.IsDir() {
		return time.Time{}, false
	}
	return st.ModTime(), true
}

// text returns what is in a small file.
func (d *folder) text(name string) (string, error) {
	c := contents{max: IgnoreMax}
	if ok, _ := d.read(name, &c); !ok {
		return "", errAskGit
	}
	return string(c.buf), nil
}

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
