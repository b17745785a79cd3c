package folder

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Identity returns a text that distinguishes a folder from another one that replaces it:
// its inode and creation time, which a repository cannot choose. The device's number is
// omitted, since on some systems it changes at a restart.
func Identity(dir string) (string, error) {
	var st unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, dir, unix.AT_STATX_SYNC_AS_STAT, unix.STATX_INO|unix.STATX_BTIME, &st)
	if err != nil {
		return "", fmt.Errorf("look at %s: %w", dir, err)
	}
	made := "unknown"
	if st.Mask&unix.STATX_BTIME != 0 {
		made = fmt.Sprintf("%d.%09d", st.Btime.Sec, st.Btime.Nsec)
	}
	return fmt.Sprintf("%d %s", st.Ino, made), nil
}
