package setup

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/filelock"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// This file makes linked working trees of git: for --worktree, and for an agent that works
// in one of its own. They are at the same place and on the same branch as in Claude Code.
// At the end one is removed only if pawl made it and it contains nothing: no changed, new
// or ignored file, and no commit.

const (
	worktrees = ".claude/worktrees" // below the repository's root
	// madeTree is a file in git's folder of a working tree. It means that pawl made the
	// tree, from the commit that the file names.
	madeTree = "pawl-made"
)

// Tree is an open working tree.
type Tree struct {
	Root        string // of the repository, its root
	Dir, Branch string
	Told        string // whether it is new, for the person

	git    *workspace.Git
	read   *workspace.Git // reads the folder that the tree is made for
	base   string         // the commit at which a new one begins; "": that of Root
	admin  string         // git's folder of the tree
	config []string
	lock   *os.File
	done   func()
}

// OpenTree opens the working tree of that name of the repository around a folder, and
// creates it if it does not exist: at the commit of the folder if here, else at that of the
// repository. The caller closes it.
func (e *Environment) OpenTree(ctx context.Context, opt *Options, dir, name string, here bool) (_ *Tree, err error) {
	t := &Tree{Branch: "worktree-" + name, done: func() {}}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	if gitrepo.Above(dir) == "" {
		return nil, Usage("a worktree needs a git repository, and %s is not in one", dir)
	}
	if err := t.openGit(ctx, e, opt, dir); err != nil {
		return nil, err
	}
	if here {
		if t.base, err = t.line(ctx, t.read, dir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
			return nil, Usage("a worktree needs a commit, and %s has none", dir)
		}
	}
	t.Dir = filepath.Join(t.Root, filepath.FromSlash(worktrees), name)
	return t, t.enter(ctx, name)
}

// openGit opens git for the repository of a folder, and finds its root.
func (t *Tree) openGit(ctx context.Context, e *Environment, opt *Options, dir string) error {
	conf, paths, err := e.SettingsIn(dir)
	if err != nil {
		return err
	}
	beside, err := os.MkdirTemp("", "pawl-worktree-") // git confined to the repository could not change its .git
	if err != nil {
		return err
	}
	t.done = func() { _ = os.RemoveAll(beside) }
	by, err := e.Confine(opt, conf, paths, beside, true)
	if err != nil {
		return err
	}
	if !by.Has.Workspace {
		by = by.Off()
	}
	starter, stop := by.Starter()
	t.done = func() { stop(); _ = os.RemoveAll(beside) }
	t.git = &workspace.Git{Starter: starter, Confine: by.Git()}
	t.Root = gitrepo.Above(dir)
	read := t.git.Reading(t.Root)
	if st, err := os.Lstat(filepath.Join(t.Root, ".git")); err == nil && !st.IsDir() { // of a linked tree or a submodule
		folders := sandbox.GitFolders(t.Root)
		if len(folders) == 0 {
			return Usage("%s is not a worktree of the repository that its .git file names", t.Root)
		}
		for _, at := range folders {
			read = read.Reading(at)
		}
	}
	t.read = read
	common, err := t.line(ctx, read, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return Usage("git does not accept %s as a repository: %w", t.Root, err)
	}
	if filepath.Base(common) == ".git" { // dir itself may be in a linked tree
		t.Root = filepath.Dir(common)
	}
	t.git = t.git.Writing(t.Root)
	if t.git.Confine.Level == process.Workspace {
		t.git.Confine.Own = append(t.git.Confine.Own, common)
	}
	filters, err := t.git.Run(ctx, t.Root, nil, nil, "config", "-z", "--name-only", "--get-regexp", `^filter\..*`)
	if err != nil && len(filters) > 0 {
		return err
	}
	for key := range strings.SplitSeq(string(filters), "\x00") { // a filter is a program: none may run
		if at := strings.LastIndexByte(key, '.'); at > 0 && !strings.ContainsAny(key, "=\n") {
			for _, k := range []string{".clean=", ".smudge=", ".process=", ".required=false"} {
				t.config = append(t.config, "-c", key[:at]+k)
			}
		}
	}
	return nil
}

// run runs git in a folder, without the repository's filters.
func (t *Tree) run(ctx context.Context, git *workspace.Git, dir string, args ...string) ([]byte, error) {
	return git.Run(ctx, dir, nil, nil, slices.Concat(t.config, args)...)
}

func (t *Tree) line(ctx context.Context, git *workspace.Git, dir string, args ...string) (string, error) {
	out, err := t.run(ctx, git, dir, args...)
	return strings.TrimSpace(string(out)), err
}

// Uncommitted returns how many changed and new files of a repository a new tree lacks.
func (t *Tree) Uncommitted(ctx context.Context, dir string) (int, error) {
	out, err := t.run(ctx, t.read, dir, "status", "--porcelain", "--untracked-files=all")
	return bytes.Count(out, []byte{'\n'}), err
}

