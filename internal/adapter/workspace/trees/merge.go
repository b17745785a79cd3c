package trees

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"
)

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
	out, err := s.ask(ctx, "", "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	fields := strings.Split(strings.TrimRight(out, "\x00\n"), "\x00")
	if exitOne(err) != nil || err != nil && len(fields) < 2 {
		return "", nil, err
	}
	if err != nil {
		return "", fields[1:], nil
	}
	commit, err = s.commitTree(ctx, fields[0], message, time.Now(), ours, theirs)
	return commit, nil, err
}
