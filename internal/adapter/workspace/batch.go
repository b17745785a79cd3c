package workspace

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

const tempPrefix, tempSuffix = ".pawl-", ".tmp"

// tempName is a name that nobody else uses. Searches and listings leave such
// files out: one can be left by a crash.
func tempName() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return tempPrefix + hex.EncodeToString(b[:]) + tempSuffix
}

// batch is writes that happen together.
type batch struct {
	w     *Workspace
	jobs  []*job
	made  []made         // folders made on the way
	back  []func() error // takes back what was committed, in order
	roots []*os.Root     // everything that was opened
}

type made struct {
	above *os.Root
	name  string
}

// job is one write. p is where the content was, q where it goes.
type job struct {
	req      tool.Write
	p, q     place
	exists   bool
	info     fs.FileInfo
	before   []byte // nil: too large to keep
	hash     tool.Hash
	src, dst *os.Root
	temp     string // in dst: the new content
	backup   string // in src: the old content, while it may be wanted back
}

func (j *job) touches(p place) bool { return p == j.p || p == j.q }

// stage writes the new content to a temporary file beside its target.
func (b *batch) stage(j *job) (err error) {
	if err := b.folders(j.q); err != nil {
		return err
	}
	if j.dst, err = b.open(b.w.parent(j.q)); err != nil {
		return plain("write", j.q.clean, err)
	}
	name := tempName()
	perm := fs.FileMode(0o666) // less the umask, as for any new file
	if j.exists {
		perm = 0o600 // nobody is to see more than the old file showed
	}
	if err := b.w.step("temp", j.q.clean); err != nil {
		return plain("write", j.q.clean, err)
	}
	f, err := j.dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return plain("write", j.q.clean, err)
	}
	j.temp = name
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = plain("write", j.q.clean, cerr)
		}
	}()
	if err := b.fill(f, j); err != nil {
		return plain("write", j.q.clean, err)
	}
	return nil
}

func (b *batch) fill(f *os.File, j *job) error {
	if err := b.w.step("write", j.q.clean); err != nil {
		return err
	}
	if _, err := io.Copy(f, bytes.NewReader(j.req.Data)); err != nil {
		return err
	}
	if j.exists {
		mode := j.info.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
		if !keepOwner(f, j.info) {
			mode &^= fs.ModeSetuid | fs.ModeSetgid // never on behalf of another
		}
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := b.w.step("sync", j.q.clean); err != nil {
		return err
	}
	return f.Sync()
}

func (b *batch) open(p place) (*os.Root, error) {
	dir, err := b.w.folder(p)
	if err == nil {
		b.roots = append(b.roots, dir)
	}
	return dir, err
}

// commit makes one job visible.
func (b *batch) commit(j *job) (err error) {
	if j.exists {
		if j.src, err = b.open(b.w.parent(j.p)); err != nil {
			return plain("write", j.p.clean, err)
		}
		if err := b.unchanged(j); err != nil {
			return err
		}
	}
	switch {
	case j.req.Remove:
		err = b.remove(j)
	case j.exists && j.q == j.p:
		err = b.replace(j)
	case j.exists:
		// The old name goes first: on a disk that ignores case both are one.
		if err = b.remove(j); err == nil {
			err = b.create(j)
		}
	default:
		err = b.create(j)
	}
	var stale *tool.StaleError
	if err != nil && !errors.As(err, &stale) {
		return plain("write", j.q.clean, err)
	}
	return err
}

// unchanged looks once more, just before the rename, whether the target is
// still what was checked.
func (b *batch) unchanged(j *job) error {
	if err := b.w.step("check", j.p.clean); err != nil {
		return plain("write", j.p.clean, err)
	}
	now, err := j.src.Lstat(j.p.base())
	if err == nil && j.is(now) {
		return nil
	}
	h, _, serr := b.w.Stat(j.p.abs)
	if serr != nil {
		return serr
	}
	if h != j.hash {
		return &tool.StaleError{Path: j.p.clean, Want: j.hash, Got: h}
	}
	return nil
}

// replace puts the new content in the place of an existing file. Where names
// can be exchanged, what was displaced is looked at: a change that someone made
// in the last instant is put back, not lost. Elsewhere it is a rename, and the
// old file keeps a second name until all writes of the batch are done.
func (b *batch) replace(j *job) error {
	if err := b.w.step("rename", j.p.clean); err != nil {
		return err
	}
	err := b.swap(j)
	if errors.Is(err, errors.ErrUnsupported) {
		if len(b.jobs) > 1 {
			if err := b.keep(j); err != nil {
				return err
			}
		}
		if err = j.dst.Rename(j.temp, j.p.base()); err == nil {
			j.temp = ""
		} else if j.backup != "" {
			_ = j.src.Remove(j.backup)
			j.backup = ""
		}
	}
	if err == nil && j.backup != "" {
		b.back = append(b.back, func() error { return b.restore(j) })
	}
	return err
}

// swap exchanges the temporary file with its target.
func (b *batch) swap(j *job) error {
	if b.w.plainRename {
		return errors.ErrUnsupported
	}
	err := exchange(j.dst, j.temp, j.p.base())
	if errors.Is(err, fs.ErrNotExist) {
		return &tool.StaleError{Path: j.p.clean, Want: j.hash}
	}
	if err != nil {
		return err
	}
	now, err := j.dst.Lstat(j.temp)
	if err == nil && j.is(now) {
		j.temp, j.backup = "", j.temp
		return nil
	}
	h, _, err := b.w.Stat(filepath.Join(filepath.Dir(j.p.abs), j.temp))
	if err == nil && h == j.hash {
		j.temp, j.backup = "", j.temp
		return nil
	}
	if err := exchange(j.dst, j.temp, j.p.base()); err != nil {
		name := j.temp
		j.temp = "" // it holds what someone just saved
		return fmt.Errorf("%s was changed by someone else just now; their version is beside it in %s (%w)", j.p.clean, name, cause(err))
	}
	return &tool.StaleError{Path: j.p.clean, Want: j.hash, Got: h}
}

// is says whether a file looks like the one that was hashed.
func (j *job) is(now fs.FileInfo) bool {
	return os.SameFile(now, j.info) && now.Size() == j.info.Size() && now.ModTime().Equal(j.info.ModTime())
}

// keep gives the old content a second name; where the file system has no
// links, a copy.
func (b *batch) keep(j *job) error {
	if err := b.w.step("backup", j.p.clean); err != nil {
		return err
	}
	name := tempName()
	err := j.src.Link(j.p.base(), name)
	if err != nil {
		err = copyFile(j.src, j.p.base(), name, j.info.Mode().Perm())
	}
	if err == nil {
		j.backup = name
	}
	return err
}

func copyFile(dir *os.Root, from, to string, perm fs.FileMode) (err error) {
	in, err := dir.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := dir.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Close())
	if err != nil {
		_ = dir.Remove(to)
	}
	return err
}

