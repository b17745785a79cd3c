// Package workspace is the files of a project on disk: reading, atomic writing,
// listing, searching.
//
// It knows one root folder. It promises that nothing outside the root is read
// or written through it unless the caller opted in; that symlinks are followed
// only to targets inside; that a write happens completely or not at all, keeps
// mode bits, owner and symlinks, is on disk before it is reported, and never
// replaces a content that the caller had not seen; that a process that dies
// while it writes leaves each file with its old or its new content, and no
// temporary files that a later process does not remove; and that bytes are read
// and written unchanged (line endings, BOM and final newline are handled by the
// tools). It refuses FIFOs, devices, sockets and kernel file systems, and,
// once, a write that would separate hard links.
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

// Sizes. A file larger than ReadLimit is read by ranges (Lines) or searched. One larger
// than hashLimit is not read at all, since each look at it would take seconds.
const (
	ReadLimit     = 16 << 20  // Read's default limit, bytes
	hashLimit     = 1 << 30   // for a file's hash, bytes
	grepLimit     = 64 << 20  // larger files are skipped by Grep, bytes
	grepFileLimit = 512 << 20 // the limit for a file that is named, bytes
	diffLimit     = 8 << 20   // larger contents get no diff, bytes
)

// Options are the options of Open.
type Options struct {
	// Outside allows reading and writing outside the root by absolute path. The
	// permission gate decides before.
	Outside bool
	// Git decides what is ignored; nil: our own matcher reads the ignore files.
	Git *Git
}

// Workspace implements tool.Files. It is safe for concurrent use; the expected
// hash detects concurrent writes of the same file.
type Workspace struct {
	*shared
	outside bool
	only    *bounds // nil: everything that outside allows
}

// shared is what all views of one workspace share.
type shared struct {
	root  string // real absolute path
	dir   *os.Root
	folds bool // names that differ in case are the same file here
	git   *Git // nil: git is not used

	mu            sync.Mutex
	linksReported map[string]bool  // hard-linked files for which the error was returned
	swept         map[string]bool  // folders that leftovers were removed from
	repos         map[string]*repo // by their top folders

	now func() time.Time
	// hook, in tests, is called before each system call of a write that changes
	// something, and may fail it.
	hook func(step, name string) error
	// between, in tests, is called between the check of a file or folder and its opening.
	between func(path string)
	// plainRename, in tests, disables what only some systems support.
	plainRename bool
	// flush writes a file or folder to the disk: (*os.File).Sync. Tests with
	// many writes leave it out, since only a power loss would show the
	// difference.
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
		return nil, wrapError("open folder", root, err)
	}
	dir, err := os.OpenRoot(abs)
	if err != nil {
		return nil, wrapError("open folder", root, err)
	}
	return &Workspace{
		shared:  &shared{root: abs, dir: dir, folds: foldsCase(abs), git: opts.Git, linksReported: map[string]bool{}, swept: map[string]bool{}, now: time.Now, flush: (*os.File).Sync},
		outside: opts.Outside,
	}, nil
}

// Close releases the root. The workspace and its views cannot be used after.
func (w *Workspace) Close() error { return w.dir.Close() }

// WithOutside returns a view of the same workspace that may, or may not, read
// and write outside the root.
func (w *Workspace) WithOutside(allow bool) *Workspace {
	return &Workspace{shared: w.shared, outside: allow, only: w.only}
}

// Root returns the workspace's real absolute path.
func (w *Workspace) Root() string { return w.root }

// foldsCase reports whether the file system ignores case, by looking up the
// root in another case.
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