// enter creates the working tree, or uses the existing one.
func (t *Tree) enter(ctx context.Context, name string) error {
	root, err := os.OpenRoot(t.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, p := range []string{".claude", worktrees, path.Join(worktrees, name)} {
		if st, err := root.Lstat(p); err == nil && !st.IsDir() {
			return Usage("cannot create a worktree at %s: %s is not a folder", t.Dir, filepath.Join(t.Root, p))
		}
	}
	st, err := root.Stat(path.Join(worktrees, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = t.make(ctx, root)
	case err == nil && st.IsDir():
		t.Told = "which exists already"
	}
	if err != nil {
		return err
	}
	top, err := t.line(ctx, t.git, t.Dir, "rev-parse", "--show-toplevel")
	if err == nil && top != filepath.ToSlash(t.Dir) {
		err = errors.New("its files belong to " + top)
	}
	if err == nil {
		t.admin, err = t.line(ctx, t.git, t.Dir, "rev-parse", "--absolute-git-dir")
	}
	if err != nil {
		return Usage("%s exists, and is not a worktree of this repository (%v); choose another name, or move the folder away", t.Dir, err)
	}
	if now, err := t.line(ctx, t.git, t.Dir, "symbolic-ref", "--short", "HEAD"); err == nil {
		t.Branch = now
	}
	t.lock, err = os.CreateTemp(t.admin, "pawl-*.lock")
	if err == nil {
		err = filelock.Try(t.lock)
	}
	return err
}

// make creates the working tree, on a branch with its name.
func (t *Tree) make(ctx context.Context, root *os.Root) (err error) {
	base := t.base
	if base == "" {
		base, err = t.line(ctx, t.git, t.Root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	}
	if err != nil {
		return Usage("a worktree needs a commit, and the repository %s has none", t.Root)
	}
	if err := root.MkdirAll(worktrees, 0o777); err != nil {
		return err
	}
	// The trees are not files of the project.
	if f, err := root.OpenFile(path.Join(worktrees, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
		_, err = f.WriteString("*\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	t.Told = "new, from the commit " + base[:min(10, len(base))]
	args := []string{"worktree", "add", "--quiet", "-b", t.Branch, t.Dir, base}
	_, err = t.line(ctx, t.git, t.Root, "rev-parse", "--verify", "--quiet", "refs/heads/"+t.Branch)
	there := err == nil
	if there {
		args, t.Told = []string{"worktree", "add", "--quiet", t.Dir, t.Branch}, "which existed"
	}
	if _, err := t.line(ctx, t.git, t.Root, args...); err != nil {
		return Usage("cannot create a worktree at %s: %w (git worktree list lists all, git worktree prune removes the entries of deleted ones)", t.Dir, err)
	}
	if !there { // leave may remove both
		admin, err := t.line(ctx, t.git, t.Dir, "rev-parse", "--absolute-git-dir")
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(admin, madeTree), []byte(base+"\n"), 0o666)
	}
	return nil
}

// Remove removes the working tree and its branch if pawl made them and they contain
// nothing. Otherwise it returns why they stay.
func (t *Tree) Remove(ctx context.Context) (why string) {
	made, err := os.ReadFile(filepath.Join(t.admin, madeTree))
	if err != nil {
		return "pawl did not make its branch"
	}
	base := string(bytes.TrimSpace(made))
	ref, err := t.line(ctx, t.git, t.Dir, "symbolic-ref", "HEAD")
	if err != nil || ref != "refs/heads/"+t.Branch {
		return "its branch is not checked out"
	}
	head, err := t.line(ctx, t.git, t.Dir, "rev-parse", "HEAD")
	if err != nil || head != base {
		return "it has commits"
	}
	changed, err := t.run(ctx, t.git, t.Dir, "status", "--porcelain", "-z", "--untracked-files=all", "--ignored")
	if n := bytes.Count(changed, []byte{0}); err != nil || n > 0 {
		return "it has files that are not committed"
	}
	locks, _ := filepath.Glob(filepath.Join(t.admin, "pawl-*.lock")) // the pattern is valid
	for _, l := range locks {
		if l != t.lock.Name() && lockHeld(l) {
			return "another session works in it"
		}
	}
	if _, err := t.line(ctx, t.git, t.Root, "worktree", "remove", t.Dir); err != nil {
		return "git could not remove it: " + err.Error()
	}
	if _, err := t.line(ctx, t.git, t.Root, "update-ref", "-d", ref, base); err != nil {
		return "its branch could not be removed: " + err.Error()
	}
	return ""
}

// lockHeld reports whether the owner of a lock file is alive.
func lockHeld(name string) bool {
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return filelock.Try(f) != nil
}

// Close releases the working tree.
func (t *Tree) Close() {
	if t.lock != nil {
		_ = t.lock.Close()
		_ = os.Remove(t.lock.Name()) // it was removed with the tree
	}
	t.done()
}
