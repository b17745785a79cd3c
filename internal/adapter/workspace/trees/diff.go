package trees

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Change is a file that differs between two commits.
type Change struct {
	Path    string
	Deleted bool
	Exec    bool
	blob    string
}

// Changes returns the differences between two commits, and refuses what no
// result may contain (ErrRefused, with the file).
func (s *Store) Changes(ctx context.Context, from, to string) (changes []Change, err error) {
	one, err := s.treeOf(ctx, from)
	if err != nil {
		return nil, err
	}
	other, err := s.treeOf(ctx, to)
	if err != nil {
		return nil, err
	}
	var refused error
	take := func(was, now file) {
		c := Change{Path: now.path, Deleted: now.mode == modeGone, Exec: now.mode == modeExec, blob: now.id}
		switch {
		case refused != nil:
		case !filepath.IsLocal(c.Path):
			refused = fmt.Errorf("%w: %q is not a path in the project", ErrRefused, c.Path)
		case !c.Deleted && now.mode != modeFile && now.mode != modeExec:
			refused = fmt.Errorf("%w: %s is a %s, and only files can be taken", ErrRefused, c.Path, kind(now.mode))
		case c.Deleted && was.mode != modeFile && was.mode != modeExec:
			refused = fmt.Errorf("%w: %s was a %s, and only files can be removed", ErrRefused, c.Path, kind(was.mode))
		}
		changes = append(changes, c)
	}
	if err = s.differ(one, other, "", take); errors.Is(err, errUnusual) {
		changes, refused = nil, nil
		err = s.diffTree(ctx, one, other, take)
	}
	if err = cmp.Or(err, refused); err != nil {
		return nil, err
	}
	return changes, s.small(ctx, changes)
}

// diffTree is differ, by git.
func (s *Store) diffTree(ctx context.Context, from, to string, take func(was, now file)) error {
	out, err := s.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		meta, path := strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1]
		if len(meta) != 5 {
			return fmt.Errorf("git diff-tree answered %q", fields[i])
		}
		take(file{path, meta[0], meta[2]}, file{path, meta[1], meta[3]})
	}
	return nil
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
