//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// Landlock does not control attributes, so pawl makes every change of attributes
// itself: no such call may go on.

// target opens, without the right to read or write, the file whose attributes a call
// changes: by its path, or by a descriptor if the path is empty or missing.
func (c caller) target(dirfd int32, addr uint64, follow, empty bool) (int, error) {
	var file string
	if addr != 0 {
		var err error
		if file, err = c.text(addr); err != nil {
			return -1, err
		}
	}
	if fd, ok := c.ownDescriptor(file); ok && follow {
		return c.inner(fd)
	}
	if file == "" {
		if addr != 0 && !empty {
			return -1, unix.ENOENT
		}
		return c.inner(dirfd)
	}
	p, err := c.find(dirfd, file, follow)
	switch {
	case errors.Is(err, errGoOn):
		return c.folder(dirfd, file)
	case err != nil:
		return -1, err
	}
	defer p.close()
	if !p.there {
		return -1, unix.ENOENT
	}
	fd, err := unix.Openat(p.dir, p.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	return c.checked(fd)
}

// folder opens a path that ends in . or .., or leads through /proc (refused).
func (c caller) folder(dirfd int32, file string) (int, error) {
	dir := unix.AT_FDCWD
	if !strings.HasPrefix(file, "/") {
		var err error
		if dir, err = c.descriptor(dirfd); err != nil {
			return -1, err
		}
		defer unix.Close(dir)
	}
	fd, err := unix.Openat2(dir, file, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return -1, unix.EACCES
	}
	return c.checked(fd)
}

func (c caller) inner(fd int32) (int, error) {
	out, err := c.descriptor(fd)
	if err != nil {
		return -1, err
	}
	return c.checked(out)
}

// checked returns fd if its attributes may change, otherwise it closes fd.
func (c caller) checked(fd int) (int, error) {
	file, err := realPath(fd)
	var st unix.Stat_t
	if err == nil {
		err = unix.Fstat(fd, &st)
	}
	verdict := confine.Refused
	if err == nil {
		// The workspace itself, or a granted folder, has attributes too, and no name to judge.
		if verdict = c.s.change(file, confine.Write); (file == c.s.policy.Load().Root || slices.Contains(c.s.policy.Load().Granted, file)) && c.s.policy.Load().Level >= confine.Workspace {
			verdict = confine.Made
		}
		if verdict == confine.Refused && c.s.scratches(&place{path: file, there: true}, confine.Write) {
			verdict = confine.Made
		}
	}
	if err == nil && verdict != confine.Free {
		if ruled := c.s.ruled(file, true); ruled != nil {
			_ = unix.Close(fd)
			return -1, ruled
		}
	}
	switch {
	case err != nil:
		err = unix.EPERM
	case verdict == confine.Refused:
		err = unix.EPERM
		if st.Uid == uint32(os.Geteuid()) || os.Geteuid() == 0 {
			err = c.s.lacks(process.ActWrite, file, unix.EPERM)
		}
	case verdict == confine.Made && c.asksFor(file):
		err = c.s.lacks(process.ActChange, file, unix.EACCES)
	case verdict == confine.Made:
		if err = c.s.only(&st); err == nil {
			c.s.left(file, true)
		}
		c.s.lasts(file)
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (c caller) chmod(dirfd int32, addr uint64, mode uint32, flags int) error {
	fd, err := c.target(dirfd, addr, flags&unix.AT_SYMLINK_NOFOLLOW == 0, flags&unix.AT_EMPTY_PATH != 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	switch kind := st.Mode & unix.S_IFMT; {
	case kind == unix.S_IFLNK:
		return unix.EOPNOTSUPP
	case kind != unix.S_IFDIR && mode&(unix.S_ISUID|unix.S_ISGID) != 0:
		return unix.EPERM // others would run it with this user's rights
	}
	return unix.Fchmodat(unix.AT_FDCWD, self(fd), mode&0o7777, 0)
}

func (c caller) chown(dirfd int32, addr uint64, uid, gid uint32, flags int) error {
	fd, err := c.target(dirfd, addr, flags&unix.AT_SYMLINK_NOFOLLOW == 0, flags&unix.AT_EMPTY_PATH != 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fchownat(fd, "", int(int32(uid)), int(int32(gid)), unix.AT_EMPTY_PATH)
}

func (c caller) utimes(dirfd int32, addr uint64, ts []unix.Timespec, flags int) error {
	fd, err := c.target(dirfd, addr, flags&unix.AT_SYMLINK_NOFOLLOW == 0, flags&unix.AT_EMPTY_PATH != 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return setTimes(fd, ts)
}
