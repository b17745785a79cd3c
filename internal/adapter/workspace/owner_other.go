//go:build !unix

package workspace

import (
	"fmt"
	"io/fs"
	"os"
)

func linkCount(fs.FileInfo) uint64 { return 1 }

// versionOf returns what distinguishes a file from what it is after a change, "" for none.
func versionOf(file string) string {
	st, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return fmt.Sprint(st.Size(), st.ModTime().UnixNano())
}

func keepOwner(*os.File, fs.FileInfo) bool { return true }

func keepLinkOwner(*os.Root, string, fs.FileInfo) {}

// rmdir removes an empty folder.
func rmdir(above *os.Root, name string) error {
	if info, err := above.Lstat(name); err != nil || !info.IsDir() {
		return fs.ErrInvalid
	}
	return above.Remove(name)
}

func syncDir(*os.Root, func(*os.File) error) error { return nil }
