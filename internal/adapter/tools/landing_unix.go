//go:build unix

package tools

import (
	"io/fs"
	"os"
	"syscall"
)

// openFolder opens nothing but a folder, so that a FIFO does not hang.
const openFolder = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NONBLOCK

// hardLinks is how many names a file has.
func hardLinks(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}
