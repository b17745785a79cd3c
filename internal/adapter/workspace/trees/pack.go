package trees

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// MaxPack is the largest pack with a result that is taken, in bytes.
const MaxPack = 256 << 20

// Portable returns a commit with the files of another and no history but on, ""
// for none. It is the same on every machine and at every time, so what is sent
// once need not be sent again. It is on itself where the files are the same.
func (s *Store) Portable(ctx context.Context, commit, on string) (string, error) {
	if on != "" {
		if same, err := s.Same(ctx, on, commit); same || err != nil {
			return on, err
		}
	}
	return s.On(ctx, on, commit, "files of a swarm", time.Unix(0, 0))
}

// Pack writes what a commit holds that others do not, as a pack of git. Others are commits
// or trees that the receiver has.
func (s *Store) Pack(ctx context.Context, out io.Writer, commit string, others ...string) error {
	list := commit + "\n"
	args := []string{"pack-objects", "--revs", "--stdout", "--delta-base-offset", "--quiet"}
	for _, o := range others {
		list += "^" + o + "\n"
	}
	if len(others) > 0 {
		args = append(args, "--thin")
	} else {
		// What the repository has packed is sent as it is. To make the rest smaller takes
		// minutes in a large one, before the first byte.
		args = append(args, "--window=0", "--compression=1")
	}
	return s.writes.RunTo(ctx, out, s.dir, []string{"GIT_DIR=" + s.dir}, strings.NewReader(list), args...)
}

// Unpack takes a pack that must hold a commit, which must stand on exactly the commit on,
// "" for none. What git itself holds for unsafe is refused: paths with .., folders of git
// in a tree, objects that are damaged or not what they say. That the reader fails is not
// the pack's fault: its error is returned as it is. Nor is ErrKilled. Nothing of it is run, and no branch is
// made.
func (s *Store) Unpack(ctx context.Context, in io.Reader, max int64, commit, on string) error {
	if !isObjectID(commit) {
		return fmt.Errorf("%w: %.60q is not a commit", ErrRefused, commit)
	}
	source, exit := &failing{in: in}, (*exec.ExitError)(nil)
	_, err := s.writes.Run(ctx, s.dir, []string{"GIT_DIR=" + s.dir}, source,
		"-c", "core.bigFileThreshold=16m", "index-pack", "--stdin", "--fix-thin", "--strict", fmt.Sprintf("--max-input-size=%d", max))
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case source.failure() != nil: // git only saw that it ended early
		return fmt.Errorf("read the pack: %w", source.failure())
	case errors.Is(err, os.ErrNotExist):
		return err
	case errors.As(err, &exit) && exit.ExitCode() < 0:
		return fmt.Errorf("%w: %w", ErrKilled, err)
	case err != nil:
		return fmt.Errorf("%w: its objects are not taken: %w", ErrRefused, err)
	}
	out, err := s.git(ctx, nil, "rev-list", "--no-walk", "--no-commit-header", "--format=%H%n%T%n%P", commit)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	got := strings.Split(out+"\n", "\n")
	if err != nil || len(got) < 3 || got[0] != commit {
		return fmt.Errorf("%w: it does not hold the commit that it should", ErrRefused)
	} else if got[2] != on {
		return fmt.Errorf("%w: the commit stands on %.60q and not on the base of the task", ErrRefused, got[2])
	}
	s.known.Store(commit, got[1])
	return nil
}

// Has reports whether the store has an object of a kind: commit, tree.
func (s *Store) Has(ctx context.Context, kind, id string) bool {
	if !isObjectID(id) {
		return false
	}
	_, err := s.git(ctx, nil, "cat-file", "-e", id+"^{"+kind+"}")
	return err == nil
}

// keptRefs name the commits that the next process which opens the store finds again.
const keptRefs = "refs/pawl/kept/"

// Keep keeps a commit in the store.
func (s *Store) Keep(ctx context.Context, commit string) error {
	_, err := s.git(ctx, nil, "update-ref", fmt.Sprintf("%s%020d-%s", keptRefs, time.Now().UnixNano(), commit), commit)
	return err
}

// Kept returns the trees of the newest kept commits, the newest first.
func (s *Store) Kept(ctx context.Context, most int) ([]string, error) {
	out, err := s.git(ctx, nil, "for-each-ref", "--sort=-refname", fmt.Sprintf("--count=%d", most), "--format=%(tree)", keptRefs)
	return strings.Fields(out), err
}

// Borrow lets the store read the objects of another one.
func (s *Store) Borrow(from *Store) error {
	return os.WriteFile(filepath.Join(s.dir, "objects", "info", "alternates"), []byte(filepath.Join(from.dir, "objects")+"\n"), 0o600)
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
