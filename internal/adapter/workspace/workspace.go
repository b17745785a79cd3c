// Package workspace is the files of a project on disk: reading, atomic
// writing, listing, searching.
//
// It knows one root folder. It promises that nothing outside the root is read
// or written through it unless the caller opted in; that symlinks are followed
// only to targets inside; that a write happens whole or not at all, keeps mode
// bits, owner and symlinks, is on disk before it is reported, and never
// replaces a content that the caller had not seen; that a process which dies
// while it writes leaves each file as it was or as it should be, and no litter
// that a later one does not clear away; that bytes go in and out as
// they are (line endings, BOM and final newline are the tools' matter).
// It refuses FIFOs, devices, sockets and kernel file systems, and, once, a
// write that would part hard links.
//
// Every error is one sentence for the model and the person to read.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Sizes. A file larger than ReadLimit is read by ranges (Lines) or searched.
const (
	ReadLimit     = 16 << 20  // Read's default limit, bytes
	grepLimit     = 64 << 20  // larger files are skipped by Grep, bytes
	grepFileLimit = 512 << 20 // as grepLimit, of a file that is named, bytes
	diffLimit     = 8 << 20   // larger contents get no diff, bytes
)

// Options are the choices of Open.
type Options struct {
	// Outside allows reading and writing outside the root by absolute path.
	// The permission gate has decided before.
	Outside bool
	// Git tells what is ignored; nil: ignore files are read by our own matcher.
	Git *Git
}

// Workspace implements tool.Files. It is safe for concurrent use; callers that
// write the same file at the same time are told apart by the expected hash.
type Workspace struct {
	*shared
	outside bool
	only    *bounds // nil: all that outside allows
}

// shared is what all views of one workspace have in common.
type shared struct {
	root  string // real absolute path
	dir   *os.Root
	folds bool // names that differ in case are the same file here
	git   *Git // nil: it is not asked

	mu     sync.Mutex
	parted map[string]bool // hard-linked files whose parting was said
	swept  map[string]bool // folders that leftovers were removed from

	now func() time.Time
	// hook, in tests, is called before each system call of a write that changes
	// something, and may fail it.
	hook func(step, name string) error
	// between, in tests, is called between a look at a file or folder and its
	// opening.
	between func(path string)
	// plainRename, in tests, does without what only some systems have.
	plainRename bool
	// flush brings a file or folder to the disk: (*os.File).Sync. Tests of many
	// writes leave it out: only a loss of power would show that.
	flush func(*os.File) error
}

var _ tool.Files = (*Workspace)(nil)

// Open opens the workspace at a folder.
func Open(root string, opts Options) (*Workspace, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("find folder %s: %w", root, err)
	}
	abs, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, plain("open folder", root, err)
	}
	dir, err := os.OpenRoot(abs)
	if err != nil {
		return nil, plain("open folder", root, err)
	}
	return &Workspace{
		shared:  &shared{root: abs, dir: dir, folds: foldsCase(abs), git: opts.Git, parted: map[string]bool{}, swept: map[string]bool{}, now: time.Now, flush: (*os.File).Sync},
		outside: opts.Outside,
	}, nil
}

// Close releases the root. The workspace and its views cannot be used after.
func (w *Workspace) Close() error { return w.dir.Close() }

// WithOutside is a view of the same workspace that may, or may not, read and
// write outside the root.
func (w *Workspace) WithOutside(allow bool) *Workspace {
	return &Workspace{shared: w.shared, outside: allow, only: w.only}
}

// Root is the workspace's real absolute path.
func (w *Workspace) Root() string { return w.root }

// foldsCase finds out whether the file system takes names that differ in case
// for the same, by asking for the root under another case.
func foldsCase(root string) bool {
	base := filepath.Base(root)
	other := strings.ToUpper(base)
	if other == base {
		other = strings.ToLower(base)
	}
	if other == base {
		return runtime.GOOS == "darwin" || runtime.GOOS == "windows"
	}
	a, err := os.Lstat(root)
	if err != nil {
		return false
	}
	b, err := os.Lstat(filepath.Join(filepath.Dir(root), other))
	return err == nil && os.SameFile(a, b)
}

func (s *shared) step(step, name string) error {
	if s.hook == nil {
		return nil
	}
	return s.hook(step, name)
}
