package trees

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// named matches valid names of trees, which are names of folders.
var named = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$`)

// Path returns the folder of a tree.
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
	if err := s.fill(ctx, name, commit); err != nil {
		return "", err
	}
	if err := copyIndex(s.index(name), filepath.Join(admin, "index")); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.from == nil {
		s.from = map[string]string{}
	}
	s.from[name] = commit
	return dir, nil
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

// fill writes a commit's files into a tree, and our index of it.
func (s *Store) fill(ctx context.Context, name, commit string) error {
	err := s.fillPlainly(ctx, name, commit)
	if err == nil || ctx.Err() != nil {
		return err
	}
	// Nothing of it may stay.
	if err := errors.Join(removeAll(s.Path(name)), os.RemoveAll(s.index(name)), s.point(name)); err != nil {
		return err
	}
	_, err = s.git(ctx, []string{"GIT_DIR=" + s.gitDir(name), "GIT_WORK_TREE=" + s.Path(name), "GIT_INDEX_FILE=" + s.index(name)}, "read-tree", "--reset", "-u", commit)
	return err
}

// fillPlainly is fill where nothing is unusual: no nested repository, no name that a
// git on another system would refuse, and not too much.
func (s *Store) fillPlainly(ctx context.Context, name, commit string) error {
	if !s.plain || s.large.Load() {
		return errUnusual
	}
	root, err := s.treeOf(ctx, commit)
	if err != nil {
		return err
	}
	files, err := s.files(root)
	if errors.Is(err, errUnusual) {
		if err := s.prime(ctx, commit); err != nil {
			return err
		}
		files, err = s.files(root)
	}
	if err != nil {
		return err
	}
	dir := s.Path(name)
	made := map[string]bool{".": true}
	for i := range files {
		f := &files[i]
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		path := filepath.Join(dir, f.path)
		if in := filepath.Dir(f.path); !made[in] {
			made[in] = true
			if err := os.MkdirAll(filepath.Join(dir, in), 0o777); err != nil {
				return err
			}
		}
		if err := s.put(path, f.file); err != nil {
			return err
		}
		now, err := statFile(path)
		if err != nil {
			return err
		}
		now.file = f.file
		*f = now
	}
	return writeIndex(s.index(name), files)
}

// files lists the files of a folder that can be written here.
func (s *Store) files(root string) ([]indexed, error) {
	var out []indexed
	err := s.list(root, "", func(f file) error {
		if len(out) == maxPlain || octal[f.mode] == 0 || !plainPath(f.path) || !s.has(f.id) {
			return errUnusual
		}
		out = append(out, indexed{file: f})
		return nil
	})
	return out, err
}

// put writes one file that is not there.
func (s *Store) put(path string, f file) error {
	body, err := s.read(f.id, "blob")
	if err != nil {
		return err
	}
	if f.mode == modeLink {
		return os.Symlink(string(body), path)
	}
	perm := os.FileMode(0o666)
	if f.mode == modeExec {
		perm = 0o777
	}
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = w.Write(body)
	return errors.Join(err, w.Close())
}

// plainPath reports whether all names of a path are plain: git refuses or changes some
// that look like its own folder to one system or another, and knows which.
func plainPath(path string) bool {
	for name := range strings.SplitSeq(path, "/") {
		if !plainName(name) {
			return false
		}
	}
	return true
}

func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c >= 0x7f || c == '\\' || c == ':' {
			return false
		}
	}
	lower := strings.ToLower(name)
	rest, git := strings.CutPrefix(lower, ".git")
	if git && (rest == "" || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz") != "") {
		return false
	}
	return name != "" && name != "." && name != ".." && !strings.HasPrefix(lower, "git~")
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
	s.mu.Lock()
	delete(s.from, name)
	s.mu.Unlock()
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
