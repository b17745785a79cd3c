//go:build unix

package rules

import (
	"io/fs"
	"os"
	"syscall"
)

// foreign reports whether a folder belongs to neither this user, nor root, nor the owner
// of the workspace.
func foreign(dir, workspace fs.FileInfo) bool {
	d, ok := dir.Sys().(*syscall.Stat_t)
	w, ok2 := workspace.Sys().(*syscall.Stat_t)
	if !ok || !ok2 {
		return false
	}
	return d.Uid != 0 && int(d.Uid) != os.Geteuid() && d.Uid != w.Uid
}
