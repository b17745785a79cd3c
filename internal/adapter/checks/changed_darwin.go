package checks

import (
	"io/fs"
	"syscall"
	"time"
)

// changedAt returns when a file's content, name or attributes were last changed. No program
// can set it.
func changedAt(st fs.FileInfo) time.Time {
	if s, ok := st.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix())
	}
	return st.ModTime()
}
