package workspace

import (
	"encoding/binary"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// folder opens many files of one folder with few system calls each, and never
// through a symlink.
type folder struct{ fd int }

func openFolder(dir *os.Root) (*folder, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir.Name(), Err: err}
	}
	return &folder{fd}, nil
}

func (d *folder) close() { _ = unix.Close(d.fd) }

const openDir = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC | unix.O_NONBLOCK

// sub opens a folder below this one; at is "" for itself, or ends in a slash.
func (d *folder) sub(at string) (*folder, error) {
	if at == "" {
		fd, err := openat(d.fd, ".", openDir)
		return &folder{fd}, err
	}
	how := unix.OpenHow{Flags: openDir, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	for {
		fd, err := unix.Openat2(d.fd, at[:len(at)-1], &how)
		switch err {
		case nil:
			return &folder{fd}, nil
		case unix.EINTR, unix.EAGAIN:
		case unix.ENOSYS, unix.EPERM: // an old kernel, or a container that forbids it
			return d.steps(at)
		default:
			return nil, err
		}
	}
}

// steps opens a folder name by name.
func (d *folder) steps(at string) (*folder, error) {
	cur := d.fd
	for name := range strings.SplitSeq(strings.TrimSuffix(at, "/"), "/") {
		fd, err := openat(cur, name, openDir)
		if cur != d.fd {
			_ = unix.Close(cur)
		}
		if err != nil {
			return nil, err
		}
		cur = fd
	}
	return &folder{cur}, nil
}

func openat(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if err != unix.EINTR {
			return fd, err
		}
	}
}

// list returns the names in the folder, in no order. It is called once.
func (d *folder) list() ([]entry, error) {
	var out []entry
	buf := make([]byte, 32<<10)
	for {
		n, err := unix.Getdents(d.fd, buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return out, err
		}
		all := string(buf[:n]) // one copy; the names are slices of it
		for at := 0; at < n; {
			const fixed = 19 // inode, offset, length, type
			size := int(binary.NativeEndian.Uint16(buf[at+16:]))
			name := all[at+fixed : at+size]
			name = name[:strings.IndexByte(name, 0)]
			kind := buf[at+18]
			at += size
			if name == "." || name == ".." {
				continue
			}
			out = append(out, entry{name: name, kind: d.kind(name, kind)})
		}
	}
}

func (d *folder) kind(name string, kind byte) fs.FileMode {
	switch kind {
	case unix.DT_REG:
		return 0
	case unix.DT_DIR:
		return fs.ModeDir
	case unix.DT_LNK:
		return fs.ModeSymlink
	case unix.DT_UNKNOWN:
		var st unix.Stat_t
		if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
			switch st.Mode & unix.S_IFMT {
			case unix.S_IFREG:
				return 0
			case unix.S_IFDIR:
				return fs.ModeDir
			case unix.S_IFLNK:
				return fs.ModeSymlink
			}
		}
	}
	return fs.ModeIrregular
}

// changed returns when a file was written; false for a folder, or if it is gone.
func (d *folder) changed(name string) (time.Time, bool) {
	var st unix.Stat_t
	if unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
		return time.Time{}, false
	}
	return time.Unix(st.Mtim.Unix()), true
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
	fd, err := openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY)
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
