// Package journal finds what commands did to the files of a workspace (SPEC
// 11.1): it takes snapshots of the workspace before and after, and returns
// which files changed, with both contents.
//
// For each file that is not ignored it knows the stamp (size, times, inode,
// mode) and where its content is available: in a blob of git whose stamp git
// recorded itself, or in a copy, of files up to 1 MB each and 256 MB in all. It
// promises that a snapshot changes nothing in the workspace or its repository,
// that no link is followed, that a content is one that the file had at one
// moment, and that returned contents match their hashes. It does not guess: a
// content that it could not keep is reported as not kept, and Snapshot.Bounds
// names what it does not watch.
//
// It is independent of git's own view: git's index is never written and never
// asked what changed, and no program that a repository configures runs.
package journal

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Options are the options of New. The zero value is the defaults.
type Options struct {
	// Dir is pawl's folder for journals, with one for each workspace. Empty: a
	// temporary folder, which Close removes.
	Dir string
	// Skip are absolute paths of folders that are not watched: pawl's own.
	Skip []string
	// MaxFiles is how many files are watched before only touched folders are: 0
	// is 200,000. FirstSnapshot is how long finding them may take: 0 is 2 s.
	MaxFiles      int
	FirstSnapshot time.Duration
	// MaxFile and MaxAll limit the copies, in bytes: 0 is 1 MB and 256 MB.
	MaxFile, MaxAll int64
	// MaxHash is the size limit of files that are read: 0 is 64 MB. A change of
	// a larger one is detected by its stamp.
	MaxHash int64
	// FollowFrom is the number of files from which the system is asked to tell of
	// changes, instead of looking at every file: 0 is 1,000, less is never.
	FollowFrom int
	Workers    int              // 0 is 2
	Git        *workspace.Git   // nil: git is not used
	Now        func() time.Time // nil: time.Now
}

type Journal struct {
	root string
	opt  Options
	// gitMin is the number of unread files from which git is asked about them.
	gitMin int
	// notify starts a notifier for a workspace, and returns how many folders it may watch.
	notify func(root string) (notifier, int, error)

	turn chan struct{} // holds one token: its holder may take a snapshot

	mu    sync.Mutex // guards wrote
	wrote map[string]*wrote

	// The rest belongs to the holder of turn.
	begun   bool
	closed  bool
	index   *index
	pack    *pack
	disk    *disk
	repo    *repo
	outer   workspace.Ignore
	sources []stamp // of repo.sources
	gitSeen stamp   // of git's index
	gitEnd  gitindex.End
	// forced are the tracked files that the rules may ignore, nil before this process read
	// git's index.
	forced    *gitindex.Set
	skip      map[string]bool // relative to the root
	partial   bool            // too large: only some folders are watched
	full      bool            // no more files are added
	noSpace   int             // files that were not copied for lack of space
	tag       string
	snapshots int64
	watcher   *watcher // nil: everything is looked at each time
	// unwatchedWhy is why it is, for the person; "" where it need not be.
	unwatchedWhy string
}

// wrote is what recorded writes did to a file since the last snapshot.
type wrote struct {
	before, after tool.Hash
	mode          uint32
}

var _ tool.Journal = (*Journal)(nil)

// reported is for how many snapshots a reported content stays available.
const reported = 8

// New returns the journal of a workspace. It does nothing before the first snapshot.
func New(root string, opt Options) *Journal {
	def := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	def(&opt.MaxFile, 1<<20)
	def(&opt.MaxAll, 256<<20)
	def(&opt.MaxHash, 64<<20)
	if opt.MaxFiles <= 0 {
		opt.MaxFiles = 200_000
	}
	if opt.FirstSnapshot <= 0 {
		opt.FirstSnapshot = 2 * time.Second
	}
	opt.FollowFrom = cmp.Or(opt.FollowFrom, followFrom)
	if opt.Workers <= 0 {
		opt.Workers = 2
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	j := &Journal{
		root: root, opt: opt, gitMin: gitMin, notify: newNotifier, turn: make(chan struct{}, 1),
		wrote: map[string]*wrote{}, skip: map[string]bool{},
	}
	for _, s := range append(opt.Skip, opt.Dir) {
		if rel, err := filepath.Rel(root, s); err == nil && s != "" && rel != "." && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			j.skip[filepath.ToSlash(rel)] = true
		}
	}
	return j
}

