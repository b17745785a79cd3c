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
		if j.src, err = b.open(b.w.parent(j.from)); err != nil {
			return wrapError(doWrite, j.from.clean, err)
		}
		defer takeTurn(j.src)()
		if err := b.checkUnchanged(j); err != nil {
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
		return wrapError(doWrite, j.to.clean, err)
	}
	return err
}

// checkUnchanged checks again, just before the rename, that the target still is what
// was checked.
func (b *batch) checkUnchanged(j *job) error {
	if err := b.w.step("check", j.from.clean); err != nil {
		return wrapError(doWrite, j.from.clean, err)
	}
	return j.stillOld(j.src, j.from.base())
}

// stillOld returns a *StaleError if a name does not have the content that is to
// be replaced.
func (j *job) stillOld(dir *os.Root, name string) error {
	now, err := dir.Lstat(name)
	if err == nil && !j.racy && sameInfo(now, j.info) {
		return nil
	}
	f, err := readNoFollow(dir, name, 0)
	if err == nil && f.Hash == j.hash && isLink(f.Mode) == j.link {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if s := (*SpecialError)(nil); errors.As(err, &s) {
			s.Path = j.from.clean
			return s
		}
		return wrapError(doWrite, j.from.clean, err)
	}
	return &tool.StaleError{Path: j.from.clean, Want: j.hash, Got: f.Hash}
}

// sameInfo reports whether a file looks unchanged.
func sameInfo(now, then fs.FileInfo) bool {
	return os.SameFile(now, then) && now.Mode().Type() == then.Mode().Type() &&
		now.Size() == then.Size() && now.ModTime().Equal(then.ModTime())
}

func isLink(mode uint32) bool { return fs.FileMode(mode)&fs.ModeSymlink != 0 }

// stillNew reports whether a name has the content that the job wrote there.
func (j *job) stillNew(dir *os.Root, name string) bool {
	f, err := readNoFollow(dir, name, 0)
	return err == nil && f.Hash == j.newHash && isLink(f.Mode) == j.makesLink
}

func (b *batch) sameName(j *job) bool {
	now, err := j.dst.Lstat(j.to.base())
	return err == nil && os.SameFile(now, j.info)
}

// replace replaces an existing file: by an exchange of names where the system
// can do that; elsewhere by a rename, and the old file keeps a second name
// until all writes of the batch are done.
func (b *batch) replace(j *job) error {
	err := b.swap(j)
	if !errors.Is(err, errors.ErrUnsupported) {
		j.replaced = err == nil
		return err
	}
	if len(b.jobs) > 1 {
		if err := b.backUp(j); err != nil {
			return err
		}
	}
	if err := b.w.step("rename", j.from.clean); err != nil {
		return b.removeBackup(j, err)
	}
	if err := j.dst.Rename(j.temp, j.from.base()); err != nil {
		return b.removeBackup(j, err)
	}
	j.temp, j.replaced = "", true
	return nil
}

// swap exchanges the new content with its target. Before that, it renames it to
// a name that also fits the old content, so that a file left by a crash can be
// judged.
func (b *batch) swap(j *job) error {
	if b.w.plainRename {
		return errors.ErrUnsupported
	}
	if err := b.w.step("mark", j.from.clean); err != nil {
		return err
	}
	name := b.w.oldName(j.hash, j.newHash)
	if err := j.dst.Rename(j.temp, name); err != nil {
		return err
	}
	j.temp = name
	if err := b.w.step("rename", j.from.clean); err != nil {
		return err
	}
	err := exchange(j.dst, name, j.from.base())
	if errors.Is(err, fs.ErrNotExist) {
		return &tool.StaleError{Path: j.from.clean, Want: j.hash}
	}
	if err != nil {
		return err
	}
	stale := j.stillOld(j.dst, name)
	if stale == nil {
		j.temp, j.backup = "", name
		return nil
	}
	if err := b.w.step("restore", j.from.clean); err != nil {
		return b.displacedError(j, name, err)
	}
	if err := exchange(j.dst, name, j.from.base()); err != nil {
		return b.displacedError(j, name, err)
	}
	if !j.stillNew(j.dst, name) {
		// Somebody saved between the two exchanges: this content is theirs.
		return b.displacedError(j, name, stale)
	}
	return stale
}

// displacedError reports that someone's content was displaced and now has another name.
func (b *batch) displacedError(j *job, name string, err error) error {
	j.temp, j.replaced = "", true
	return &sentence{text: fmt.Sprintf("%s was just changed by someone else; their version is beside it in %s (%v)",
		j.from.clean, expose(j.dst, name, j.from.base()), cause(err)), err: err}
}

// backUp links the old content to a second name; without links in the file
// system, it copies it.
func (b *batch) backUp(j *job) error {
	if err := b.w.step("backup", j.from.clean); err != nil {
		return err
	}
	name := b.w.oldName(j.hash, j.hash)
	err := j.src.Link(j.from.base(), name)
	if err != nil {
		err = copyFile(j.src, j.from.base(), name, j.info)
	}
	if err == nil {
		j.backup = name
	}
	return err
}

