package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/filelock"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// This file is --worktree: a session in a linked working tree of git, at the same place
// and on the same branch as in Claude Code. At the end it is removed only if pawl made
// it and it contains nothing: no changed, new or ignored file, and no commit.

const (
	worktrees = ".claude/worktrees" // below the repository's root
	// madeTree is a file in git's folder of a working tree. It means that pawl made the
	// tree, from the commit that the file names.
	madeTree = "pawl-made"
	anyTree  = "*" // --worktree without a name
)

var treeName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

func checkTreeName(name string) error {
	if name != anyTree && (!treeName().MatchString(name) || len(name) > 60 || strings.HasSuffix(name, ".lock")) {
		return fmt.Errorf("%q cannot name a folder and a branch: use letters, digits, - and _", name)
	}
	return nil
}

// worktree is an open working tree.
type worktree struct {
	git    *workspace.Git
	root   string // of the repository, its root
	dir    string
	branch string
	admin  string // git's folder of the tree
	config []string
	lock   *os.File
	done   func()
	say    io.Writer
}

// inWorktree makes the session work in the working tree that --worktree names; it is
// created if it does not exist. leave is called when the session is closed.
func (a *App) inWorktree(ctx context.Context, f *flags) (leave func(), err error) {
	if f.worktree == "" {
		return func() {}, nil
	}
	name := f.worktree
	if name == anyTree {
		name = "pawl-" + setup.NewID()[:8]
	}
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return nil, err
	}
	if gitrepo.Above(dir) == "" {
		return nil, usageError("--worktree needs a git repository, and %s is not in one", dir)
	}
	w := &worktree{branch: "worktree-" + name, say: wrapped(a.Err, false)}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if err := openTreeGit(ctx, a, f, w, dir); err != nil {
		return nil, err
	}
	w.dir = filepath.Join(w.root, filepath.FromSlash(worktrees), name)
	from, err := w.enter(ctx, name)
	if err != nil {
		return nil, err
	}
	f.Dir, f.TrustedAs = w.dir, w.root
	fmt.Fprintln(w.say, plain.Line(fmt.Sprintf("pawl: worktree %s, branch %s, %s", w.dir, w.branch, from)))
	return func() {
		defer w.close()
		w.leave(context.WithoutCancel(ctx), name)
	}, nil
}

// openTreeGit opens git for the repository of a folder, and finds its root.
func openTreeGit(ctx context.Context, a *App, f *flags, w *worktree, dir string) error {
	conf, paths, err := a.Settings()
	if err != nil {
		return err
	}
	beside, err := os.MkdirTemp("", "pawl-worktree-") // git confined to the repository could not change its .git
	if err != nil {
		return err
	}
	w.done = func() { _ = os.RemoveAll(beside) }
	by, _, err := a.Confine(&f.Options, conf, paths, beside, true)
	if err != nil {
		return err
	}
	if !by.Has.Workspace {
		by = by.Off()
	}
	starter, stop := by.Starter()
	w.done = func() { stop(); _ = os.RemoveAll(beside) }
	w.git = &workspace.Git{Starter: starter, Confine: by.Git()}
	w.root = gitrepo.Above(dir)
	read := w.git.Reading(w.root)
	if st, err := os.Lstat(filepath.Join(w.root, ".git")); err == nil && !st.IsDir() { // of a linked tree or a submodule
		folders := sandbox.GitFolders(w.root)
		if len(folders) == 0 {
			return usageError("%s is not a worktree of the repository that its .git file names", w.root)
		}
		for _, at := range folders {
			read = read.Reading(at)
		}
	}
	common, err := w.line(ctx, read, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return usageError("git does not accept %s as a repository: %w", w.root, err)
	}
	if filepath.Base(common) == ".git" { // dir itself may be in a linked tree
		w.root = filepath.Dir(common)
	}
	w.git = w.git.Writing(w.root)
	if w.git.Confine.Level == process.Workspace {
		w.git.Confine.Own = append(w.git.Confine.Own, common)
	}
	filters, err := w.git.Run(ctx, w.root, nil, nil, "config", "-z", "--name-only", "--get-regexp", `^filter\..*`)
	if err != nil && len(filters) > 0 {
		return err
	}
	for key := range strings.SplitSeq(string(filters), "\x00") { // a filter is a program: none may run
		if at := strings.LastIndexByte(key, '.'); at > 0 && !strings.ContainsAny(key, "=\n") {
			for _, k := range []string{".clean=", ".smudge=", ".process=", ".required=false"} {
				w.config = append(w.config, "-c", key[:at]+k)
			}
		}
	}
	return nil
}

func (w *worktree) line(ctx context.Context, git *workspace.Git, dir string, args ...string) (string, error) {
	out, err := git.Run(ctx, dir, nil, nil, append(w.config[:len(w.config):len(w.config)], args...)...)
	return strings.TrimSpace(string(out)), err
}

