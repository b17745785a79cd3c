//go:build !linux && !darwin

package checks

import (
	"io/fs"
	"time"
)

// changedAt returns when a file's content was last changed.
func changedAt(st fs.FileInfo) time.Time { return st.ModTime() }
