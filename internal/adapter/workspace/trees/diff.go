package trees

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
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
	err = s.differ(ctx, one, other, func(was, now file) error {
		c := Change{Path: now.path, Deleted: now.mode == modeGone, Exec: now.mode == modeExec, blob: now.id}
		changes = append(changes, c)
		switch {
		case len(changes) > maxChanged:
			return errMany
		case !filepath.IsLocal(c.Path):
			return fmt.Errorf("%w: %q is not a path in the project", ErrRefused, c.Path)
		case !c.Deleted && now.mode != modeFile && now.mode != modeExec:
			return fmt.Errorf("%w: %s is a %s, and only files can be taken", ErrRefused, c.Path, kind(now.mode))
		case c.Deleted && was.mode != modeFile && was.mode != modeExec:
			return fmt.Errorf("%w: %s was a %s, and only files can be removed", ErrRefused, c.Path, kind(was.mode))
		}
		return nil
	})
	if errors.Is(err, errUnusual) {
		err = fmt.Errorf("%w: a folder of it is not as git makes them", ErrRefused)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, s.small(ctx, changes)
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
