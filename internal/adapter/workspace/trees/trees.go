// Package trees provides a separate tree of files for each worker of a swarm,
// and merges the workers' results (SPEC 14.2).
//
// A Store is a bare git repository in one of pawl's folders. It borrows the
// objects of the project's repository, if there is one, and works the same
// without one. It never writes to the project: no branch, index, configuration
// or hook of a person is touched.
//
// Git does all of it: a task costs some processes of git, and no rule of git's is
// written here a second time (ADR 029).
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
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
)

// maxFile is the size limit of a file in a result.
const maxFile = 100 << 20

// attributes override those of the project: bytes are kept unchanged.
const attributes = "* -text -filter -ident -working-tree-encoding !eol !merge !diff\n"

// ErrRefused is wrapped by the errors for refused results.
var ErrRefused = errors.New("the result is refused")

// ErrKilled is matched by the error of a pack that was not read to its end, since somebody
// killed git: nothing is known of it.
var ErrKilled = errors.New("the pack was not read")

// Store keeps the trees of one swarm.
type Store struct {
	dir           string // of the bare repository; the trees are in the same folder
	root          string // of the project
	reads, writes *workspace.Git

	known     sync.Map   // the trees of commits, which never change
	snapshots sync.Mutex // they share an index
}

// Open opens or creates the store in a folder, which nobody else has open. Both the
// folder and root, the project, are real paths; root is "" where there is none, and all
// comes by Unpack. Git reads the project as it is confined; it can
// change only the folder.
func Open(ctx context.Context, git *workspace.Git, dir, root string) (*Store, error) {
	s := &Store{dir: filepath.Join(dir, "store.git"), root: root, reads: git, writes: git.Writing(dir)}
	_, err := os.Stat(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = s.create(ctx)
	} else if err == nil {
		err = s.unlock()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// At returns the store in a folder for reading, also while another process has it open.
func At(git *workspace.Git, dir string) *Store {
	return &Store{dir: filepath.Join(dir, "store.git"), reads: git, writes: git.Reading(dir)}
}

// create makes the repository under another name first: if the process is killed, no
// incomplete repository stays.
func (s *Store) create(ctx context.Context) error {
	dir := s.dir
	s.dir += ".new"
	if err := errors.Join(os.RemoveAll(s.dir), os.MkdirAll(filepath.Dir(dir), 0o700)); err != nil {
		return err
	}
	if _, err := s.writes.Run(ctx, filepath.Dir(dir), nil, nil, "init", "--quiet", "--bare", "--object-format=sha1", "--template=", s.dir); errors.Is(err, exec.ErrNotFound) {
		return fault.NewConfiguration("install git; the folder itself need not be a repository", "git is not installed, which keeps the trees of a swarm's workers apart")
	} else if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "info", "attributes"), []byte(attributes), 0o600); err != nil {
		return err
	}
	if err := s.borrow(ctx); err != nil {
		return err
	}
	if err := os.Rename(s.dir, dir); err != nil {
		return err
	}
	s.dir = dir
	return nil
}

// unlock removes the lock files, and unfinished packs, of git processes that were killed
// with the one that had the store open before.
func (s *Store) unlock() error {
	return filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join(s.dir, "objects"):
			unfinished, _ := filepath.Glob(filepath.Join(path, "pack", "tmp_*"))
			for _, name := range unfinished {
				err = errors.Join(err, os.Remove(name))
			}
			return cmp.Or(err, fs.SkipDir)
		case d.Type().IsRegular() && strings.HasSuffix(path, ".lock"):
			return os.Remove(path)
		}
		return nil
	})
}

// borrow lets the store read the project's objects, and ignore what the project ignores.
func (s *Store) borrow(ctx context.Context) error {
	if s.root == "" {
		return nil
	}
	out, err := s.reads.Run(ctx, s.root, nil, nil, "rev-parse", "--path-format=absolute", "--git-path", "objects", "--git-path", "info/exclude", "--show-object-format")
	if err != nil {
		return ctx.Err() // not a repository
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) != 3 || strings.ContainsAny(lines[0], "\"\n") {
		return nil
	}
	if lines[2] == "sha1" { // objects with other names are of no use here
		if err := os.WriteFile(filepath.Join(s.dir, "objects", "info", "alternates"), []byte(lines[0]+"\n"), 0o600); err != nil {
			return err
		}
	}
	if text, err := plainfile.Read(lines[1], workspace.IgnoreMax); err == nil {
		return os.WriteFile(filepath.Join(s.dir, "info", "exclude"), text, 0o600)
	}
	return nil
}

// git runs git in the store.
func (s *Store) git(ctx context.Context, env []string, args ...string) (string, error) {
	out, err := s.writes.Run(ctx, s.dir, append([]string{"GIT_DIR=" + s.dir}, env...), nil, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// ask runs git in the store with an input, and returns its output as it is.
func (s *Store) ask(ctx context.Context, in string, args ...string) (string, error) {
	out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, strings.NewReader(in), args...)
	return string(out), err
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
		if id := strings.TrimSpace(string(out)); isObjectID(id) { // not that of a repository of SHA-256
			head = id
		}
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
	return s.commitTree(ctx, tree, "the project when the work began", time.Now(), head)
}

// SnapshotOn is Snapshot with another parent, so that a merge sees the changes
// since that commit.
func (s *Store) SnapshotOn(ctx context.Context, parent string) (string, error) {
	now, err := s.Snapshot(ctx)
	if err != nil {
		return "", err
	}
	return s.On(ctx, parent, now, "the project as it is now", time.Now())
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
	const mostIndex = 1 << 30
	text, err := plainfile.Read(from, mostIndex)
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

// Same reports whether two commits have the same files.
func (s *Store) Same(ctx context.Context, a, b string) (bool, error) {
	one, err := s.Tree(ctx, a)
	if err != nil {
		return false, err
	}
	other, err := s.Tree(ctx, b)
	return one == other, err
}

// Diff returns what differs between two commits, for a reader.
func (s *Store) Diff(ctx context.Context, from, to string) (string, error) {
	return s.git(ctx, nil, "diff-tree", "-r", "-p", "--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", from, to)
}

// Check returns the files that a commit changes. It refuses one that contains what no
// result may contain.
func (s *Store) Check(ctx context.Context, base, commit string) (files []string, err error) {
	changes, err := s.Changes(ctx, base, commit)
	for _, c := range changes {
		files = append(files, c.Path)
	}
	return files, err
}

// Read returns the new contents of files, nil for one that was deleted. git is started once.
func (s *Store) Read(ctx context.Context, changes []Change) ([][]byte, error) {
	var ids strings.Builder
	for _, c := range changes {
		if !c.Deleted {
			fmt.Fprintln(&ids, c.blob)
		}
	}
	var out string
	if ids.Len() > 0 {
		var err error
		if out, err = s.ask(ctx, ids.String(), "cat-file", "--batch"); err != nil {
			return nil, err
		}
	}
	texts := make([][]byte, len(changes))
	for i, c := range changes {
		if c.Deleted {
			continue
		}
		head, rest, _ := strings.Cut(out, "\n")
		var size int
		if _, err := fmt.Sscanf(head, c.blob+" blob %d", &size); err != nil || size < 0 || size >= len(rest) {
			return nil, fmt.Errorf("git cat-file answered %.80q for %s", head, c.Path)
		}
		texts[i], out = []byte(rest[:size]), rest[size+1:]
	}
	return texts, nil
}
