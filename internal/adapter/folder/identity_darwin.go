package folder

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Identity returns a text that distinguishes a folder from another one that replaces it:
// its inode and creation time, which a repository cannot choose.
func Identity(dir string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", fmt.Errorf("look at %s: %w", dir, err)
	}
	return fmt.Sprintf("%d %d.%09d", st.Ino, st.Btim.Sec, st.Btim.Nsec), nil
}
