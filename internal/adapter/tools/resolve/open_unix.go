//go:build unix

package resolve

import (
	"io/fs"
	"os"
	"syscall"
)

// openFolder are the flags that open only folders, so that a FIFO does not block.
const openFolder = os.O_RDONLY | syscall.O_DIRECTORY | syscall.O_NONBLOCK

// hardLinks returns the number of a file's hard links.
func hardLinks(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Nlink)
	}
	return 1
}
