//go:build amd64 || arm64

package sandbox

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func (c caller) make() error {
	a := c.n.Args
	fd := func(i int) int32 { return int32(a[i]) }
	switch c.n.Nr {
	case unix.SYS_UMASK:
		c.s.umasks.forget()
		return errGoOn
	case unix.SYS_FALLOCATE:
		c.s.reserved.Add(reserves(c.n.Task, a))
		return errGoOn
	case unix.SYS_CONNECT:
		return c.connect(fd(0), a[1], a[2])
	case unix.SYS_BIND:
		return c.bind(fd(0), a[1], a[2])
	case unix.SYS_LISTEN:
		return c.listen(fd(0), int(fd(1)))
	case unix.SYS_OPENAT:
		return c.opens(fd(0), a[1], int(int32(a[2])), uint32(a[3]))
	case unix.SYS_TRUNCATE:
		return c.cut(a[0], int64(a[1]))
	case unix.SYS_MKDIRAT:
		return c.mkdir(fd(0), a[1], uint32(a[2]))
	case unix.SYS_MKNODAT:
		return c.mknod(fd(0), a[1], uint32(a[2]))
	case unix.SYS_RENAMEAT:
		return c.rename(fd(0), a[1], fd(2), a[3], 0)
	case unix.SYS_RENAMEAT2:
		return c.rename(fd(0), a[1], fd(2), a[3], uint(uint32(a[4])))
	case unix.SYS_LINKAT:
		return c.link(fd(0), a[1], fd(2), a[3], int(int32(a[4])))
	case unix.SYS_SYMLINKAT:
		return c.symlink(a[0], fd(1), a[2])
	case unix.SYS_UNLINKAT:
		return c.unlink(fd(0), a[1], int(int32(a[2])))
	case unix.SYS_FCHMOD:
		return c.chmod(fd(0), 0, uint32(a[1]), 0)
	case unix.SYS_FCHMODAT:
		return c.chmod(fd(0), a[1], uint32(a[2]), 0)
	case unix.SYS_FCHMODAT2:
		return c.chmod(fd(0), a[1], uint32(a[2]), int(int32(a[3])))
	case unix.SYS_FCHOWN:
		return c.chown(fd(0), 0, uint32(a[1]), uint32(a[2]), 0)
	case unix.SYS_FCHOWNAT:
		return c.chown(fd(0), a[1], uint32(a[2]), uint32(a[3]), int(int32(a[4])))
	case unix.SYS_UTIMENSAT:
		ts, err := c.times(a[2], 1)
		if err != nil {
			return err
		}
		return c.utimes(fd(0), a[1], ts, int(int32(a[3])))
	}
	return c.old()
}

// setTimes sets the times of what is opened, a symbolic link's own too; nil is
// now.
func setTimes(fd int, ts []unix.Timespec) error {
	empty := []byte{0}
	var at unsafe.Pointer
	if ts != nil {
		at = unsafe.Pointer(&ts[0])
	}
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), uintptr(unsafe.Pointer(&empty[0])), uintptr(at), unix.AT_EMPTY_PATH, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