func (j *Journal) now() int64 { return j.opt.Now().UnixNano() }

var errClosed = errors.New("the journal is closed")

// acquire waits for the turn.
func (j *Journal) acquire(ctx context.Context) error {
	select {
	case j.turn <- struct{}{}:
		if j.closed {
			<-j.turn
			return errClosed
		}
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (j *Journal) Snapshot(ctx context.Context, touched []string) (tool.Snapshot, error) {
	return j.snapshot(ctx, touched, false)
}

func (j *Journal) Verify(ctx context.Context) (tool.Snapshot, error) {
	return j.snapshot(ctx, nil, true)
}

func (j *Journal) snapshot(ctx context.Context, touched []string, verify bool) (tool.Snapshot, error) {
	if err := j.acquire(ctx); err != nil {
		return tool.Snapshot{}, err
	}
	defer func() { <-j.turn }()
	root, err := openRoot(j.root)
	if err != nil {
		return tool.Snapshot{}, fmt.Errorf("scan the workspace: %w", err)
	}
	defer root.close()
	l := &comparison{j: j, ctx: ctx, root: root, p: dirOpener{root: root}, now: j.now(), verify: verify}
	defer l.p.close()
	out, err := l.run(touched)
	l.finish(err)
	if err != nil {
		return tool.Snapshot{}, fmt.Errorf("scan the workspace: %w", err)
	}
	out.Tag = j.tag
	_ = j.pack.clean(j.snapshots - reported) // superfluous contents stay until the next snapshot
	return out, nil
}

// Checkpoint implements tool.Journal. Nothing is written before it: until its
// effects are recorded, a new process must find them again.
func (j *Journal) Checkpoint(tag string) error {
	if err := j.acquire(context.Background()); err != nil {
		return err
	}
	defer func() { <-j.turn }()
	j.tag = tag
	if w := j.watcher; w != nil {
		if tag != "" {
			w.listen()
		} else {
			w.stopListening()
		}
	}
	return j.save()
}

// save writes the changes to disk.
func (j *Journal) save() error {
	switch {
	case j.disk == nil:
		return nil
	case j.partial:
		return j.disk.forget()
	}
	return j.disk.save(j)
}

func (j *Journal) Wrote(c tool.Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w := j.wrote[c.Path]
	if w == nil {
		w = &wrote{before: c.Before}
		j.wrote[c.Path] = w
	}
	w.after, w.mode = c.After, c.Mode
}

func (j *Journal) Content(ctx context.Context, h tool.Hash) ([]byte, error) {
	want, err := parseHash(h)
	if err != nil {
		return nil, err
	}
	if err := j.acquire(ctx); err != nil {
		return nil, err
	}
	defer func() { <-j.turn }()
	if j.pack == nil {
		return nil, errNotKept
	}
	return j.pack.get(want)
}

func (j *Journal) Lost(paths []string, limit int) []string {
	if j.acquire(context.Background()) != nil {
		return nil
	}
	defer func() { <-j.turn }()
	var out []string
	gather := func(d *dir, f *file) {
		if (f.state == lost || f.state == guess) && len(out) < limit {
			out = append(out, d.join(f.name))
		}
	}
	for _, p := range paths {
		if p == "." {
			p = ""
		}
		if f, d := j.lookup(p); f != nil {
			gather(d, f)
		}
		if j.index == nil {
			continue
		}
		for _, d := range j.index.below(p) {
			for i := range d.files {
				gather(d, &d.files[i])
			}
		}
	}
	return out
}

func (j *Journal) lookup(path string) (*file, *dir) {
	if j.index == nil {
		return nil, nil
	}
	return j.index.at(path)
}

// Close writes what is left to write and releases the folder.
func (j *Journal) Close() error {
	j.turn <- struct{}{}
	defer func() { <-j.turn }()
	if j.closed {
		return nil
	}
	j.closed = true
	j.stopFollowing("")
	if !j.begun {
		return nil
	}
	err := j.save()
	return errors.Join(err, j.pack.close(), j.disk.close())
}

func hashOf(i id) tool.Hash { return tool.Hash(hex.EncodeToString(i[:])) }

func parseHash(h tool.Hash) (out id, err error) {
	raw, err := hex.DecodeString(string(h))
	if err != nil || len(raw) != len(out) {
		return out, fmt.Errorf("%q is not the hash of a content", h)
	}
	return id(raw), nil
}