// enter creates the working tree, or uses the existing one. It returns the message for
// the person.
func (w *worktree) enter(ctx context.Context, name string) (told string, err error) {
	root, err := os.OpenRoot(w.root)
	if err != nil {
		return "", err
	}
	defer root.Close()
	for _, p := range []string{".claude", worktrees, path.Join(worktrees, name)} {
		if st, err := root.Lstat(p); err == nil && !st.IsDir() {
			return "", usageError("cannot create a worktree at %s: %s is not a folder", w.dir, filepath.Join(w.root, p))
		}
	}
	st, err := root.Stat(path.Join(worktrees, name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		told, err = w.make(ctx, root)
	case err == nil && st.IsDir():
		told = "which exists already"
	}
	if err != nil {
		return "", err
	}
	top, err := w.line(ctx, w.git, w.dir, "rev-parse", "--show-toplevel")
	if err == nil && top != filepath.ToSlash(w.dir) {
		err = errors.New("its files belong to " + top)
	}
	if err == nil {
		w.admin, err = w.line(ctx, w.git, w.dir, "rev-parse", "--absolute-git-dir")
	}
	if err != nil {
		return "", usageError("%s exists, and is not a worktree of this repository (%v); choose another name, or move the folder away", w.dir, err)
	}
	if now, err := w.line(ctx, w.git, w.dir, "symbolic-ref", "--short", "HEAD"); err == nil {
		w.branch = now
	}
	w.lock, err = os.CreateTemp(w.admin, "pawl-*.lock")
	if err == nil {
		err = filelock.Try(w.lock)
	}
	return told, err
}

// make creates the working tree, on a branch with its name.
func (w *worktree) make(ctx context.Context, root *os.Root) (told string, err error) {
	base, err := w.line(ctx, w.git, w.root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return "", usageError("--worktree needs a commit, and the repository %s has none", w.root)
	}
	if err := root.MkdirAll(worktrees, 0o777); err != nil {
		return "", err
	}
	// The trees are not files of the project.
	if f, err := root.OpenFile(path.Join(worktrees, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err == nil {
		_, err = f.WriteString("*\n")
		if err = errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	args, told := []string{"worktree", "add", "--quiet", "-b", w.branch, w.dir, base}, "new, from the commit "+base[:min(10, len(base))]
	_, err = w.line(ctx, w.git, w.root, "rev-parse", "--verify", "--quiet", "refs/heads/"+w.branch)
	there := err == nil
	if there {
		args, told = []string{"worktree", "add", "--quiet", w.dir, w.branch}, "which existed"
	}
	if _, err := w.line(ctx, w.git, w.root, args...); err != nil {
		return "", usageError("cannot create a worktree at %s: %w (git worktree list lists all, git worktree prune removes the entries of deleted ones)", w.dir, err)
	}
	if !there { // leave may remove both
		admin, err := w.line(ctx, w.git, w.dir, "rev-parse", "--absolute-git-dir")
		if err != nil {
			return "", err
		}
		return told, os.WriteFile(filepath.Join(admin, madeTree), []byte(base+"\n"), 0o666)
	}
	return told, nil
}

// leave removes the working tree if it contains nothing; otherwise it prints how to
// continue there.
func (w *worktree) leave(ctx context.Context, name string) {
	why := w.remove(ctx)
	if why == "" {
		fmt.Fprintln(w.say, plain.Line(fmt.Sprintf("pawl: removed the worktree %s and its branch, because nothing changed in it; to create it again and continue: pawl --worktree %s -c", w.dir, name)))
		return
	}
	q := shellsyntax.Quote
	fmt.Fprintln(w.say, plain.Line(fmt.Sprintf("pawl: kept the worktree %s: %s. To continue: pawl --worktree %s -c; to merge its branch: git merge %s; to remove it: git worktree remove %s, then git branch -d %s",
		w.dir, why, name, q(w.branch), q(w.dir), q(w.branch))))
}

// remove removes the working tree and its branch if pawl made them and they contain
// nothing. Otherwise it returns why they stay.
func (w *worktree) remove(ctx context.Context) (why string) {
	made, err := os.ReadFile(filepath.Join(w.admin, madeTree))
	if err != nil {
		return "pawl did not make its branch"
	}
	base := string(bytes.TrimSpace(made))
	ref, err := w.line(ctx, w.git, w.dir, "symbolic-ref", "HEAD")
	if err != nil || ref != "refs/heads/"+w.branch {
		return "its branch is not checked out"
	}
	head, err := w.line(ctx, w.git, w.dir, "rev-parse", "HEAD")
	if err != nil || head != base {
		return "it has commits"
	}
	changed, err := w.git.Run(ctx, w.dir, nil, nil, append(w.config[:len(w.config):len(w.config)], "status", "--porcelain", "-z", "--untracked-files=all", "--ignored")...)
	if n := bytes.Count(changed, []byte{0}); err != nil || n > 0 {
		return "it has files that are not committed"
	}
	locks, _ := filepath.Glob(filepath.Join(w.admin, "pawl-*.lock")) // the pattern is valid
	for _, l := range locks {
		if l != w.lock.Name() && lockHeld(l) {
			return "another session works in it"
		}
	}
	if _, err := w.line(ctx, w.git, w.root, "worktree", "remove", w.dir); err != nil {
		return "git could not remove it: " + err.Error()
	}
	if _, err := w.line(ctx, w.git, w.root, "update-ref", "-d", ref, base); err != nil {
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

func (w *worktree) close() {
	if w.lock != nil {
		_ = w.lock.Close()
		_ = os.Remove(w.lock.Name()) // it was removed with the tree
	}
	if w.done != nil {
		w.done()
	}
}
