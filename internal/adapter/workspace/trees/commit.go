package trees

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// Commit makes a commit of a tree's files, on top of base, the commit that it was
// checked out with. It returns base if nothing changed.
func (s *Store) Commit(ctx context.Context, name, base, message string) (string, error) {
	// The index stays that of base: what is added now is not tracked the next time.
	added := s.index(name) + ".added"
	defer os.Remove(added)
	if err := copyIndex(s.index(name), added); err != nil {
		return "", err
	}
	tree, err := s.addAll(ctx, []string{"GIT_INDEX_FILE=" + added, "GIT_WORK_TREE=" + s.Path(name)})
	if err != nil {
		return "", err
	}
	if was, err := s.Tree(ctx, base); err != nil || tree == was {
		return base, err
	}
	return s.commitTree(ctx, tree, message, time.Now(), base)
}

// commitTree makes a commit of a tree, on top of parents ("" is none), at a time.
func (s *Store) commitTree(ctx context.Context, tree, message string, at time.Time, parents ...string) (string, error) {
	if !isObjectID(tree) {
		return "", fmt.Errorf("%q is not a tree", tree)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		if p != "" {
			fmt.Fprintf(&b, "parent %s\n", p)
		}
	}
	const who = "pawl <pawl@localhost>"
	fmt.Fprintf(&b, "author %s %d +0000\ncommitter %s %d +0000\n\n%s\n", who, at.Unix(), who, at.Unix(), strings.TrimRight(message, "\n"))
	// Not by git commit-tree, which reads the person's configuration.
	out, err := s.ask(ctx, b.String(), "hash-object", "-t", "commit", "-w", "--stdin")
	commit := strings.TrimSpace(out)
	if err == nil {
		s.known.Store(commit, tree)
	}
	return commit, err
}

// Tree returns git's name of the files of a commit.
func (s *Store) Tree(ctx context.Context, commit string) (string, error) {
	if !isObjectID(commit) {
		return "", fmt.Errorf("%q is not a commit", commit)
	}
	if tree, ok := s.known.Load(commit); ok {
		return tree.(string), nil
	}
	tree, err := s.git(ctx, nil, "rev-parse", "--verify", commit+"^{tree}")
	if err == nil {
		s.known.Store(commit, tree)
	}
	return tree, err
}
