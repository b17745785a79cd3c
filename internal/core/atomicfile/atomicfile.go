// Package atomicfile writes pawl's own files, on every system: a reader finds
// either the old or the new content, never a part. Files of a workspace, which
// people and models edit, are written by adapter/workspace, which preserves more.
package atomicfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Disk is where files are written: OS, or one that fails in a test.
type Disk interface {
	// Create makes a new file, as os.CreateTemp.
	Create(dir, pattern string) (File, error)
	Rename(from, to string) error
	Remove(path string) error
}

// File is a file that is being written.
type File interface {
	Name() string
	Write(p []byte) (int, error)
	Chmod(perm os.FileMode) error
	Sync() error
	Close() error
}

// OS is the disk of this machine.
type OS struct{}

func (OS) Create(dir, pattern string) (File, error) {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename is part of Disk. It replaces also on Windows.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

func (OS) Remove(path string) error { return os.Remove(path) }

// Write replaces a file, or makes it, with these permissions. It is on the disk
// when Write returns. Where it fails, the old file is as it was and nothing lies
// beside it. A link is replaced, not followed.
func Write(path string, data []byte, perm os.FileMode) error { return WriteOn(OS{}, path, data, perm) }

// Read reads a file of pawl's own of at most so many bytes, nil for none. A link is not
// followed.
func Read(path string, most int64) ([]byte, error) {
	st, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular() || st.Size() > most:
		return nil, fmt.Errorf("%s is not a regular file, or is too long: remove it", path)
	}
	return os.ReadFile(path) // empty is not nil
}

func WriteOn(disk Disk, path string, data []byte, perm os.FileMode) error {
	f, err := disk.Create(filepath.Dir(path), "."+filepath.Base(path)+"-*")
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
		err = disk.Rename(f.Name(), path)
	}
	if err != nil {
		_ = disk.Remove(f.Name()) // the error that counts is the first
	}
	return err
}

// Unfinished reports whether name is the name of a temporary file of Write. Such
// a file stays if the process is killed during Write.
func Unfinished(name string) bool {
	i := strings.LastIndexByte(name, '-')
	return strings.HasPrefix(name, ".") && i > 1 && i < len(name)-1 && strings.Trim(name[i+1:], "0123456789") == ""
}
