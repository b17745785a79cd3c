//go:build linux || darwin

package workspace

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew renames within a folder. It fails with fs.ErrExist if the new name
// is in use, and with errors.ErrUnsupported if the file system cannot do it.
func renameNew(dir *os.Root, from, to string) error {
	return rename(dir, from, to, noReplace)
}

// exchange swaps two names of a folder atomically.
func exchange(dir *os.Root, a, b string) error {
	return rename(dir, a, b, swap)
}

func rename(dir *os.Root, from, to string, flags renameFlags) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	fd := int(d.Fd())
	for {
		err = renameAt(fd, from, to, flags)
		if err != unix.EINTR {
			break
		}
	}
	if err == unix.ENOSYS || err == unix.EINVAL || err == unix.ENOTSUP {
		return errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
