package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// Try locks f without waiting. The error is ErrLocked if another open file has
// the lock. It locks a byte that nobody writes, so that others can read the file.
func Try(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}
