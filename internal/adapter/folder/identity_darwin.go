package folder

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Identity tells a folder from another one that is put in its place: its number
// in its file system and the time at which it was made, which a repository can
// not choose.
func Identity(dir string) (string, error) {
	var st unix.Stat_t
	if err := unix.Stat(dir, &st); err != nil {
		return "", fmt.Errorf("look at %s: %w", dir, err)
	}
	return fmt.Sprintf("%d %d.%09d", st.Ino, st.Btim.Sec, st.Btim.Nsec), nil
}
