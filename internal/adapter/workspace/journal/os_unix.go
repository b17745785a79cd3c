//go:build unix && !aix

package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// folder is an open folder. Only its own entries are accessed through it: no
// link is followed.
type folder struct{ fd int }

func openRoot(path string) (folder, error) {
	fd, err := retry(func() (int, error) { return unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return folder{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return folder{fd}, nil
}

func (f folder) close() { _ = unix.Close(f.fd) }

// sub opens a subfolder.
func (f folder) sub(name string) (folder, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	})
	return folder{fd}, err
}

func (f folder) self() (stamp, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstat(f.fd, &st) })
	return stampOf(&st), err
}

// node returns the folder's identity and its stamp.
func (f folder) node() (dirID, stamp, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstat(f.fd, &st) })
	return dirID{uint64(st.Dev), uint64(st.Ino)}, stampOf(&st), err
}

func (f folder) stat(name string) (stamp, error) {
	var st unix.Stat_t
	for {
		err := unix.Fstatat(f.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		if err == nil {
			return stampOf(&st), nil
		}
		if err != unix.EINTR {
			return stamp{}, err
		}
	}
}

// names lists the entries, in no order.
func (f folder) names() ([]string, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, err
	}
	d := os.NewFile(uintptr(fd), ".")
	defer d.Close()
	return d.Readdirnames(-1)
}

// reader is an open file.
type reader struct{ fd int }

// open opens an entry for reading, whatever kind of file it is by now.
func (f folder) open(name string) (reader, error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(f.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	})
	return reader{fd}, err
}

func (r reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := retry(func() (int, error) { return unix.Read(r.fd, p) })
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (r reader) stamp() (stamp, error) { return folder(r).self() }

func (r reader) close() { _ = unix.Close(r.fd) }

func (f folder) readlink(name string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := retry(func() (int, error) { return unix.Readlinkat(f.fd, name, buf) })
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

func stampOf(st *unix.Stat_t) stamp {
	s := stamp{
		size: int64(st.Size), ino: uint64(st.Ino), mode: uint32(st.Mode) & 0o777,
		mtime: st.Mtim.Nano(), ctime: st.Ctim.Nano(),
	}
	switch uint32(st.Mode) & unix.S_IFMT {
	case unix.S_IFREG:
		s.links = uint32(st.Nlink)
	case unix.S_IFLNK:
		s.mode = uint32(fs.ModeSymlink) | 0o777
	case unix.S_IFDIR:
		s.mode |= uint32(fs.ModeDir)
		s.size = 0 // it has no meaning, and differs between systems
	default:
		s.mode |= uint32(fs.ModeIrregular)
	}
	return s
}

// pathStamp returns the stamp of any path, with links followed; zero if there is nothing.
func pathStamp(path string) stamp {
	var st unix.Stat_t
	if unix.Stat(path, &st) != nil {
		return stamp{}
	}
	return stampOf(&st)
}

// fileStamp returns the stamp of an open file.
func fileStamp(f *os.File) (stamp, error) { return folder{int(f.Fd())}.self() }

// lock takes a file's lock, for as long as the file stays open; false if
// another process has it.
func lock(f *os.File) bool {
	_, err := retry(func() (int, error) { return 0, unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	return err == nil
}

// unlock releases a lock. Closing the file is not enough: a process that is
// being started also has it open for a moment.
func unlock(f *os.File) error {
	_, err := retry(func() (int, error) { return 0, unix.Flock(int(f.Fd()), unix.LOCK_UN) })
	return errors.Join(err, f.Close())
}

// retry repeats a system call that a signal interrupted.
func retry(do func() (int, error)) (int, error) {
	for {
		n, err := do()
		if err != unix.EINTR {
			return n, err
		}
	}
}

func notFolder(err error) bool { return errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP) }
