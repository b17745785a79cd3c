package trees

import (
	"context"
	"errors"
	"os/exec"
	"slices"
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
	tree, err := s.mergePlainly(ctx, ours, theirs)
	if errors.Is(err, errUnusual) {
		tree, conflicts, err = s.mergeTree(ctx, ours, theirs)
	}
	if err != nil || len(conflicts) > 0 {
		return "", conflicts, err
	}
	commit, err = s.commitTree(tree, message, time.Now(), ours, theirs)
	return commit, nil, err
}

// mergeTree merges by git.
func (s *Store) mergeTree(ctx context.Context, ours, theirs string) (tree string, conflicts []string, err error) {
	out, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, nil,
		"merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
	fields := strings.Split(strings.TrimRight(string(out), "\x00\n"), "\x00")
	if exitOne(err) != nil || err != nil && len(fields) < 2 {
		return "", nil, err
	}
	if err != nil {
		return "", fields[1:], nil
	}
	return fields[0], nil, nil
}

// maxBack is how many merges back mergePlainly looks for a result's base.
const maxBack = 10_000

// mergePlainly merges where nothing is to be decided: no file was changed on both sides,
// and none was removed. A removed file may have been renamed, and git knows what follows
// from that. The error is errUnusual otherwise.
func (s *Store) mergePlainly(ctx context.Context, ours, theirs string) (tree string, err error) {
	their, err := s.commit(ctx, theirs)
	if err != nil {
		return "", err
	}
	our, err := s.commit(ctx, ours)
	if err != nil {
		return "", err
	}
	if len(their.parents) != 1 {
		return "", errUnusual
	}
	base := their.parents[0]
	at, back := ours, our
	for n := 0; at != base; n++ { // then it is the one commit that both stand on
		if n == maxBack || len(back.parents) == 0 || slices.Contains(back.parents, theirs) {
			return "", errUnusual
		}
		if at = back.parents[0]; at == base {
			break
		}
		if back, err = s.commit(ctx, at); err != nil {
			return "", err
		}
	}
	was, err := s.treeOf(ctx, base)
	if err != nil {
		return "", err
	}
	if was == our.tree { // nothing was merged since
		return their.tree, nil
	}
	if tree, err = s.mergeFolders(was, our.tree, their.tree); tree == "" && err == nil {
		err = errUnusual
	}
	return tree, err
}

// mergeFolders merges two folders that stand on a third.
func (s *Store) mergeFolders(base, ours, theirs string) (string, error) {
	was, err := s.folder(base)
	if err != nil {
		return "", err
	}
	our, err := s.folder(ours)
	if err != nil {
		return "", err
	}
	their, err := s.folder(theirs)
	if err != nil {
		return "", err
	}
	old := make(map[string]entry, len(was))
	for _, e := range was {
		old[e.name] = e
	}
	var out []entry
	same := true
	for _, p := range pairs(our, their) {
		o, t := p[0], p[1]
		b := old[max(o.name, t.name)]
		delete(old, b.name)
		dir := b.mode == modeDir
		if b.mode != "" && (o.mode == "" || t.mode == "" || dir != (o.mode == modeDir) || dir != (t.mode == modeDir)) {
			return "", errUnusual
		}
		switch {
		case o.mode == modeDir && t.mode == modeDir && o != t:
			id, err := s.mergeFolders(dirOf(b), o.id, t.id)
			if err != nil {
				return "", err
			}
			same = same && id == o.id
			o.id = id
		case o == t || t == b:
		case o == b:
			o, same = t, false
		default:
			return "", errUnusual
		}
		out = append(out, o)
	}
	if len(old) > 0 {
		return "", errUnusual
	}
	if same {
		return ours, nil
	}
	return s.writeTree(out)
}
