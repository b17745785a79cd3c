package kept

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/sorting"
)

func (s *Store) Blocked(set, path string) string {
	dir, m, err := s.read(set)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "its old content is no longer kept"
	case err != nil:
		return err.Error()
	}
	var st unix.Stat_t
	if unix.Lstat(path, &st) == nil && st.Mode&unix.S_IFMT != unix.S_IFDIR && exists(filepath.Join(dir, "tree")+path) && !s.ours(m, path, &st) {
		return "it is not as the command left it"
	}
	return ""
}

// restoring is a set while files of it are put back.
type restoring struct {
	s       *Store
	dir, at string // of the set; only at and below this path
	over    bool   // what is at that path now may be taken away
	manifest
	left []string
}

// ours reports whether a file is as the command left it, or a later one made and wrote it.
func (s *Store) ours(m manifest, path string, st *unix.Stat_t) bool {
	as, ok := m.Left[path]
	made, _ := s.ofSession(unix.AT_FDCWD, path, st)
	s.mu.Lock()
	placed, moved := s.placed[path]
	s.mu.Unlock()
	return moved && placed == stampOf(st) || made && s.during(time.Unix(st.Mtim.Unix())) || ok && as == stampOf(st)
}

// Restore implements tool.Keeper. Links are not followed: a command may have put one where
// a folder was.
func (s *Store) Restore(set, path string, over bool) (left []string, err error) {
	dir, m, err := s.read(set)
	if err != nil {
		return nil, err
	}
	r := &restoring{s: s, dir: dir, at: path, over: over, manifest: m}
	if err = r.moveBack(); err == nil && len(m.Moves) > 0 {
		m.Moves = nil // done, whatever else of the set is put back later
		err = write(dir, m)
	}
	return r.left, errors.Join(err, r.files(), r.putFolders())
}

func (r *restoring) concerns(path string) bool {
	_, ok := below(r.at, path)
	return ok
}

// vacate makes room at a path: what the command left there goes to the set. It returns
// false if somebody else's file is there.
func (r *restoring) vacate(path string) (bool, error) {
	var st unix.Stat_t
	if unix.Lstat(path, &st) != nil {
		return true, nil
	}
	if !r.s.ours(r.manifest, path, &st) && !(r.over && path == r.at) {
		return false, nil
	}
	to := filepath.Join(r.dir, "out") + path
	for exists(to) {
		to += "~"
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return false, err
	}
	return true, rename(path, to)
}

// put moves a file to a place that is free, or becomes free.
func (r *restoring) put(from, to string) error {
	free, err := r.vacate(to)
	if err == nil && !free {
		r.left = append(r.left, to)
		return nil
	}
	if err != nil {
		return err
	}
	return rename(from, to)
}

// moveBack reverts all moves of the command, since one may be in the way of another. Of files that took each other's places, each is taken away
// before one is put back.
func (r *restoring) moveBack() error {
	var errs []error
	held := map[int]string{}
	for i, p := range r.Moves {
		if exists(p.From) && slices.ContainsFunc(r.Moves, func(o pair) bool { return o.To == p.From || o.From == p.To }) {
			held[i] = ""
		}
	}
	for i := range held {
		p := r.Moves[i]
		at := filepath.Join(r.dir, "held-"+strconv.Itoa(i))
		if err := rename(p.To, at); err != nil {
			errs = append(errs, err)
			at = ""
		}
		held[i] = at
	}
	for i, p := range r.Moves {
		from := cmp.Or(held[i], p.To)
		switch {
		case !exists(from):
		case isFolder(from) && isFolder(p.From):
			errs = append(errs, r.merge(from, p.From))
		default:
			errs = append(errs, r.put(from, p.From))
			if held[i] != "" && exists(from) { // somebody's file is there
				errs = append(errs, rename(from, p.To))
			}
		}
	}
	return errors.Join(errs...)
}

func isFolder(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.IsDir()
}

// merge moves what is in a folder to where it was before; the rest of that folder is back.
func (r *restoring) merge(from, to string) error {
	var errs []error
	var folders []string
	_ = filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, err)
		case d.IsDir():
			folders = append(folders, at)
		case exists(to + strings.TrimPrefix(at, from)):
			r.left = append(r.left, to+strings.TrimPrefix(at, from))
		default:
			errs = append(errs, rename(at, to+strings.TrimPrefix(at, from)))
		}
		return nil
	})
	for _, f := range slices.Backward(folders) {
		if st, err := os.Lstat(f); err == nil && unix.Rmdir(f) == nil && !exists(to+strings.TrimPrefix(f, from)) {
			r.Folders = append(r.Folders, folder{to + strings.TrimPrefix(f, from), uint32(st.Mode().Perm())})
		}
	}
	return errors.Join(errs...)
}

func (r *restoring) files() error {
	tree := filepath.Join(r.dir, "tree")
	var errs []error
	err := filepath.WalkDir(tree+r.at, func(at string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			errs = append(errs, r.put(at, strings.TrimPrefix(at, tree)))
		}
		return nil // what is not there any more is back already
	})
	return errors.Join(append(errs, err)...)
}

// putFolders makes the folders that are missing, and gives those that were removed their
// modes, the innermost first: one may be read-only.
func (r *restoring) putFolders() error {
	var errs []error
	sorting.By(r.Folders, func(a, b folder) int { return strings.Compare(b.Path, a.Path) })
	for _, f := range r.Folders {
		if !r.concerns(f.Path) {
			continue
		}
		fd, err := openFolder(f.Path)
		if err == nil {
			err = unix.Fchmodat(unix.AT_FDCWD, "/proc/self/fd/"+strconv.Itoa(fd), f.Mode, 0)
			_ = unix.Close(fd)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// openFolder opens a folder by a path without links, and makes it if it is missing.
func openFolder(path string) (int, error) {
	how := &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, path, how)
	if !errors.Is(err, unix.ENOENT) {
		return fd, err
	}
	up, err := openFolder(filepath.Dir(path))
	if err != nil {
		return -1, err
	}
	defer unix.Close(up)
	if err := unix.Mkdirat(up, filepath.Base(path), 0o755); err != nil && !errors.Is(err, unix.EEXIST) {
		return -1, err
	}
	how.Resolve |= unix.RESOLVE_BENEATH
	return unix.Openat2(up, filepath.Base(path), how)
}

// rename moves a file to a name that is free. Between file systems it is copied.
func rename(from, to string) error {
	a, err := openFolder(filepath.Dir(from))
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	defer unix.Close(a)
	b, err := openFolder(filepath.Dir(to))
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	defer unix.Close(b)
	err = unix.Renameat2(a, filepath.Base(from), b, filepath.Base(to), unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EXDEV) {
		err = copyAcross(a, filepath.Base(from), b, filepath.Base(to))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	return nil
}

// copyAcross copies a file to another file system, and then removes it.
func copyAcross(a int, from string, b int, to string) error {
	var st unix.Stat_t
	if err := unix.Fstatat(a, from, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return err
	}
	k := &Set{s: &Store{limits: Limits{Session: st.Size, File: st.Size}}}
	into := "/proc/self/fd/" + strconv.Itoa(b)
	dir, err := os.MkdirTemp(into, ".pawl-restore-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	k.dir = dir
	if err := k.copyName(a, from, filepath.Join(into, to), &st); err != nil {
		return err
	}
	return unix.Unlinkat(a, from, 0)
}
