//go:build unix

package sqlite

import "syscall"

const (
	errNoSpace  = syscall.ENOSPC
	errReadOnly = syscall.EROFS
)

// noSpace reports whether an error means a full disk. SQLite itself reports a full disk
// for writes, but not if the WAL's shared memory cannot grow.
func noSpace(err error) bool {
	const shmSize, shmMap = 19, 21 // SQLITE_IOERR_SHMSIZE, _SHMMAP
	c := extended(err) >> 8
	return c == shmSize || c == shmMap
}
