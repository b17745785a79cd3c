//go:build !unix || aix

package journal

import (
	"io/fs"
	"os"
	"path/filepath"
)

// folder is a folder by its path, since this system offers nothing better.
type folder struct{ path string }

func openRoot(path string) (folder, error) { return folder{path}.check() }

func (f folder) check() (folder, error) {
	info, err := os.Lstat(f.path)
	if err != nil {
		return f, err
	}
	if !info.IsDir() {
		return f, fs.ErrNotExist
	}
	return f, nil
}

func (f folder) close() {}

func (f folder) sub(name string) (folder, error) {
	return folder{filepath.Join(f.path, name)}.check()
}

func (f folder) self() (stamp, error) {
	info, err := os.Lstat(f.path)
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// node returns no identity: this system has no such number.
func (f folder) node() (dirID, stamp, error) {
	st, err := f.self()
	return dirID{}, st, err
}

func (f folder) stat(name string) (stamp, error) {
	info, err := os.Lstat(filepath.Join(f.path, name))
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

func (f folder) names() ([]string, error) {
	d, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

type reader struct{ *os.File }

func (f folder) open(name string) (reader, error) {
	info, err := os.Lstat(filepath.Join(f.path, name))
	if err != nil {
		return reader{}, err
	}
	if !info.Mode().IsRegular() {
		return reader{}, fs.ErrInvalid
	}
	o, err := os.Open(filepath.Join(f.path, name))
	return reader{o}, err
}

func (r reader) stamp() (stamp, error) {
	info, err := r.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

func (r reader) close() { _ = r.Close() }

func (f folder) readlink(name string) (string, error) {
	return os.Readlink(filepath.Join(f.path, name))
}

// stampOf works without what the system does not report: the time of the last
// write replaces that of the last change.
func stampOf(info fs.FileInfo) stamp {
	t := info.ModTime().UnixNano()
	s := stamp{size: info.Size(), mode: uint32(info.Mode().Perm()), mtime: t, ctime: t}
	switch {
	case info.Mode().IsRegular():
	case info.Mode()&fs.ModeSymlink != 0:
		s.mode = uint32(fs.ModeSymlink) | 0o777
	case info.IsDir():
		s.mode |= uint32(fs.ModeDir)
		s.size = 0
	default:
		s.mode |= uint32(fs.ModeIrregular)
	}
	return s
}

func pathStamp(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stampOf(info)
}

// fileStamp returns the stamp of an open file.
func fileStamp(f *os.File) (stamp, error) {
	info, err := f.Stat()
	if err != nil {
		return stamp{}, err
	}
	return stampOf(info), nil
}

// lock is not available: each process keeps its index to itself.
func lock(*os.File) bool { return false }

func notFolder(error) bool { return false }

func unlock(f *os.File) error { return f.Close() }