func (b *batch) removeBackup(j *job, err error) error {
	if j.backup != "" && b.w.step("drop", j.from.clean) == nil {
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
	if err := b.w.step("remove", j.from.clean); err != nil {
		return err
	}
	name := b.w.oldName(j.hash, j.hash)
	if err := j.src.Rename(j.from.base(), name); err != nil {
		return err
	}
	stale := j.stillOld(j.src, name)
	if stale == nil {
		j.backup, j.removed = name, true
		return nil
	}
	if err := b.renameToFree(j.src, name, j.from.base()); err != nil {
		j.removed = true
		return &sentence{text: fmt.Sprintf("%s was just changed by someone else; their version is beside it in %s (%v)",
			j.from.clean, expose(j.src, name, j.from.base()), cause(err)), err: err}
	}
	return stale
}

// create moves a new file to its name; it never replaces a file.
func (b *batch) create(j *job) error {
	if err := b.w.step("rename", j.to.clean); err != nil {
		return err
	}
	err := b.renameToFree(j.dst, j.temp, j.to.base())
	if errors.Is(err, fs.ErrExist) {
		stale := &tool.StaleError{Path: j.to.clean}
		if f, err := readNoFollow(j.dst, j.to.base(), 0); err == nil {
			stale.Got = f.Hash
		} else if s := (*SpecialError)(nil); errors.As(err, &s) {
			s.Path = j.to.clean
			return s
		}
		return stale
	}
	if err != nil {
		return err
	}
	j.temp, j.created = "", true
	return nil
}

// renameToFree renames within a folder; if the new name is in use it fails with fs.ErrExist.
func (b *batch) renameToFree(dir *os.Root, from, to string) error {
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
	const most = 10
	var left []string
	more := 0
	say := func(err error) {
		switch {
		case err == nil:
		case len(left) < most:
			left = append(left, err.Error())
		default:
			more++
		}
	}
	for i := len(b.jobs) - 1; i >= 0; i-- {
		j := b.jobs[i]
		if j.removed {
			say(b.restoreRemoved(j))
		}
		if j.created {
			say(b.removeCreated(j))
		}
		if j.replaced {
			say(b.restoreReplaced(j))
		}
	}
	b.discard()
	for _, r := range b.roots {
		if b.w.step("syncdir", r.Name()) == nil {
			_ = syncDir(r, b.w.flush) // best effort: what is visible is right already
		}
	}
	if more > 0 {
		left = append(left, fmt.Sprintf("%d more could not be put back", more))
	}
	return strings.Join(left, "; ")
}

// restoreRemoved restores a removed file under its name.
func (b *batch) restoreRemoved(j *job) error {
	if j.backup == "" {
		return fmt.Errorf("%s is not in its place", j.from.clean)
	}
	err := b.w.step("restore", j.from.clean)
	if err == nil {
		err = b.renameToFree(j.src, j.backup, j.from.base())
	}
	if err != nil {
		return b.rollbackError(j, err)
	}
	j.backup, j.removed = "", false
	return nil
}

// removeCreated removes a file that was created, unless someone changed it since.
func (b *batch) removeCreated(j *job) error {
	err := b.w.step("restore", j.to.clean)
	name := b.w.oldName(j.newHash, j.newHash)
	if err == nil {
		err = j.dst.Rename(j.to.base(), name)
	}
	if errors.Is(err, fs.ErrNotExist) {
		j.created = false
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s was created and could not be removed again (%w)", j.to.clean, cause(err))
	}
	if !j.stillNew(j.dst, name) {
		if err := b.renameToFree(j.dst, name, j.to.base()); err != nil {
			return fmt.Errorf("%s was created, then changed by someone else; their version is beside it in %s", j.to.clean, expose(j.dst, name, j.to.base()))
		}
		return fmt.Errorf("%s was created, then changed by someone else: it stays", j.to.clean)
	}
	j.created, j.temp = false, name
	return nil
}

// restoreReplaced restores the old content of a replaced file.
func (b *batch) restoreReplaced(j *job) error {
	if j.backup == "" {
		return fmt.Errorf("%s was written and stays so", j.from.clean)
	}
	err := b.w.step("restore", j.from.clean)
	if err == nil && b.w.plainRename {
		err = errors.ErrUnsupported
	}
	if err == nil {
		err = exchange(j.src, j.backup, j.from.base())
	}
	if errors.Is(err, errors.ErrUnsupported) {
		if !j.stillNew(j.src, j.from.base()) {
			return j.changedError()
		}
		err = j.src.Rename(j.backup, j.from.base())
		if err == nil {
			j.backup, j.replaced = "", false
			return nil
		}
	}
	if err != nil {
		return b.rollbackError(j, err)
	}
	// The backup's name has what was visible: the new content, if nobody changed it.
	if j.stillNew(j.src, j.backup) {
		j.replaced, j.temp, j.dst, j.backup = false, j.backup, j.src, ""
		return nil
	}
	if err := exchange(j.src, j.backup, j.from.base()); err != nil {
		return fmt.Errorf("%s was changed by someone else; their version is beside it in %s", j.from.clean, expose(j.src, j.backup, j.from.base()))
	}
	return j.changedError()
}

// changedError reports that someone changed what was written; the old content is no
// longer needed.
func (j *job) changedError() error {
	j.temp, j.dst, j.backup = j.backup, j.src, ""
	return fmt.Errorf("%s was written, then changed by someone else: it stays", j.from.clean)
}

func (b *batch) rollbackError(j *job, err error) error {
	name := expose(j.src, j.backup, j.from.base())
	j.backup = ""
	return fmt.Errorf("%s could not be put back (%w): its old content is beside it in %s", j.from.clean, cause(err), name)
}
