//go:build linux

package sandbox

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

const (
	arch    = unix.AUDIT_ARCH_X86_64
	oldOpen = unix.SYS_OPEN
)

// The calls that only older architectures have.
var (
	oldRefused    = []uint32{unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS, unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE}
	oldAttributes = []uint32{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
	oldChanges    = []uint32{
		unix.SYS_CREAT, unix.SYS_MKDIR, unix.SYS_MKNOD, unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_LINK, unix.SYS_SYMLINK,
		unix.SYS_UNLINK, unix.SYS_RMDIR,
	}
)

// old makes the calls that only older architectures have.
func (c caller) old() error {
	a := c.n.Args
	const here = unix.AT_FDCWD
	switch c.n.Nr {
	case unix.SYS_OPEN:
		return c.opens(here, a[0], int(int32(a[1])), uint32(a[2]))
	case unix.SYS_CREAT:
		return c.open(here, a[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(a[1]))
	case unix.SYS_MKDIR:
		return c.mkdir(here, a[0], uint32(a[1]))
	case unix.SYS_MKNOD:
		return c.mknod(here, a[0], uint32(a[1]))
	case unix.SYS_RENAME:
		return c.rename(here, a[0], here, a[1], 0)
	case unix.SYS_LINK:
		return c.link(here, a[0], here, a[1], 0)
	case unix.SYS_SYMLINK:
		return c.symlink(a[0], here, a[1])
	case unix.SYS_UNLINK:
		return c.unlink(here, a[0], 0)
	case unix.SYS_RMDIR:
		return c.unlink(here, a[0], unix.AT_REMOVEDIR)
	case unix.SYS_CHMOD:
		return c.chmod(here, a[0], uint32(a[1]), 0)
	case unix.SYS_CHOWN:
		return c.chown(here, a[0], uint32(a[1]), uint32(a[2]), 0)
	case unix.SYS_LCHOWN:
		return c.chown(here, a[0], uint32(a[1]), uint32(a[2]), unix.AT_SYMLINK_NOFOLLOW)
	case unix.SYS_UTIMES, unix.SYS_FUTIMESAT:
		dir := int32(here)
		if c.n.Nr == unix.SYS_FUTIMESAT {
			dir, a[0], a[1] = int32(a[0]), a[1], a[2]
		}
		ts, err := c.times(a[1], 1000)
		if err != nil {
			return err
		}
		return c.utimes(dir, a[0], ts, 0)
	case unix.SYS_UTIME:
		ts, err := c.seconds(a[1])
		if err != nil {
			return err
		}
		return c.utimes(here, a[0], ts, 0)
	}
	return unix.EPERM
}

// seconds reads the times of utime(2); nil stands for the current time.
func (c caller) seconds(addr uint64) ([]unix.Timespec, error) {
	if addr == 0 {
		return nil, nil
	}
	var b [16]byte
	if c.read(addr, b[:], false) < len(b) {
		return nil, unix.EFAULT
	}
	return []unix.Timespec{{Sec: int64(binary.NativeEndian.Uint64(b[:]))}, {Sec: int64(binary.NativeEndian.Uint64(b[8:]))}}, nil
}
