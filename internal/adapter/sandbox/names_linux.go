//go:build amd64 || arm64

package sandbox

import (
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

func self(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

var descriptorPath = lazyregexp.New(`^/(?:dev/fd|proc/(self|thread-self|\d+)/fd)/(\d{1,9})$`)

// ownDescriptor returns the descriptor of the caller that a path names.
func (c caller) ownDescriptor(file string) (int32, bool) {
	switch file {
	case "/dev/stdin":
		return 0, true
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	if !strings.HasPrefix(file, "/dev/fd/") && !strings.HasPrefix(file, "/proc/") {
		return 0, false
	}
	m := descriptorPath().FindStringSubmatch(file)
	if m == nil {
		return 0, false
	}
	if _, err := strconv.Atoi(m[1]); err == nil && m[1] != strconv.Itoa(int(c.n.Task)) {
		return 0, false
	}
	fd, err := strconv.Atoi(m[2])
	return int32(fd), err == nil
}

// onName calls do with the place that a caller names, where the policy allows the act there.
// Until it returns, no name of the workspace changes.
func (c caller) onName(dirfd int32, addr uint64, act confine.Act, do func(*place) error) error {
	if err := c.lockNames(); err != nil {
		return err
	}
	defer c.s.names.Unlock()
	p, err := c.at(dirfd, addr, false)
	if err != nil {
		return err
	}
	defer p.close()
	if act != confine.Remove && p.there && !c.s.free(p.path) {
		return unix.EEXIST // nothing would change, so nobody is asked
	}
	if err := c.judge(p, act); err != nil {
		return err
	}
	return do(p)
}

func (c caller) mkdir(dirfd int32, addr uint64, mode uint32) error {
	mode = mode &^ c.umask() & 0o1777
	return c.onName(dirfd, addr, confine.Create, func(p *place) error {
		return c.withMode(p, mode, unix.Mkdirat(p.dir, p.name, mode))
	})
}

// withMode ends the making of a name, with err: the name gets the mode.
func (c caller) withMode(p *place, mode uint32, err error) error {
	if err != nil {
		return err
	}
	c.s.made(p, p.dir, p.name)
	if narrowed(mode) {
		return c.mode(p, mode)
	}
	return nil
}

// mode sets the mode of a new name.
func (c caller) mode(p *place, mode uint32) error {
	fd, err := unix.Openat(p.dir, p.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return nil // another is there by now
	}
	if c.s.only(&st) != nil {
		return nil
	}
	return unix.Fchmodat(unix.AT_FDCWD, self(fd), mode|st.Mode&unix.S_ISGID, 0) // of the folder above
}

// mknod makes a FIFO or an empty file.
func (c caller) mknod(dirfd int32, addr uint64, mode uint32) error {
	kind := mode & unix.S_IFMT
	mode = mode &^ c.umask() & 0o777
	return c.onName(dirfd, addr, confine.Create, func(p *place) error {
		if kind != unix.S_IFIFO && kind != unix.S_IFREG && kind != 0 {
			return unix.EPERM
		}
		return c.withMode(p, mode, unix.Mknodat(p.dir, p.name, kind|mode, 0))
	})
}

func (c caller) symlink(target uint64, dirfd int32, addr uint64) error {
	to, err := c.text(target)
	if err != nil {
		return err
	}
	return c.onName(dirfd, addr, confine.Point, func(p *place) error {
		if c.s.policy.Load().LeadsFree(filepath.Dir(p.path), to, real) || c.s.leadsToScratch(p.path, to) {
			return unix.EACCES
		}
		if err := unix.Symlinkat(to, p.dir, p.name); err != nil {
			return err
		}
		c.s.made(p, p.dir, p.name)
		return nil
	})
}

func (c caller) unlink(dirfd int32, addr uint64, flags int) error {
	return c.onName(dirfd, addr, confine.Remove, func(p *place) error {
		if p.folder && p.there && p.st.Mode&unix.S_IFMT != unix.S_IFDIR {
			return unix.ENOTDIR
		}
		remove := func() error { return unix.Unlinkat(p.dir, p.name, flags) }
		if !p.there {
			return remove()
		}
		err := c.keeping(p, func() error { return c.s.keep.Unlink(p.dir, p.name, p.path, &p.st, flags) }, remove)
		if err == nil {
			c.s.left(p.path, false)
		}
		return err
	})
}

// rename moves a name. A folder stays in its zone: with EXDEV programs copy
// instead, and each copied name is judged.
func (c caller) rename(fromDir int32, from uint64, toDir int32, to uint64, flags uint) error {
	if flags&(unix.RENAME_EXCHANGE|unix.RENAME_WHITEOUT) != 0 {
		return unix.EINVAL // as on a file system that has neither
	}
	if err := c.lockNames(); err != nil {
		return err
	}
	defer c.s.names.Unlock()
	a, err := c.at(fromDir, from, false)
	if err != nil {
		return err
	}
	defer a.close()
	b, err := c.at(toDir, to, false)
	if err != nil {
		return err
	}
	defer b.close()
	if err := c.bothEnds(a, confine.Remove, b, a.arrives()); err != nil {
		return err
	}
	if c.between(a, b) {
		return unix.EXDEV
	}
	if !a.there {
		return unix.ENOENT
	}
	if c.s.escapes(a, b) || c.crosses(a, b) || c.strays(a, b) {
		return unix.EXDEV
	}
	if a.isFolder() || b.isFolder() {
		defer c.s.moves.Add(1)
	}
	err = c.keeping(b, func() error { return c.s.keep.Rename(a.kept(), b.kept(), flags) },
		func() error { return unix.Renameat2(a.dir, a.name, b.dir, b.name, flags) })
	if err == nil {
		c.s.left(a.path, false)
		c.s.left(b.path, true)
	}
	return err
}

// bothEnds judges a move or a link: with nil, pawl makes it.
func (c caller) bothEnds(a *place, onA confine.Act, b *place, onB confine.Act) error {
	if c.s.free(a.path) && c.s.free(b.path) {
		return errGoOn
	}
	if err := c.judge(a, onA); err != nil && !c.s.free(a.path) {
		return err
	}
	if err := c.judge(b, onB); err != nil && !c.s.free(b.path) {
		return err
	}
	return nil
}

// arrives returns the act that moving a place is at its target.
func (p *place) arrives() confine.Act {
	switch p.st.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return confine.Point
	case unix.S_IFDIR:
		return confine.Arrive
	}
	return confine.Create
}

func (p *place) isFolder() bool { return p.there && p.st.Mode&unix.S_IFMT == unix.S_IFDIR }

// between reports whether one of two names is in a free folder, or the session's own in
// /tmp, and the other is not. What is free changes behind pawl's back, so what would be moved need not
// be what was looked at; programs copy instead, as between file systems.
func (c caller) between(a, b *place) bool {
	return c.s.free(a.path) != c.s.free(b.path) ||
		c.s.scratch.owns(a.path) != (c.s.scratch.owns(b.path) || !b.there && c.s.scratches(b, confine.Create))
}

// crosses reports whether a folder would leave its zone.
func (c caller) crosses(a, b *place) bool {
	return a.isFolder() && c.s.policy.Load().Zone(a.path) != c.s.policy.Load().Zone(b.path)
}

// strays reports whether what moves would lead elsewhere from its new place, where nobody
// guards what it leads to: a link to the session's own files in /tmp, or a repository whose
// configuration names files beside it.
func (c caller) strays(a, b *place) bool {
	root := c.s.policy.Load().Root
	switch {
	case !a.there || path.Dir(a.path) == path.Dir(b.path):
		return false
	case a.st.Mode&unix.S_IFMT == unix.S_IFLNK:
		to, err := readlinkAt(a.dir, a.name)
		return err != nil || c.s.leadsToScratch(b.path, to)
	}
	return a.isFolder() && slices.ContainsFunc(c.s.keptIn(a.path), func(k string) bool { return confine.Within(root, k) && !confine.Within(a.path, k) })
}

// link makes a second name for a file of the workspace, or of a free folder.
func (c caller) link(fromDir int32, from uint64, toDir int32, to uint64, flags int) error {
	if err := c.lockNames(); err != nil {
		return err
	}
	defer c.s.names.Unlock()
	if flags&unix.AT_EMPTY_PATH != 0 {
		return unix.ENOENT // as the kernel answers who has no right to it
	}
	a, err := c.at(fromDir, from, flags&unix.AT_SYMLINK_FOLLOW != 0)
	if err != nil {
		return err
	}
	defer a.close()
	b, err := c.at(toDir, to, false)
	if err != nil {
		return err
	}
	defer b.close()
	// Whoever has a second name can write by it: to link is to write.
	if err := c.bothEnds(a, confine.Write, b, confine.Create); err != nil {
		return err
	}
	if !a.there {
		return unix.ENOENT
	}
	if c.between(a, b) || c.s.escapes(a, b) {
		return unix.EXDEV
	}
	if err := c.s.only(&a.st); err != nil {
		return err
	}
	return c.linkFile(a, b)
}

func (c caller) linkFile(a, b *place) error {
	fd, err := unix.Openat(a.dir, a.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return unix.EPERM
	}
	if err := c.s.only(&st); err != nil {
		return err
	}
	c.s.mu.Lock()
	c.s.linked[inode{uint64(st.Dev), st.Ino}] = true
	c.s.mu.Unlock()
	if err := unix.Linkat(unix.AT_FDCWD, self(fd), b.dir, b.name, unix.AT_SYMLINK_FOLLOW); err != nil {
		return err
	}
	if c.s.keep != nil {
		c.s.keep.Linked(a.path, b.path)
	}
	c.s.left(b.path, true)
	return nil
}
