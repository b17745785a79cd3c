// Package atomicfile writes pawl's own files, on every system: whoever reads one
// finds what was there before or what was written, and never a part. What people
// and models edit in a workspace is written by adapter/workspace, which keeps
// more.
package atomicfile

import (
	"cmp"
	"os"
	"path/filepath"
)

// Write replaces a file, or makes it, with these permissions. It is on the disk
// when Write returns. Where it fails, the old file is as it was and nothing lies
// beside it. A link is replaced, not followed.
func Write(path string, data []byte, perm os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(perm)
	}
	if err == nil {
		err = f.Sync()
	}
	err = cmp.Or(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path) // replaces also on Windows
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error that counts is the first
	}
	return err
}
