//go:build unix

package workspace

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// linkCount returns the number of a file's names.
func linkCount(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// versionOf returns what distinguishes a file from what it is after any change: nobody can
// set the time of a change. "" for none.
func versionOf(file string) string {
	var st unix.Stat_t
	if unix.Stat(file, &st) != nil {
		return ""
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
}

// keepOwner sets f's owner to that of the file it will replace, if possible. It reports
// whether owner and group are the same.
func keepOwner(f *os.File, old fs.FileInfo) (kept bool) {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	now, err := f.Stat()
	if err != nil {
		return false
	}
	if have, ok := now.Sys().(*syscall.Stat_t); ok && have.Uid == want.Uid && have.Gid == want.Gid {
		return true
	}
	if f.Chown(int(want.Uid), int(want.Gid)) == nil {
		return true
	}
	_ = f.Chown(-1, int(want.Gid)) // the group alone is often permitted
	return false
}

// keepLinkOwner is keepOwner for a symlink.
func keepLinkOwner(dir *os.Root, name string, old fs.FileInfo) {
	want, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	now, err := dir.Lstat(name)
	if err != nil {
		return
	}
	if have, ok := now.Sys().(*syscall.Stat_t); ok && (have.Uid != want.Uid || have.Gid != want.Gid) {
		_ = dir.Lchown(name, int(want.Uid), int(want.Gid))
	}
}

// rmdir removes an empty folder, and never anything else.
func rmdir(above *os.Root, name string) error {
	d, err := above.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	for {
		err := unix.Unlinkat(int(d.Fd()), name, unix.AT_REMOVEDIR)
		if err != unix.EINTR {
			return err
		}
	}
}

// syncDir makes a rename in a folder durable. File systems that cannot sync
// folders return EINVAL, which is ignored.
func syncDir(dir *os.Root, flush func(*os.File) error) error {
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	defer d.Close()
	if err := flush(d); err != nil && cause(err) != syscall.EINVAL && cause(err) != syscall.ENOTSUP {
		return err
	}
	return nil
}
