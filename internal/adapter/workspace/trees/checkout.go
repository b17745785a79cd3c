package trees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// named matches valid names of trees, which are names of folders.
var named = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

func (s *Store) Path(name string) string { return filepath.Join(filepath.Dir(s.dir), "trees", name) }

func (s *Store) gitDir(name string) string { return filepath.Join(s.dir, "worktrees", name) }

// Checkout makes a tree with the files of a commit, and returns its folder. An
// existing tree of that name is removed first: its worker died.
func (s *Store) Checkout(ctx context.Context, name, commit string) (string, error) {
	if !named().MatchString(name) {
		return "", fmt.Errorf("a tree cannot be named %q", name)
	}
	if err := s.Remove(ctx, name); err != nil {
		return "", err
	}
	if !isObjectID(commit) {
		return "", fmt.Errorf("%q is not a commit", commit)
	}
	dir, admin := s.Path(name), s.gitDir(name)
	if err := s.point(name); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(admin, "HEAD"), []byte(commit+"\n"), 0o600); err != nil {
		return "", err
	}
	if _, err := s.git(ctx, []string{"GIT_DIR=" + admin, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + s.index(name)}, "read-tree", "--reset", "-u", commit); err != nil {
		return "", err
	}
	return dir, copyIndex(s.index(name), filepath.Join(admin, "index"))
}

// point makes the folders of a tree, as git worktree add does.
func (s *Store) point(name string) error {
	dir, admin := s.Path(name), s.gitDir(name)
	for _, made := range []string{dir, admin} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			return err
		}
	}
	for path, text := range map[string]string{
		filepath.Join(dir, ".git"):        "gitdir: " + admin + "\n",
		filepath.Join(admin, "commondir"): "../..\n",
		filepath.Join(admin, "gitdir"):    filepath.Join(dir, ".git") + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// index is our own index of a tree, which its worker cannot change. It knows which files
// are as they were made, so they are not read again.
func (s *Store) index(name string) string { return s.gitDir(name) + ".index" }

// copyIndex copies an index with its time, by which git tells whether a file may have
// been changed in the same instant as the index.
func copyIndex(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	about, err := os.Stat(from)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(to, text, 0o600), os.Chtimes(to, about.ModTime(), about.ModTime()))
}

// Remove removes a tree. A missing one is not an error.
func (s *Store) Remove(ctx context.Context, name string) error {
	if err := removeAll(s.Path(name)); err != nil {
		return err
	}
	return errors.Join(os.RemoveAll(s.index(name)), os.RemoveAll(s.gitDir(name)))
}

// removeAll removes a folder even if a worker removed its own rights for
// subfolders, as Go's module cache does.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}
