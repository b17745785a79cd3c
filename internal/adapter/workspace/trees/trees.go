// Package trees provides a separate tree of files for each worker of a swarm,
// and merges the workers' results (SPEC 14.2).
//
// A Store is a bare git repository in one of pawl's folders. It borrows the
// objects of the project's repository, if there is one, and works the same
// without one. It never writes to the project: no branch, index, configuration
// or hook of a person is touched.
//
// Promised: files keep their bytes and whether they can be executed, whatever
// attributes, line endings and filters the project configures; nothing that a
// repository configures is run; a merge with a conflict changes nothing and
// names the files. Refused: results with a nested repository, a symbolic link
// that the base does not have, or a file over 100 MB (Changes). Ignored files
// of the project are in no tree.
//
// Its methods are safe for concurrent use.
package trees

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
)

// maxFile is the size limit of a file in a result.
const maxFile = 100 << 20

// attributes override those of the project: bytes are kept unchanged.
const attributes = "* -text -filter -ident -working-tree-encoding !eol !merge !diff\n"

// ErrRefused is wrapped by the errors for refused results.
var ErrRefused = errors.New("the result is refused")

// Store keeps the trees of one swarm.
type Store struct {
	dir           string // of the bare repository; trees are beside it
	root          string // of the project
	reads, writes *workspace.Git

	snapshots sync.Mutex // they share an index; and bundles a reference

	mu      sync.Mutex        // guards what follows
	treeIDs map[string]string // of commits
	from    map[string]string // the commit that a tree was made from, by its name
}

// Open opens or creates the store in a folder. Both the folder and root, the
// project, are real paths; root is "" where there is none, and all comes by
// Unbundle. Git reads the project as it is confined; it can
// change only the folder.
func Open(ctx context.Context, git *workspace.Git, dir, root string) (*Store, error) {
	s := &Store{dir: filepath.Join(dir, "store.git"), root: root, reads: git, writes: git.Writing(dir)}
	if _, err := os.Stat(filepath.Join(s.dir, "HEAD")); err == nil {
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := s.writes.Run(ctx, dir, nil, nil, "init", "--quiet", "--bare", "--object-format=sha1", "--template=", s.dir); errors.Is(err, exec.ErrNotFound) {
		return nil, fault.NewConfiguration("install git; the folder itself need not be a repository", "git is not installed, which keeps the trees of a swarm's workers apart")
	} else if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "info"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "info", "attributes"), []byte(attributes), 0o600); err != nil {
		return nil, err
	}
	return s, s.borrow(ctx)
}

