//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// opens makes a call that opens. With rules about reading none goes on that reads.
func (c caller) opens(dirfd int32, addr uint64, flags int, mode uint32) error {
	reads := flags&writing == 0
	switch {
	case reads && c.s.opener == nil && c.s.hold != nil && c.shows(dirfd, addr):
		return errGoOn
	case c.s.opener == nil || flags&unix.O_PATH != 0:
		return c.open(dirfd, addr, flags, mode)
	case reads:
		if err := c.openPlain(dirfd, addr, flags); !errors.Is(err, errGoOn) {
			return err
		}
		return c.openRuled(dirfd, addr, flags, mode)
	case c.s.policy.Load().Level < confine.Workspace:
		return c.openRuled(dirfd, addr, flags, mode)
	}
	err := c.open(dirfd, addr, flags, mode)
	if errors.Is(err, errGoOn) && flags&unix.O_ACCMODE == unix.O_RDONLY {
		return c.openRuled(dirfd, addr, flags, mode)
	}
	return err
}

// open opens a file of the workspace for writing and passes it to the caller.
func (c caller) open(dirfd int32, addr uint64, flags int, mode uint32) error {
	if flags&unix.O_PATH != 0 {
		return errGoOn // neither reads nor writes
	}
	if flags&writing == 0 || c.s.policy.Load().Level < confine.Workspace {
		if err := c.list(dirfd, addr, flags); !errors.Is(err, errGoOn) || c.s.hold == nil {
			return err
		}
		return c.openRead(dirfd, addr, flags)
	}
	temporary := flags&unix.O_TMPFILE == unix.O_TMPFILE
	follow := flags&unix.O_NOFOLLOW == 0 && flags&(unix.O_CREAT|unix.O_EXCL) != unix.O_CREAT|unix.O_EXCL
	file, err := c.text(addr)
	if err != nil {
		return err
	}
	if fd, ok := c.ownDescriptor(file); ok {
		return c.reopen(fd, flags)
	}
	for range 10 { // until nobody changes the name meanwhile
		p, err := c.find(dirfd, file, follow)
		if err != nil {
			return err
		}
		err = c.openAt(p, flags, mode, temporary)
		p.close()
		if !errors.Is(err, errChanged) {
			return err
		}
	}
	return unix.EAGAIN
}

