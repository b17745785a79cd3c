//go:build unix && !aix

package trees

import (
	"errors"
	"io/fs"

	"golang.org/x/sys/unix"
)

// statFile returns what an index holds of a file, "" as the mode of what is neither a
// file nor a link.
func statFile(path string) (f indexed, err error) {
	var st unix.Stat_t
	for {
		if err = unix.Lstat(path, &st); !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return f, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	f.stamp = stamp{
		ctime: [2]uint32{uint32(st.Ctim.Sec), uint32(st.Ctim.Nsec)}, mtime: [2]uint32{uint32(st.Mtim.Sec), uint32(st.Mtim.Nsec)},
		ino: uint32(st.Ino), size: uint32(st.Size),
	}
	f.dev, f.uid, f.gid = uint32(st.Dev), st.Uid, st.Gid
	switch mode := uint32(st.Mode); {
	case mode&unix.S_IFMT == unix.S_IFLNK:
		f.mode = modeLink
	case mode&unix.S_IFMT == unix.S_IFREG && mode&0o100 != 0:
		f.mode = modeExec
	case mode&unix.S_IFMT == unix.S_IFREG:
		f.mode = modeFile
	}
	return f, nil
}
