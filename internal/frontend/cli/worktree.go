package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// This file is --worktree: a session in a linked working tree of git (setup.Tree).

const anyTree = "*" // --worktree without a name

var treeName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]*(\.[A-Za-z0-9_-]+)*$`)

func checkTreeName(name string) error {
	if name != anyTree && (!treeName().MatchString(name) || len(name) > 60 || strings.HasSuffix(name, ".lock")) {
		return fmt.Errorf("%q cannot name a folder and a branch: use letters, digits, - and _", name)
	}
	return nil
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
	t, err := a.OpenTree(ctx, &f.Options, dir, name, false)
	if err != nil {
		return nil, err
	}
	f.Dir, f.TrustedAs = t.Dir, t.Root
	a.warn(fmt.Sprintf("worktree %s, branch %s, %s", t.Dir, t.Branch, t.Told))
	return func() {
		defer t.Close()
		a.leaveTree(context.WithoutCancel(ctx), t, name)
	}, nil
}

// leaveTree removes the working tree if it contains nothing; otherwise it prints how to
// continue there.
func (a *App) leaveTree(ctx context.Context, t *setup.Tree, name string) {
	why := t.Remove(ctx)
	if why == "" {
		a.warn(fmt.Sprintf("removed the worktree %s and its branch, because nothing changed in it; to create it again and continue: pawl --worktree %s -c", t.Dir, name))
		return
	}
	q := shellsyntax.Quote
	a.warn(fmt.Sprintf("kept the worktree %s: %s. To continue: pawl --worktree %s -c; to merge its branch: git merge %s; to remove it: git worktree remove %s, then git branch -d %s",
		t.Dir, why, name, q(t.Branch), q(t.Dir), q(t.Branch)))
}
