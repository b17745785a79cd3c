package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// batch is writes that succeed or fail together.
type batch struct {
	w     *Workspace
	jobs  []*job
	made  []made     // folders made on the way
	roots []*os.Root // everything that was opened, each folder once
	taken map[place]bool
	known map[string]*os.Root // of roots, the one that was opened last at a path
}

type made struct {
	above *os.Root
	name  string
	clean string
}

// job is one write. p is where the content was, q where it goes.
type job struct {
	req       tool.Write
	from, to  place
	exists    bool
	info      fs.FileInfo // of what is there
	link      bool        // a symlink is there
	before    []byte      // nil: too large to keep
	hash      tool.Hash
	makesLink bool // a symlink is to be created
	racy      bool // it changed so recently that its time proves nothing
	newHash   tool.Hash
	newInfo   fs.FileInfo // of the new content
	folders   []string    // made for it
	src, dst  *os.Root
	temp      string // in dst: the name of the new content before it is visible
	backup    string // in src: the name of the old content while it may be needed

	// Which steps are visible: the content was replaced in place, the new name
	// was created, the old name was removed.
	replaced, created, removed bool
}

// moves reports whether the content gets another name.
func (j *job) moves() bool { return !j.req.Remove && j.to != j.from }

// stage writes the new content to a temporary file in its target's folder.
func (b *batch) stage(j *job) (err error) {
	if err := b.folders(j); err != nil {
		return err
	}
	if j.dst, err = b.open(b.w.parent(j.to)); err != nil {
		return wrapError(doWrite, j.to.clean, err)
	}
	j.newHash = HashOf(j.req.Data)
	b.w.sweep(j.dst, b.w.parent(j.to).abs)
	if j.makesLink {
		err = b.stageLink(j)
	} else {
		err = b.stageFile(j)
	}
	return wrapError(doWrite, j.to.clean, err)
}

func (b *batch) stageLink(j *job) error {
	if len(j.req.Data) == 0 {
		return errors.New("a symlink needs a target")
	}
	if err := b.w.step("symlink", j.to.clean); err != nil {
		return err
	}
	name := b.w.tempName()
	if err := j.dst.Symlink(string(j.req.Data), name); err != nil {
		return err
	}
	j.temp = name
	if j.exists {
		if err := b.w.step("chown", j.to.clean); err != nil {
			return err
		}
		keepLinkOwner(j.dst, name, j.info)
	}
	var err error
	j.newInfo, err = j.dst.Lstat(name)
	return err
}

func (b *batch) stageFile(j *job) (err error) {
	name := b.w.tempName()
	perm := fs.FileMode(0o666) // minus the umask, as for any new file
	if j.exists || j.req.Mode != 0 {
		perm = 0o600 // never readable for more people than the old file
	}
	if err := b.w.step("temp", j.to.clean); err != nil {
		return err
	}
	f, err := j.dst.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	j.temp = name
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
	}()
	return b.fill(f, j)
}

func (b *batch) fill(f *os.File, j *job) error {
	if err := b.w.step("write", j.to.clean); err != nil {
		return err
	}
	if _, err := io.Copy(f, bytes.NewReader(j.req.Data)); err != nil {
		return err
	}
	mode := fs.FileMode(j.req.Mode).Perm()
	if j.exists && !j.link {
		mode |= j.info.Mode() & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)
		if j.req.Mode == 0 {
			mode |= j.info.Mode().Perm()
		}
		if err := b.w.step("chown", j.to.clean); err != nil {
			return err
		}
		if !keepOwner(f, j.info) {
			mode &^= fs.ModeSetuid | fs.ModeSetgid // never on behalf of another
		}
	}
	if j.req.Mode != 0 || j.exists && !j.link {
		if err := b.w.step("chmod", j.to.clean); err != nil {
			return err
		}
		if err := f.Chmod(mode); err != nil {
			return err
		}
	}
	if err := b.w.step("sync", j.to.clean); err != nil {
		return err
	}
	if err := b.w.flush(f); err != nil {
		return err
	}
	var err error
	j.newInfo, err = f.Stat()
	return err
}

// open opens a folder until the batch is closed. What is open already is not opened again: a
// batch of many files would need more descriptors than there are.
func (b *batch) open(p place) (*os.Root, error) {
	dir, err := b.w.folder(p)
	if err != nil {
		return nil, err
	}
	if have := b.known[p.abs]; have != nil {
		now, nerr := dir.Stat(".")
		was, werr := have.Stat(".")
		if nerr == nil && werr == nil && os.SameFile(now, was) {
			return have, dir.Close()
		}
	}
	b.roots = append(b.roots, dir)
	b.known[p.abs] = dir
	return dir, nil
}

