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

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
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
	dir  string     // of the bare repository; trees are beside it
	root string     // of the project
	mu   sync.Mutex // git's own locks on the list of trees do not wait

	reads, writes *workspace.Git
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
	if _, err := s.writes.Run(ctx, dir, nil, nil, "init", "--quiet", "--bare", "--template=", s.dir); err != nil {
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

// author is the author of all commits. They belong to nobody: merged results
// come to the project as changes of files.
func author() []string {
	return []string{
		"GIT_AUTHOR_NAME=pawl", "GIT_AUTHOR_EMAIL=pawl@localhost", "GIT_COMMITTER_NAME=pawl", "GIT_COMMITTER_EMAIL=pawl@localhost",
	}
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
	s.mu.Lock()
	defer s.mu.Unlock()
	// The project's index knows which files are unchanged, so they are not read
	// again. If it cannot be used, the commit is read instead.
	if !s.copyIndex(ctx, index, env) && head != "" {
		if _, err := s.git(ctx, env, "read-tree", head); err != nil {
			return "", err
		}
	}
	return s.commit(ctx, env, head, "the project when the work began")
}

// SnapshotOn is Snapshot with another parent, so that a merge sees the changes
// since that commit.
func (s *Store) SnapshotOn(ctx context.Context, parent string) (string, error) {
	now, err := s.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	return s.commitTree(ctx, now+"^{tree}", "the project as it is now", parent)
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

// commit makes a commit of a work tree's files.
func (s *Store) commit(ctx context.Context, env []string, parent, message string) (string, error) {
	if _, err := s.git(ctx, env, "add", "--all", "."); err != nil {
		return "", err
	}
	tree, err := s.git(ctx, env, "write-tree")
	if err != nil {
		return "", err
	}
	return s.commitTree(ctx, tree, message, parent)
}

func (s *Store) commitTree(ctx context.Context, tree, message string, parents ...string) (string, error) {
	args := []string{"commit-tree", "-m", message}
	for _, p := range parents {
		if p != "" {
			args = append(args, "-p", p)
		}
	}
	return s.git(ctx, author(), append(args, tree)...)
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
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.git(ctx, nil, "worktree", "add", "--quiet", "--detach", s.Path(name), commit)
	return s.Path(name), err
}

// Remove removes a tree. A missing one is not an error.
func (s *Store) Remove(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := removeAll(s.Path(name)); err != nil {
		return err
	}
	return os.RemoveAll(s.gitDir(name))
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
	// Use a separate index made from the base, so that the worker's changes of
	// git's own files in its tree have no effect.
	index := s.gitDir(name) + ".index"
	defer os.Remove(index)
	env := []string{"GIT_INDEX_FILE=" + index, "GIT_WORK_TREE=" + s.Path(name)}
	if _, err := s.git(ctx, env, "read-tree", base); err != nil {
		return "", err
	}
	commit, err := s.commit(ctx, env, base, message)
	if err != nil {
		return "", err
	}
	same, err := s.Same(ctx, base, commit)
	if same {
		return base, err
	}
	return commit, err
}

// Same reports whether two commits have the same files.
func (s *Store) Same(ctx context.Context, a, b string) (bool, error) {
	_, err := s.git(ctx, nil, "diff-tree", "--quiet", a, b)
	return err == nil, exitOne(err)
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
	out, err := s.writes.Run(ctx, s.dir, append([]string{"GIT_DIR=" + s.dir}, author()...), nil,
		"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	fields := strings.Split(strings.TrimRight(string(out), "\x00\n"), "\x00")
	if exitOne(err) != nil || err != nil && len(fields) < 2 {
		return "", nil, err
	}
	if err != nil {
		return "", fields[1:], nil
	}
	commit, err = s.commitTree(ctx, fields[0], message, ours, theirs)
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
	var blobs bytes.Buffer
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
		if !c.Deleted {
			fmt.Fprintln(&blobs, c.blob)
		}
		changes = append(changes, c)
	}
	return changes, s.small(ctx, changes, &blobs)
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
func (s *Store) small(ctx context.Context, changes []Change, blobs *bytes.Buffer) error {
	out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, blobs, "cat-file", "--batch-check=%(objectname) %(objectsize)")
	if err != nil {
		return err
	}
	large := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var oid string
		var size int64
		if _, err := fmt.Sscan(line, &oid, &size); err != nil {
			return fmt.Errorf("git cat-file answered %q: %w", line, err)
		}
		large[oid] = size > maxFile
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