// list opens a folder of which only the names are shown, or the session's own in /tmp. Landlock does not allow
// reading below it, also by this descriptor.
func (c caller) list(dirfd int32, addr uint64, flags int) error {
	if flags&(writing|unix.O_DIRECTORY) != unix.O_DIRECTORY || len(c.s.policy.Load().Lists) == 0 && !c.s.scratch.used() {
		return errGoOn
	}
	file, err := c.text(addr)
	if err != nil {
		return err
	}
	dir := unix.AT_FDCWD
	if !strings.HasPrefix(file, "/") {
		if dir, err = c.descriptor(dirfd); err != nil {
			return err
		}
		defer unix.Close(dir)
	}
	fd, err := unix.Openat2(dir, file, &unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return errGoOn
	}
	defer unix.Close(fd)
	at, err := realPath(fd)
	if err != nil || !slices.Contains(c.s.policy.Load().Lists, at) && !c.s.scratch.owns(at) {
		return errGoOn
	}
	names, err := unix.Open(self(fd), unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(names)
	return c.s.give(c.n, names, flags)
}

// errChanged means that a name has changed since it was judged.
var errChanged = errors.New("changed meanwhile")

func (c caller) openAt(p *place, flags int, mode uint32, temporary bool) error {
	kind := p.st.Mode & unix.S_IFMT
	act := confine.Create
	if p.there {
		act = confine.Write
		if flags&(unix.O_ACCMODE|unix.O_TRUNC) == unix.O_RDONLY && !temporary {
			return errGoOn // it is there, so nothing is made: Landlock's to judge
		}
	}
	if err := c.judge(p, act); err != nil {
		return err
	}
	if p.there && flags&unix.O_ACCMODE == unix.O_RDWR {
		if err := c.s.ruled(p.path, false); err != nil {
			return err
		}
	}
	switch {
	case temporary: // it would have no name to judge
		return unix.EOPNOTSUPP
	case p.folder && !p.there:
		return unix.EISDIR
	case p.folder && kind != unix.S_IFDIR:
		return unix.ENOTDIR
	case !p.there && flags&unix.O_CREAT == 0:
		return unix.ENOENT
	case !p.there:
		return c.create(p, flags, mode)
	case flags&(unix.O_CREAT|unix.O_EXCL) == unix.O_CREAT|unix.O_EXCL:
		return unix.EEXIST
	case kind == unix.S_IFDIR:
		return unix.EISDIR
	case kind == unix.S_IFLNK:
		return unix.ELOOP
	case kind == unix.S_IFIFO:
		return c.openPipe(p, flags)
	case kind != unix.S_IFREG:
		return unix.ENXIO
	}
	return c.openFile(p, flags)
}

// noFork keeps pawl from starting a program until end: a new process has all of pawl's
// descriptors for a moment, and a file that somebody has open for writing cannot be run.
func noFork() (end func()) {
	syscall.ForkLock.RLock()
	return syscall.ForkLock.RUnlock
}

func (c caller) create(p *place, flags int, mode uint32) error {
	defer noFork()()
	mode = mode &^ c.umask() & 0o777
	fd, err := unix.Openat(p.dir, p.name, flags&^unix.O_TRUNC|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, mode)
	if errors.Is(err, unix.EEXIST) && flags&unix.O_EXCL == 0 {
		return errChanged
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if narrowed(mode) {
		_ = unix.Fchmod(fd, mode)
	}
	c.s.made(p, fd, "")
	return c.s.give(c.n, fd, flags)
}

func (c caller) openFile(p *place, flags int) error {
	if err := c.s.only(&p.st); err != nil {
		return err
	}
	defer noFork()()
	fd, err := unix.Openat(p.dir, p.name, flags&^(unix.O_TRUNC|unix.O_CREAT|unix.O_EXCL)|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP):
		return errChanged
	case err != nil:
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Ino != p.st.Ino || st.Dev != p.st.Dev {
		return errChanged
	}
	if err := c.s.only(&st); err != nil {
		return err
	}
	if flags&unix.O_NONBLOCK == 0 {
		if err := blocking(fd); err != nil {
			return err
		}
	}
	if err := c.rewrites(fd, p, &st, flags); err != nil {
		return err
	}
	if flags&unix.O_TRUNC != 0 {
		if err := truncate(fd, flags); err != nil {
			return err
		}
	}
	return c.s.give(c.n, fd, flags)
}

// truncate empties an opened file, also where it was opened for reading, as the
// kernel does.
func truncate(fd, flags int) error {
	if flags&unix.O_ACCMODE != unix.O_RDONLY {
		return unix.Ftruncate(fd, 0)
	}
	w, err := unix.Open(self(fd), unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(w)
	return unix.Ftruncate(w, 0)
}

func blocking(fd int) error {
	f, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, f&^unix.O_NONBLOCK)
	return err
}

// openPipe opens a FIFO. Without a reader that would block pawl, so it tries again as
// long as the caller waits.
func (c caller) openPipe(p *place, flags int) error {
	if err := c.mayWait(); err != nil {
		return err
	}
	for {
		fd, err := unix.Openat(p.dir, p.name, flags&^(unix.O_TRUNC|unix.O_CREAT)|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENXIO) && flags&unix.O_NONBLOCK == 0 {
			if !c.s.valid(c.n) {
				return unix.EINTR
			}
			time.Sleep(2 * time.Millisecond)
			continue
		}
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil || st.Ino != p.st.Ino || st.Mode&unix.S_IFMT != unix.S_IFIFO {
			return errChanged
		}
		if flags&unix.O_NONBLOCK == 0 {
			if err := blocking(fd); err != nil {
				return err
			}
		}
		return c.s.give(c.n, fd, flags)
	}
}

// reopen opens what one of the caller's descriptors leads to (/dev/stderr,
// /proc/self/fd/N) once more. What is not a file of the workspace, such as a
// pipe, is the kernel's.
func (c caller) reopen(fd int32, flags int) error {
	old, err := c.descriptor(fd)
	if err != nil {
		return err
	}
	defer unix.Close(old)
	p := place{there: true}
	if err := unix.Fstat(old, &p.st); err != nil {
		return err
	}
	if p.path, err = realPath(old); err != nil {
		return errGoOn
	}
	if p.st.Mode&unix.S_IFMT != unix.S_IFREG || p.st.Nlink == 0 {
		return errGoOn
	}
	if err := c.judge(&p, confine.Write); err != nil {
		return err
	}
	if err := c.s.only(&p.st); err != nil {
		return err
	}
	if flags&unix.O_ACCMODE != unix.O_WRONLY {
		if err := c.s.ruled(p.path, false); err != nil {
			return err
		}
	}
	if err := c.rewrites(old, &p, &p.st, flags); err != nil {
		return err
	}
	defer noFork()()
	again, err := unix.Open(self(old), flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW)|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(again)
	return c.s.give(c.n, again, flags)
}

// cut makes truncate(2).
func (c caller) cut(addr uint64, size int64) error {
	p, err := c.at(unix.AT_FDCWD, addr, true)
	if err != nil {
		return err
	}
	defer p.close()
	if err := c.judge(p, confine.Write); err != nil {
		return err
	}
	switch kind := p.st.Mode & unix.S_IFMT; {
	case !p.there:
		return unix.ENOENT
	case kind == unix.S_IFDIR:
		return unix.EISDIR
	case kind != unix.S_IFREG:
		return unix.EINVAL
	}
	defer noFork()()
	fd, err := unix.Openat(p.dir, p.name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if err := c.s.only(&st); err != nil {
		return err
	}
	if err := c.rewrites(fd, p, &st, 0); err != nil {
		return err
	}
	return unix.Ftruncate(fd, size)
}