// folders creates the folders above the target of a job.
func (b *batch) folders(j *job) error {
	var missing []place
	up := b.w.parent(j.to)
	for {
		dir, err := b.w.folder(up)
		if err == nil {
			dir.Close()
			break
		}
		above := b.w.parent(up)
		if !errors.Is(err, fs.ErrNotExist) || above.abs == up.abs {
			return wrapError(doWrite, j.to.clean, err)
		}
		missing = append(missing, up)
		up = above
	}
	for i := len(missing) - 1; i >= 0; i-- {
		made, err := b.mkdir(missing[i])
		if err != nil {
			return wrapError("make the folder", missing[i].clean, err)
		}
		if made {
			j.folders = append(j.folders, missing[i].clean)
		}
	}
	return nil
}

func (b *batch) mkdir(p place) (bool, error) {
	if err := b.w.step("mkdir", p.clean); err != nil {
		return false, err
	}
	above, err := b.open(b.w.parent(p))
	if err != nil {
		return false, err
	}
	err = above.Mkdir(p.base(), 0o777)
	if errors.Is(err, fs.ErrExist) {
		return false, nil // someone else created it just now: pawl must not remove it
	}
	if err == nil {
		b.made = append(b.made, made{above, p.base(), p.clean})
	}
	return err == nil, err
}

// discard removes what was only prepared. Files that cannot be removed are
// hidden, and removed later.
func (b *batch) discard() {
	for _, j := range b.jobs {
		if j.temp != "" && b.w.step("unlink", j.to.clean) == nil {
			_ = j.dst.Remove(j.temp)
		}
		j.temp = ""
	}
	for i := len(b.made) - 1; i >= 0; i-- {
		if b.w.step("rmdir", b.made[i].clean) == nil {
			_ = rmdir(b.made[i].above, b.made[i].name) // stays if someone put a file there
		}
	}
}

// sync makes the renames durable.
func (b *batch) sync() error {
	for _, r := range b.roots {
		err := b.w.step("syncdir", r.Name())
		if err == nil {
			err = syncDir(r, b.w.flush)
		}
		if err != nil {
			return wrapError(doWrite, b.jobs[0].to.clean, err)
		}
	}
	return nil
}

// removeOld removes the old contents for good. Everything is done by now: what fails
// here is removed later.
func (b *batch) removeOld() {
	for _, j := range b.jobs {
		if j.backup != "" && b.w.step("drop", j.from.clean) == nil {
			_ = j.src.Remove(j.backup)
		}
	}
}

// removeEmptyFolders removes the folders that a removal left empty, as far as it may.
func (b *batch) removeEmptyFolders() {
	for _, j := range b.jobs {
		if !j.removed {
			continue
		}
		for i := len(j.req.Folders) - 1; i >= 0; i-- {
			p, err := b.w.resolveTo(j.req.Folders[i], true)
			if err != nil || p.abs == b.w.root || !p.inside && b.w.checkAllowed(p) != nil || !strings.HasPrefix(j.from.abs, p.abs+string(filepath.Separator)) {
				continue
			}
			above, err := b.open(b.w.parent(p))
			if err == nil && b.w.step("rmdir", p.clean) == nil {
				_ = rmdir(above, p.base())
			}
		}
	}
}

func (b *batch) close() {
	for _, r := range b.roots {
		r.Close()
	}
}

// changes returns the visible effects of the jobs.
func (b *batch) changes() []tool.Change {
	var out []tool.Change
	for _, j := range b.jobs {
		out = append(out, j.changes()...)
	}
	return out
}

func (j *job) changes() []tool.Change {
	const none = "/dev/null"
	from, to := "a/"+j.from.clean, "b/"+j.to.clean
	var out []tool.Change
	if j.removed {
		c := tool.Change{Path: j.from.clean, Before: j.hash, ModeBefore: modeOf(j.info)}
		c.Diff, c.Added, c.Removed = unified(from, none, j.before, nil)
		out = append(out, c)
	}
	if j.created {
		c := tool.Change{Path: j.to.clean, After: j.newHash, Mode: modeOf(j.newInfo), Folders: j.folders}
		c.Diff, c.Added, c.Removed = unified(none, to, nil, j.req.Data)
		out = append(out, c)
	}
	if j.replaced {
		c := tool.Change{Path: j.from.clean, Before: j.hash, After: j.newHash, ModeBefore: modeOf(j.info), Mode: modeOf(j.newInfo)}
		if j.before != nil || j.info.Size() == 0 { // otherwise too large for a diff
			c.Diff, c.Added, c.Removed = unified(from, to, j.before, j.req.Data)
		}
		out = append(out, c)
	}
	return out
}

// modeOf returns a mode for a Change: the permission bits of a link have no meaning.
func modeOf(info fs.FileInfo) uint32 {
	if info.Mode()&fs.ModeSymlink != 0 {
		return uint32(fs.ModeSymlink)
	}
	return uint32(info.Mode().Perm())
}

// nothingChanged adds to an error of the file system that nothing was changed.
func nothingChanged(err error) error {
	if s := (*sentence)(nil); errors.As(err, &s) && strings.HasPrefix(s.text, "could not ") {
		return &sentence{text: s.text + "; nothing was changed", err: err}
	}
	return err
}

// notRolledBack adds to an error the changes that could not be rolled back.
func notRolledBack(err error, what string) error {
	return &sentence{text: fmt.Sprintf("%v; and %s", err, what), err: err}
}
