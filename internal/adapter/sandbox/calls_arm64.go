//go:build linux

package sandbox

import "golang.org/x/sys/unix"

const (
	arch    = unix.AUDIT_ARCH_AARCH64
	oldOpen = 0
)

var (
	oldRefused    []uint32
	oldAttributes []uint32
	oldChanges    = []uint32{unix.SYS_RENAMEAT}
)

// old makes the calls that only older architectures have: none.
func (c caller) old() error { return unix.EPERM }
