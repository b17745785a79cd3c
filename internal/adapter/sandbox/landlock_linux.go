//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

const (
	runRead = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	onFiles = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// version returns the newest Landlock that the kernel has, 0 for none.
func version() int {
	v, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// handled returns the rights on files that are refused unless a rule grants them: all
// that the kernel knows.
func handled(version int) uint64 {
	out := uint64(unix.LANDLOCK_ACCESS_FS_IOCTL_DEV<<1 - 1) // those of minVersion
	if version >= 9 {
		out |= unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
	}
	return out
}

// ruleset makes a ruleset of a policy's rules. A path to read that is not there
// is left out; a folder to change must be there.
func ruleset(p confine.Policy, version int) (fd int, err error) {
	all := handled(version)
	attr := unix.LandlockRulesetAttr{
		Handled_access_fs: all,
		// No rule allows a port: every connection is refused here once more.
		Handled_access_net: unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP,
		Scoped:             unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL,
	}
	size := unsafe.Offsetof(attr.Scoped) + unsafe.Sizeof(attr.Scoped)
	r, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return -1, fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	fd = int(r)
	for _, rule := range p.Linux() {
		if err := addRule(fd, rule, all); err != nil {
			_ = unix.Close(fd)
			return -1, err
		}
	}
	return fd, nil
}

func addRule(fd int, rule confine.Rule, all uint64) error {
	path, err := unix.Open(rule.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT) && rule.Rights != confine.All:
		return nil
	case errors.Is(err, unix.EACCES) && rule.Rights == confine.Read:
		return nil // what pawl cannot reach, the command cannot
	case err != nil:
		return fmt.Errorf("%s: %w", rule.Path, err)
	}
	defer unix.Close(path)
	var st unix.Stat_t
	if err := unix.Fstat(path, &st); err != nil {
		return fmt.Errorf("%s: %w", rule.Path, err)
	}
	b := unix.LandlockPathBeneathAttr{Parent_fd: int32(path), Allowed_access: rights(rule.Rights) & all}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		b.Allowed_access &= onFiles
	}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&b)), 0, 0, 0)
	runtime.KeepAlive(&b)
	if errno != 0 {
		return fmt.Errorf("landlock_add_rule %s: %w", rule.Path, errno)
	}
	return nil
}

func rights(r confine.Rights) uint64 {
	switch r {
	case confine.All: // but for device files, which nobody needs to make or use there
		return ^uint64(unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV)
	case confine.Device:
		return unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR |
			unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	return runRead
}
