package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file makes the writes of a batch visible, and rolls them back. The
// replaced content is checked: a change that someone made in the last instant
// is restored, not lost.

// commit makes one job visible. A file that moves gets its new name before it
// loses the old one: a crash in between leaves both.
func (b *batch) commit(j *job) (err error) {
	if j.exists {
		if j.src, err = b.open(b.w.parent(j.p)); err != nil {
			return wrapError(doWrite, j.p.clean, err)
		}
		defer takeTurn(j.src)()
		if err := b.unchanged(j); err != nil {
			return err
		}
	}
	switch {
	case j.req.Remove:
		err = b.remove(j)
	case j.exists && !j.moves():
		err = b.replace(j)
	case j.exists && b.sameName(j):
		// On a file system that ignores case both names are the same.
		if err = b.remove(j); err == nil {
			err = b.create(j)
		}
	case j.exists:
		if err = b.create(j); err == nil {
			err = b.remove(j)
		}
	default:
		err = b.create(j)
	}
	var stale *tool.StaleError
	if err != nil && !errors.As(err, &stale) {
		return wrapError(doWrite, j.q.clean, err)
	}
	return err
}

// unchanged checks again, just before the rename, that the target still is what
// was checked.
func (b *batch) unchanged(j *job) error {
	if err := b.w.step("check", j.p.clean); err != nil {
		return wrapError(doWrite, j.p.clean, err)
	}
	return j.stillOld(j.src, j.p.base())
}

// stillOld returns a *StaleError if a name does not have the content that is to
// be replaced.
func (j *job) stillOld(dir *os.Root, name string) error {
	now, err := dir.Lstat(name)
	if err == nil && !j.racy && same(now, j.info) {
		return nil
	}
	f, err := readNoFollow(dir, name, 0)
	if err == nil && f.Hash == j.hash && isLink(f.Mode) == j.link {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if s := (*SpecialError)(nil); errors.As(err, &s) {
			s.Path = j.p.clean
			return s
		}
		return wrapError(doWrite, j.p.clean, err)
	}
	return &tool.StaleError{Path: j.p.clean, Want: j.hash, Got: f.Hash}
}

// same reports whether a file looks unchanged.
func same(now, then fs.FileInfo) bool {
	return os.SameFile(now, then) && now.Mode().Type() == then.Mode().Type() &&
		now.Size() == then.Size() && now.ModTime().Equal(then.ModTime())
}

func isLink(mode uint32) bool { return fs.FileMode(mode)&fs.ModeSymlink != 0 }

// stillNew reports whether a name has the content that the job wrote there.
func (j *job) stillNew(dir *os.Root, name string) bool {
	f, err := readNoFollow(dir, name, 0)
	return err == nil && f.Hash == j.newHash && isLink(f.Mode) == j.toLink
}

func (b *batch) sameName(j *job) bool {
	now, err := j.dst.Lstat(j.q.base())
	return err == nil && os.SameFile(now, j.info)
}

// replace replaces an existing file: by an exchange of names where the system
// can do that; elsewhere by a rename, and the old file keeps a second name
// until all writes of the batch are done.
func (b *batch) replace(j *job) error {
	err := b.swap(j)
	if !errors.Is(err, errors.ErrUnsupported) {
		j.put = err == nil
		return err
	}
	if len(b.jobs) > 1 {
		if err := b.keep(j); err != nil {
			return err
		}
	}
	if err := b.w.step("rename", j.p.clean); err != nil {
		return b.unkeep(j, err)
	}
	if err := j.dst.Rename(j.temp, j.p.base()); err != nil {
		return b.unkeep(j, err)
	}
	j.temp, j.put = "", true
	return nil
}