// remove takes a file away, keeping it under another name until all is done.
func (b *batch) remove(j *job) error {
	if err := b.w.step("remove", j.p.clean); err != nil {
		return err
	}
	name := tempName()
	if err := j.src.Rename(j.p.base(), name); err != nil {
		return err
	}
	j.backup = name
	b.back = append(b.back, func() error { return b.restore(j) })
	return nil
}

// create gives a new file its name, and never takes one that is in use.
func (b *batch) create(j *job) error {
	if err := b.w.step("rename", j.q.clean); err != nil {
		return err
	}
	name := j.q.base()
	err := errors.ErrUnsupported
	if !b.w.plainRename {
		err = renameNew(j.dst, j.temp, name)
	}
	if errors.Is(err, errors.ErrUnsupported) {
		err = j.dst.Link(j.temp, name)
	}
	switch {
	case err == nil:
		_ = j.dst.Remove(j.temp) // a second name, after a link
	case errors.Is(err, fs.ErrExist):
		return &tool.StaleError{Path: j.q.clean}
	default: // no links here: look, then rename
		if _, lerr := j.dst.Lstat(name); lerr == nil {
			return &tool.StaleError{Path: j.q.clean}
		}
		if err := j.dst.Rename(j.temp, name); err != nil {
			return err
		}
	}
	j.temp = ""
	b.back = append(b.back, func() error { return j.dst.Remove(name) })
	return nil
}

// restore puts the old content back in its place.
func (b *batch) restore(j *job) error {
	err := b.w.step("restore", j.p.clean)
	if err == nil {
		err = j.src.Rename(j.backup, j.p.base())
	}
	if err != nil {
		return fmt.Errorf("%s could not be put back (%w): its old content is beside it in %s", j.p.clean, cause(err), j.backup)
	}
	j.backup = ""
	return nil
}

// undo takes back what was committed, the last first.
func (b *batch) undo() error {
	var errs []error
	for i := len(b.back) - 1; i >= 0; i-- {
		errs = append(errs, b.back[i]())
	}
	b.back = nil
	errs = append(errs, b.abandon())
	for _, r := range b.roots {
		_ = syncDir(r) // best effort: what is visible is right already
	}
	return errors.Join(errs...)
}

// abandon removes what was only prepared.
func (b *batch) abandon() error {
	var errs []error
	for _, j := range b.jobs {
		if j.temp != "" {
			errs = append(errs, j.dst.Remove(j.temp))
			j.temp = ""
		}
	}
	for i := len(b.made) - 1; i >= 0; i-- {
		_ = b.made[i].above.Remove(b.made[i].name) // stays if someone put a file there
	}
	return errors.Join(errs...)
}

// sync makes the renames durable.
func (b *batch) sync() error {
	for _, r := range b.roots {
		if err := b.w.step("syncdir", r.Name()); err != nil {
			return err
		}
		if err := syncDir(r); err != nil {
			return plain("write", r.Name(), err)
		}
	}
	return nil
}

// drop removes the old contents for good.
func (b *batch) drop() {
	for _, j := range b.jobs {
		if j.backup != "" {
			_ = j.src.Remove(j.backup)
		}
	}
}

func (b *batch) close() {
	for _, r := range b.roots {
		r.Close()
	}
}

// changes says what a job did.
func (j *job) changes() []tool.Change {
	const none = "/dev/null"
	from, to := "a/"+j.p.clean, "b/"+j.q.clean
	if j.req.Remove || j.q != j.p {
		gone := tool.Change{Path: j.p.clean, Before: j.hash}
		gone.Diff, gone.Added, gone.Removed = unified(from, none, j.before, nil)
		if j.req.Remove {
			return []tool.Change{gone}
		}
		came := tool.Change{Path: j.q.clean, After: HashOf(j.req.Data)}
		came.Diff, came.Added, came.Removed = unified(none, to, nil, j.req.Data)
		return []tool.Change{gone, came}
	}
	if !j.exists {
		from = none
	}
	c := tool.Change{Path: j.p.clean, Before: j.hash, After: HashOf(j.req.Data)}
	if j.exists && j.before == nil && j.info.Size() > 0 {
		return []tool.Change{c} // too large for a diff
	}
	c.Diff, c.Added, c.Removed = unified(from, to, j.before, j.req.Data)
	return []tool.Change{c}
}
