package trees

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// MaxBundle is the largest bundle with a result that is taken, in bytes.
const MaxBundle = 256 << 20

// Portable returns a commit with the files of another and no history but on, ""
// for none. It is the same on every machine and at every time, so what is sent
// once need not be sent again. It is on itself where the files are the same.
func (s *Store) Portable(ctx context.Context, commit, on string) (string, error) {
	if on != "" {
		if same, err := s.Same(ctx, on, commit); same || err != nil {
			return on, err
		}
	}
	tree, err := s.treeOf(ctx, commit)
	if err != nil {
		return "", err
	}
	return s.commitTree(ctx, tree, "files of a swarm", time.Unix(0, 0), on)
}

// bundleRef is how the commit of a bundle is called in it.
const bundleRef = "refs/pawl/bundle"

// Bundle makes a file with a commit and its ancestors, except those of the commit
// without ("": none). The caller removes the file.
func (s *Store) Bundle(ctx context.Context, commit, without string) (path string, err error) {
	f, err := os.CreateTemp(filepath.Dir(s.dir), "bundle-*") // where git may write
	if err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	s.snapshots.Lock()
	defer s.snapshots.Unlock()
	// Not ended in the middle: git would leave its lock, and no other bundle could be made.
	if _, err := s.git(context.WithoutCancel(ctx), nil, "update-ref", bundleRef, commit); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	args := []string{"bundle", "create", "--quiet", f.Name(), bundleRef}
	if without != "" {
		args = append(args, "--not", without)
	}
	_, err = s.git(ctx, nil, args...)
	_, gone := s.git(context.WithoutCancel(ctx), nil, "update-ref", "-d", bundleRef)
	if err = errors.Join(err, gone); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Unbundle takes the one commit of a bundle, which must stand on exactly the
// commit on, "" for none. What git itself holds for unsafe is refused: paths with
// .., folders of git in a tree, objects that are damaged or not what they say. That
// the reader fails is not the bundle's fault: its error is returned as it is.
// Nothing of it is run, and no branch is made.
func (s *Store) Unbundle(ctx context.Context, in io.Reader, max int64, on string) (commit string, err error) {
	source := &failing{in: in}
	r := bufio.NewReaderSize(source, 64<<10)
	if commit, err = bundleHead(r, on); err != nil {
		return "", err
	}
	_, err = s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, r,
		"-c", "core.bigFileThreshold=16m", "index-pack", "--stdin", "--fix-thin", "--strict", fmt.Sprintf("--max-input-size=%d", max))
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case source.failure() != nil: // git only saw that it ended early
		return "", fmt.Errorf("read the bundle: %w", source.failure())
	case errors.Is(err, os.ErrNotExist):
		return "", err
	case err != nil:
		return "", fmt.Errorf("%w: its objects are not taken: %w", ErrRefused, err)
	}
	out, err := s.git(ctx, nil, "rev-list", "--parents", "--no-walk", commit)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if got, parents, _ := strings.Cut(out, " "); err != nil || got != commit {
		return "", fmt.Errorf("%w: the bundle does not hold the commit that it names", ErrRefused)
	} else if parents != on {
		return "", fmt.Errorf("%w: the commit stands on %.60q and not on the base of the task", ErrRefused, parents)
	}
	return commit, nil
}

// failing is a reader that remembers the error it ended with.
type failing struct {
	in io.Reader

	mu  sync.Mutex
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.mu.Lock()
		f.err = err
		f.mu.Unlock()
	}
	return n, err
}

func (f *failing) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func isObjectID(s string) bool { return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == "" }

// bundleHead reads the head of a bundle: which commit it holds.
func bundleHead(r *bufio.Reader, on string) (commit string, err error) {
	refused := func(why string) error {
		return fmt.Errorf("%w: %s", ErrRefused, why)
	}
	for n := range 8 {
		line, err := r.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) && !errors.Is(err, io.EOF) {
			return "", err
		}
		text, whole := strings.CutSuffix(string(line), "\n")
		id, _, _ := strings.Cut(strings.TrimPrefix(text, "-"), " ")
		switch {
		case n == 0 && text != "# v2 git bundle" || !whole:
			return "", refused("it is not a git bundle")
		case n == 0:
		case text == "" && commit == "":
			return "", refused("the bundle names no commit")
		case text == "":
			return commit, nil
		case !isObjectID(id):
			return "", refused("the head of the bundle is not valid")
		case strings.HasPrefix(text, "-") && id != on:
			return "", refused("the bundle needs a commit that is not the base of the task")
		case strings.HasPrefix(text, "-"):
		case commit != "":
			return "", refused("the bundle names more than one commit")
		default:
			commit = id
		}
	}
	return "", refused("the head of the bundle is too long")
}

// CommitOn makes a commit with the files of one commit on top of another.
func (s *Store) CommitOn(ctx context.Context, files, on, message string) (string, error) {
	tree, err := s.treeOf(ctx, files)
	if err != nil {
		return "", err
	}
	return s.commitTree(ctx, tree, message, time.Now(), on)
}