// swap exchanges the new content with its target. Before that, it renames it to
// a name that also fits the old content, so that a file left by a crash can be
// judged.
func (b *batch) swap(j *job) error {
	if b.w.plainRename {
		return errors.ErrUnsupported
	}
	if err := b.w.step("mark", j.p.clean); err != nil {
		return err
	}
	name := b.w.oldName(j.hash, j.newHash)
	if err := j.dst.Rename(j.temp, name); err != nil {
		return err
	}
	j.temp = name
	if err := b.w.step("rename", j.p.clean); err != nil {
		return err
	}
	err := exchange(j.dst, name, j.p.base())
	if errors.Is(err, fs.ErrNotExist) {
		return &tool.StaleError{Path: j.p.clean, Want: j.hash}
	}
	if err != nil {
		return err
	}
	stale := j.stillOld(j.dst, name)
	if stale == nil {
		j.temp, j.backup = "", name
		return nil
	}
	if err := b.w.step("restore", j.p.clean); err != nil {
		return b.theirs(j, name, err)
	}
	if err := exchange(j.dst, name, j.p.base()); err != nil {
		return b.theirs(j, name, err)
	}
	if !j.stillNew(j.dst, name) {
		// Somebody saved between the two exchanges: this content is theirs.
		return b.theirs(j, name, stale)
	}
	return stale
}

// theirs reports that someone's content was displaced and now has another name.
func (b *batch) theirs(j *job, name string, err error) error {
	j.temp, j.put = "", true
	return &sentence{text: fmt.Sprintf("%s was changed by someone else just now; their version is beside it in %s (%v)",
		j.p.clean, expose(j.dst, name, j.p.base()), cause(err)), err: err}
}

// keep links the old content to a second name; without links in the file
// system, it copies it.
func (b *batch) keep(j *job) error {
	if err := b.w.step("backup", j.p.clean); err != nil {
		return err
	}
	name := b.w.oldName(j.hash, j.hash)
	err := j.src.Link(j.p.base(), name)
	if err != nil {
		err = copyFile(j.src, j.p.base(), name, j.info)
	}
	if err == nil {
		j.backup = name
	}
	return err
}

func (b *batch) unkeep(j *job, err error) error {
	if j.backup != "" && b.w.step("drop", j.p.clean) == nil {
		_ = j.src.Remove(j.backup)
	}
	j.backup = ""
	return err
}

func copyFile(dir *os.Root, from, to string, info fs.FileInfo) (err error) {
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := dir.Readlink(from)
		if err != nil {
			return err
		}
		return dir.Symlink(target, to)
	}
	in, err := dir.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := dir.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
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

// remove removes a file but keeps it under another name until all is done.
func (b *batch) remove(j *job) error {
	if err := b.w.step("remove", j.p.clean); err != nil {
		return err
	}
	name := b.w.oldName(j.hash, j.hash)
	if err := j.src.Rename(j.p.base(), name); err != nil {
		return err
	}
	stale := j.stillOld(j.src, name)
	if stale == nil {
		j.backup, j.gone = name, true
		return nil
	}
	if err := b.giveName(j.src, name, j.p.base()); err != nil {
		j.gone = true
		return &sentence{text: fmt.Sprintf("%s was changed by someone else just now; their version is beside it in %s (%v)",
			j.p.clean, expose(j.src, name, j.p.base()), cause(err)), err: err}
	}
	return stale
}

// create moves a new file to its name; it never replaces a file.
func (b *batch) create(j *job) error {
	if err := b.w.step("rename", j.q.clean); err != nil {
		return err
	}
	err := b.giveName(j.dst, j.temp, j.q.base())
	if errors.Is(err, fs.ErrExist) {
		stale := &tool.StaleError{Path: j.q.clean}
		if f, err := readNoFollow(j.dst, j.q.base(), 0); err == nil {
			stale.Got = f.Hash
		} else if s := (*SpecialError)(nil); errors.As(err, &s) {
			s.Path = j.q.clean
			return s
		}
		return stale
	}
	if err != nil {
		return err
	}
	j.temp, j.came = "", true
	return nil
}