// borrow lets the store read the project's objects, and ignore what the project ignores.
func (s *Store) borrow(ctx context.Context) error {
	if s.root == "" {
		return nil
	}
	out, err := s.reads.Run(ctx, s.root, nil, nil, "rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "info/exclude")
	if err != nil {
		return ctx.Err() // there is no repository
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) != 2 || strings.ContainsAny(lines[0], "\"\n") {
		return nil
	}
	if err := os.WriteFile(filepath.Join(s.dir, "objects", "info", "alternates"), []byte(lines[0]+"\n"), 0o600); err != nil {
		return err
	}
	if text, err := os.ReadFile(lines[1]); err == nil {
		return os.WriteFile(filepath.Join(s.dir, "info", "exclude"), text, 0o600)
	}
	return nil
}

// git runs git in the store.
func (s *Store) git(ctx context.Context, env []string, args ...string) (string, error) {
	out, err := s.writes.Run(ctx, s.dir, append([]string{"GIT_DIR=" + s.dir}, env...), nil, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// Snapshot makes a commit of the project's present files, including uncommitted
// and new files, without ignored ones. Its parent is the project's own commit,
// so that workers see its history.
func (s *Store) Snapshot(ctx context.Context) (string, error) {
	index := filepath.Join(s.dir, "snapshot.index")
	defer os.Remove(index)
	env := []string{"GIT_INDEX_FILE=" + index, "GIT_WORK_TREE=" + s.root}
	head := ""
	if out, err := s.reads.Run(ctx, s.root, nil, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		head = strings.TrimSpace(string(out))
	}
	s.snapshots.Lock()
	defer s.snapshots.Unlock()
	// The project's index knows which files are unchanged, so they are not read
	// again. If it cannot be used, the commit is read instead.
	if !s.copyIndex(ctx, index, env) && head != "" {
		if _, err := s.git(ctx, env, "read-tree", head); err != nil {
			return "", err
		}
	}
	tree, err := s.addAll(ctx, env)
	if err != nil {
		return "", err
	}
	return s.commitTree(tree, "the project when the work began", time.Now(), head)
}

// SnapshotOn is Snapshot with another parent, so that a merge sees the changes
// since that commit.
func (s *Store) SnapshotOn(ctx context.Context, parent string) (string, error) {
	now, err := s.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	tree, err := s.treeOf(ctx, now)
	if err != nil {
		return "", err
	}
	return s.commitTree(tree, "the project as it is now", time.Now(), parent)
}

func (s *Store) copyIndex(ctx context.Context, to string, env []string) bool {
	out, err := s.reads.Run(ctx, s.root, nil, nil, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-path", "index")
	if err != nil {
		return false
	}
	top, from, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	if top != s.root { // the project is a subfolder of a repository, whose index covers the whole
		return false
	}
	text, err := os.ReadFile(from)
	if err != nil || os.WriteFile(to, text, 0o600) != nil {
		return false
	}
	if _, err = s.git(ctx, env, "write-tree"); err != nil { // a merge is unfinished, or the format needs the project's git
		_ = os.Remove(to)
		return false
	}
	return true
}

// addAll returns the tree of a work tree's files.
func (s *Store) addAll(ctx context.Context, env []string) (string, error) {
	if _, err := s.git(ctx, env, "add", "--all", "."); err != nil {
		return "", err
	}
	return s.git(ctx, env, "write-tree")
}

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
		return "", fmt.Errorf("%q is no commit", commit)
	}
	// This is what git worktree add makes, with one process and not five.
	dir, admin := s.Path(name), s.gitDir(name)
	for path, text := range map[string]string{
		filepath.Join(dir, ".git"):        "gitdir: " + admin + "\n",
		filepath.Join(admin, "HEAD"):      commit + "\n",
		filepath.Join(admin, "commondir"): "../..\n",
		filepath.Join(admin, "gitdir"):    filepath.Join(dir, ".git") + "\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	index := s.index(name)
	if _, err := s.git(ctx, []string{"GIT_DIR=" + admin, "GIT_WORK_TREE=" + dir, "GIT_INDEX_FILE=" + index}, "read-tree", "--reset", "-u", commit); err != nil {
		return "", err
	}
	if err := copyIndex(index, filepath.Join(admin, "index")); err != nil {
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

// Commit makes a commit of a tree's files, on top of the worker's base commit.
// It returns the base if nothing changed.
func (s *Store) Commit(ctx context.Context, name, base, message string) (string, error) {
	env := []string{"GIT_INDEX_FILE=" + s.index(name), "GIT_WORK_TREE=" + s.Path(name)}
	s.mu.Lock()
	made := s.from[name] == base
	delete(s.from, name) // what is added changes the index
	s.mu.Unlock()
	if !made {
		if _, err := s.git(ctx, env, "read-tree", base); err != nil {
			return "", err
		}
	}
	tree, err := s.addAll(ctx, env)
	if err != nil {
		return "", err
	}
	was, err := s.treeOf(ctx, base)
	if err != nil || tree == was {
		return base, err
	}
	return s.commitTree(tree, message, time.Now(), base)
}

// Same reports whether two commits have the same files.
func (s *Store) Same(ctx context.Context, a, b string) (bool, error) {
	one, err := s.treeOf(ctx, a)
	if err != nil {
		return false, err
	}
	other, err := s.treeOf(ctx, b)
	return one == other, err
}

// exitOne returns nil for the exit code 1, which is a valid answer.
func exitOne(err error) error {
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	return err
}

// Merge merges a result into the merged tree and returns the new commit, or the
// files in conflict and no commit.
func (s *Store) Merge(ctx context.Context, ours, theirs, message string) (commit string, conflicts []string, err error) {
	out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, nil,
		"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	fields := strings.Split(strings.TrimRight(string(out), "\x00\n"), "\x00")
	if exitOne(err) != nil || err != nil && len(fields) < 2 {
		return "", nil, err
	}
	if err != nil {
		return "", fields[1:], nil
	}
	commit, err = s.commitTree(fields[0], message, time.Now(), ours, theirs)
	return commit, nil, err
}

// Diff returns what differs between two commits, for a reader.
func (s *Store) Diff(ctx context.Context, from, to string) (string, error) {
	out, err := s.git(ctx, nil, "diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", from, to)
	return out, err
}

// Change is a file that differs between two commits.
type Change struct {
	Path    string
	Deleted bool
	Exec    bool
	blob    string
}

const (
	modeFile, modeExec = "100644", "100755"
	modeGone           = "000000"
)

// Changes returns the differences between two commits, and refuses what no
// result may contain (ErrRefused, with the file).
func (s *Store) Changes(ctx context.Context, from, to string) ([]Change, error) {
	out, err := s.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return nil, err
	}
	var changes []Change
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		meta, file := strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1]
		if len(meta) != 5 {
			return nil, fmt.Errorf("git diff-tree answered %q", fields[i])
		}
		c := Change{Path: file, Deleted: meta[1] == modeGone, Exec: meta[1] == modeExec, blob: meta[3]}
		switch {
		case !filepath.IsLocal(file):
			return nil, fmt.Errorf("%w: %q is not a path in the project", ErrRefused, file)
		case !c.Deleted && meta[1] != modeFile && meta[1] != modeExec:
			return nil, fmt.Errorf("%w: %s is a %s, and only files can be taken", ErrRefused, file, kind(meta[1]))
		case c.Deleted && meta[0] != modeFile && meta[0] != modeExec:
			return nil, fmt.Errorf("%w: %s was a %s, and only files can be removed", ErrRefused, file, kind(meta[0]))
		}
		changes = append(changes, c)
	}
	return changes, s.small(ctx, changes)
}

// Check refuses a commit that contains what no result may contain.
func (s *Store) Check(ctx context.Context, base, commit string) error {
	_, err := s.Changes(ctx, base, commit)
	return err
}

func kind(mode string) string {
	switch mode {
	case "120000":
		return "symbolic link"
	case "160000":
		return "nested repository"
	}
	return "thing of mode " + mode
}

// small refuses files that are too large for a result.
func (s *Store) small(ctx context.Context, changes []Change) error {
	large := map[string]bool{}
	var others bytes.Buffer
	for _, c := range changes {
		if c.Deleted {
			continue
		}
		size, ok, err := s.looseSize(c.blob)
		if err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(&others, c.blob)
		}
		large[c.blob] = size > maxFile
	}
	if others.Len() > 0 {
		out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, &others, "cat-file", "--batch-check=%(objectname) %(objectsize)")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(out)) {
			var oid string
			var size int64
			if _, err := fmt.Sscan(line, &oid, &size); err != nil {
				return fmt.Errorf("git cat-file answered %q: %w", line, err)
			}
			large[oid] = size > maxFile
		}
	}
	for _, c := range changes {
		if large[c.blob] {
			return fmt.Errorf("%w: %s is over %d MB", ErrRefused, c.Path, maxFile>>20)
		}
	}
	return nil
}

// Read returns the new content of a file that was not deleted.
func (s *Store) Read(ctx context.Context, c Change) ([]byte, error) {
	return s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, nil, "cat-file", "blob", c.blob)
}
