package trees

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Branch is a branch for the project's repository.
type Branch struct{ Name, Commit string }

// refs is where branches are made.
const refs = "refs/heads/"

// Ground returns the commit that branches stand on: the project's own, if a snapshot has
// the same files, otherwise the snapshot.
func (s *Store) Ground(ctx context.Context, snapshot string) (string, error) {
	head, err := s.git(ctx, nil, "rev-parse", "--verify", "--quiet", snapshot+"^")
	if err != nil {
		return snapshot, ctx.Err() // the project has no commit
	}
	same, err := s.Same(ctx, head, snapshot)
	if same {
		return head, err
	}
	return snapshot, err
}

// Pick makes a commit on another one that changes what commit changes on base. It returns
// "" where that conflicts.
func (s *Store) Pick(ctx context.Context, onto, base, commit, message string, at time.Time) (string, error) {
	tree, err := s.Tree(ctx, onto)
	if err != nil {
		return "", err
	}
	ours, err := s.commitTree(ctx, tree, "", at, base) // so that base is where both meet
	if err != nil {
		return "", err
	}
	merged, conflicts, err := s.Merge(ctx, ours, commit, "")
	if err != nil || len(conflicts) > 0 {
		return "", err
	}
	return s.On(ctx, onto, merged, message, at)
}

// On makes a commit with the files of one on top of another.
func (s *Store) On(ctx context.Context, onto, files, message string, at time.Time) (string, error) {
	tree, err := s.Tree(ctx, files)
	if err != nil {
		return "", err
	}
	return s.commitTree(ctx, tree, message, at, onto)
}

// Repository returns the project's repository, in which Publish makes branches. There must
// be one, of the project's whole folder.
func (s *Store) Repository(ctx context.Context) (dir string, err error) {
	out, err := s.reads.Run(ctx, s.root, nil, nil, "rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir", "--show-object-format")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if err != nil || len(lines) != 3 || filepath.Clean(lines[0]) != filepath.Clean(s.root) || lines[2] != "sha1" {
		return "", fault.NewConfiguration("start it in the top folder of a git repository, or without --branches", "%s is not the top folder of a git repository with names of SHA-1", s.root)
	}
	return filepath.Clean(lines[1]), nil
}

// Publish makes branches in the project's repository. One that is there already stays as it
// is. Files, index and the branch that is checked out do not change, no hook runs.
func (s *Store) Publish(ctx context.Context, on string, all []Branch) error {
	dir, err := s.Repository(ctx)
	if err != nil {
		return err
	}
	var tips strings.Builder
	for _, b := range all {
		fmt.Fprintln(&tips, b.Commit)
	}
	if _, err := s.reads.Run(ctx, s.root, nil, nil, "cat-file", "-e", on+"^{commit}"); err == nil {
		fmt.Fprintln(&tips, "^"+on)
	}
	pack, err := s.ask(ctx, tips.String(), "pack-objects", "--revs", "--stdout", "--quiet")
	if err != nil {
		return err
	}
	to := s.reads.Writing(dir)
	if _, err := to.Run(ctx, dir, []string{"GIT_DIR=" + dir}, strings.NewReader(pack), "index-pack", "--stdin", "--strict"); err != nil {
		return fmt.Errorf("copy the results to %s: %w", dir, err)
	}
	for _, b := range all {
		if _, err := to.Run(ctx, dir, []string{"GIT_DIR=" + dir}, nil, "show-ref", "--verify", "--quiet", refs+b.Name); err == nil {
			continue
		}
		if _, err := to.Run(ctx, dir, []string{"GIT_DIR=" + dir}, nil, "update-ref", "-m", "pawl swarm", refs+b.Name, b.Commit, strings.Repeat("0", 40)); err != nil {
			return fmt.Errorf("make the branch %s: %w", b.Name, err)
		}
	}
	return nil
}
