//go:build !unix

package workspace

import (
	"io/fs"
	"os"
)

func linkCount(fs.FileInfo) uint64 { return 1 }

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