// giveName renames within a folder; if the new name is in use it fails with fs.ErrExist.
func (b *batch) giveName(dir *os.Root, from, to string) error {
	err := errors.ErrUnsupported
	if !b.w.plainRename {
		err = renameNew(dir, from, to)
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	err = dir.Link(from, to)
	if err == nil {
		_ = dir.Remove(from) // the second name after a link
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	// No links here: look, then rename.
	if _, lerr := dir.Lstat(to); lerr == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	return dir.Rename(from, to)
}

// rollback reverts what was committed, the last first. It returns what could
// not be reverted, "" if everything was.
func (b *batch) rollback() string {
	var left []string
	say := func(err error) {
		if err != nil {
			left = append(left, err.Error())
		}
	}
	for i := len(b.jobs) - 1; i >= 0; i-- {
		j := b.jobs[i]
		if j.gone {
			say(b.comeBack(j))
		}
		if j.came {
			say(b.retract(j))
		}
		if j.put {
			say(b.putBack(j))
		}
	}
	b.abandon()
	for _, r := range b.roots {
		if b.w.step("syncdir", r.Name()) == nil {
			_ = syncDir(r, b.w.flush) // best effort: what is visible is right already
		}
	}
	return strings.Join(left, "; ")
}

// comeBack restores a removed file under its name.
func (b *batch) comeBack(j *job) error {
	if j.backup == "" {
		return fmt.Errorf("%s is not in its place", j.p.clean)
	}
	err := b.w.step("restore", j.p.clean)
	if err == nil {
		err = b.giveName(j.src, j.backup, j.p.base())
	}
	if err != nil {
		return b.notBack(j, err)
	}
	j.backup, j.gone = "", false
	return nil
}

// retract removes a file that was created, unless someone changed it since.
func (b *batch) retract(j *job) error {
	err := b.w.step("restore", j.q.clean)
	name := b.w.oldName(j.newHash, j.newHash)
	if err == nil {
		err = j.dst.Rename(j.q.base(), name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		j.came = false
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s was created and could not be removed again (%w)", j.q.clean, cause(err))
	}
	if !j.stillNew(j.dst, name) {
		if err := b.giveName(j.dst, name, j.q.base()); err != nil {
			return fmt.Errorf("%s was created, then changed by someone else; their version is beside it in %s", j.q.clean, expose(j.dst, name, j.q.base()))
		}
		return fmt.Errorf("%s was created, then changed by someone else: it stays", j.q.clean)
	}
	j.came, j.temp = false, name
	return nil
}

// putBack restores the old content of a replaced file.
func (b *batch) putBack(j *job) error {
	if j.backup == "" {
		return fmt.Errorf("%s was written and stays so", j.p.clean)
	}
	err := b.w.step("restore", j.p.clean)
	if err == nil && b.w.plainRename {
		err = errors.ErrUnsupported
	}
	if err == nil {
		err = exchange(j.src, j.backup, j.p.base())
	}
	if errors.Is(err, errors.ErrUnsupported) {
		if !j.stillNew(j.src, j.p.base()) {
			return j.stays()
		}
		err = j.src.Rename(j.backup, j.p.base())
		if err == nil {
			j.backup, j.put = "", false
			return nil
		}
	}
	if err != nil {
		return b.notBack(j, err)
	}
	// The backup's name has what was visible: the new content, if nobody changed it.
	if j.stillNew(j.src, j.backup) {
		j.put, j.temp, j.dst, j.backup = false, j.backup, j.src, ""
		return nil
	}
	if err := exchange(j.src, j.backup, j.p.base()); err != nil {
		return fmt.Errorf("%s was changed by someone else; their version is beside it in %s", j.p.clean, expose(j.src, j.backup, j.p.base()))
	}
	return j.stays()
}

// stays reports that someone changed what was written; the old content is no
// longer needed.
func (j *job) stays() error {
	j.temp, j.dst, j.backup = j.backup, j.src, ""
	return fmt.Errorf("%s was written, then changed by someone else: it stays", j.p.clean)
}

func (b *batch) notBack(j *job, err error) error {
	name := expose(j.src, j.backup, j.p.base())
	j.backup = ""
	return fmt.Errorf("%s could not be put back (%w): its old content is beside it in %s", j.p.clean, cause(err), name)
}
