package trees

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// Change is a file that differs between two commits.
type Change struct {
	Path    string
	Deleted bool
	Exec    bool
	blob    string
}

// Modes of what is in a tree.
const (
	modeFile, modeExec = "100644", "100755"
	modeDir, modeGone  = "040000", "000000"
)

// maxChanged is how many files may differ between two commits. A few folders, each in
// the next ten times over, are more files than any machine can hold.
const maxChanged = 100_000

var errMany = fmt.Errorf("%w: it changes over %d files or folders", ErrRefused, maxChanged)

// emptyTree is the id of a folder without files, which each repository knows.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// Changes returns the differences between two commits, and refuses what no
// result may contain (ErrRefused, with the file).
func (s *Store) Changes(ctx context.Context, from, to string) (changes []Change, err error) {
	was, err := s.Tree(ctx, from)
	if err != nil {
		return nil, err
	}
	is, err := s.Tree(ctx, to)
	if err != nil {
		return nil, err
	}
	// A level of folders at a time: git would keep all files that differ before it
	// prints one.
	type place struct{ path, pair string }
	for level := []place{{pair: was + " " + is}}; len(level) > 0; {
		pairs := map[string][]entryChange{}
		for _, p := range level {
			pairs[p.pair] = nil
		}
		if err := s.compare(ctx, pairs); err != nil {
			return nil, err
		}
		var below []place
		for _, p := range level {
			for _, c := range pairs[p.pair] {
				path := p.path + c.name
				one, other := emptyTree, emptyTree
				if c.was == modeDir {
					one, c.was = c.wasID, modeGone
				}
				if c.now == modeDir {
					other, c.now = c.nowID, modeGone
				}
				if one != other {
					below = append(below, place{path + "/", one + " " + other})
				}
				if c.was != modeGone || c.now != modeGone {
					ch := Change{Path: path, Deleted: c.now == modeGone, Exec: c.now == modeExec, blob: c.nowID}
					if err := ch.check(c.was, c.now); err != nil {
						return nil, err
					}
					changes = append(changes, ch)
				}
				if max(len(changes), len(below)) > maxChanged {
					return nil, errMany
				}
			}
		}
		level = below
	}
	sorting.By(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, s.small(ctx, changes)
}

// check refuses a change that no result may contain.
func (c Change) check(was, now string) error {
	mode, is := now, "is"
	if c.Deleted {
		mode, is = was, "was"
	}
	what := "thing of mode " + mode
	switch {
	case !filepath.IsLocal(c.Path):
		return fmt.Errorf("%w: %q is not a path in the project", ErrRefused, c.Path)
	case mode == modeFile || mode == modeExec:
		return nil
	case mode == "120000":
		what = "symbolic link"
	case mode == "160000":
		what = "nested repository"
	}
	verb := "taken"
	if c.Deleted {
		verb = "removed"
	}
	return fmt.Errorf("%w: %s %s a %s, and only files can be %s", ErrRefused, c.Path, is, what, verb)
}

// entryChange is a name that differs between two folders.
type entryChange struct{ name, was, now, wasID, nowID string }

// compare fills in the differences of pairs of folders, "ID ID".
func (s *Store) compare(ctx context.Context, pairs map[string][]entryChange) error {
	var in strings.Builder
	for pair := range pairs {
		fmt.Fprintln(&in, pair)
	}
	out, err := s.ask(ctx, in.String(), "diff-tree", "--stdin", "-z", "--raw", "--no-renames", "--no-abbrev")
	if err != nil {
		return err
	}
	pair := ""
	for out != "" {
		if out[0] != ':' { // the pair whose differences follow
			pair, out, _ = strings.Cut(out, "\n")
			continue
		}
		var head, name string
		head, out, _ = strings.Cut(out[1:], "\x00")
		name, out, _ = strings.Cut(out, "\x00")
		f := strings.Fields(head)
		if _, asked := pairs[pair]; !asked || len(f) != 5 || name == "" {
			return fmt.Errorf("%w: git diff-tree says of a folder of it %.100q", ErrRefused, head)
		}
		pairs[pair] = append(pairs[pair], entryChange{name, f[0], f[1], f[2], f[3]})
	}
	return nil
}

// small refuses files that are too large for a result.
func (s *Store) small(ctx context.Context, changes []Change) error {
	var ids strings.Builder
	var paths []string
	for _, c := range changes {
		if !c.Deleted {
			fmt.Fprintln(&ids, c.blob)
			paths = append(paths, c.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	out, err := s.ask(ctx, ids.String(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		var size int64
		if _, err := fmt.Sscan(line, &size); err != nil || len(paths) == 0 {
			return fmt.Errorf("git cat-file answered %q", line)
		}
		if size > maxFile {
			return fmt.Errorf("%w: %s is over %d MB", ErrRefused, paths[0], maxFile>>20)
		}
		paths = paths[1:]
	}
	return nil
}
