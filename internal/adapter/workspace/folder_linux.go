package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// folder opens many files of one folder with four system calls a file, and
// never through a symlink.
type folder struct {
	f  *os.File
	fd int
}

func openFolder(dir *os.Root) (*folder, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	return &folder{f, int(f.Fd())}, nil
}

func (d *folder) close() { d.f.Close() }

// read fills c.buf with a regular file. skipped: it is one, but it is not searched.
func (d *folder) read(name string, c *contents) (ok, skipped bool) {
	fd, err := unix.Openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return false, false
	}
	if ok, skipped = c.searchable(0, st.Size); !ok {
		return false, skipped
	}
	buf, n := c.room(int(st.Size)+1), 0
	for n < len(buf) {
		m, err := unix.Read(fd, buf[n:])
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return false, false
		}
		n += m
		if m == 0 || int64(n) >= st.Size {
			break // a growing file is searched as it was
		}
	}
	c.buf = buf[:n]
	return true, false
}
