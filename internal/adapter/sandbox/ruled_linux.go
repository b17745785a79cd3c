//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// This file keeps the person's rules about paths (SPEC 16.12). Landlock cannot take one file
// out of a folder, and programs of the workspace must run, so it shows the workspace. Where
// a rule is about reading, no open goes on in the kernel: its path could become another one
// after it was judged. pawl opens for the command, judges what was opened, and hands it over.
// The names in a folder can be listed: an error there would end go test ./... and others.

// ruled returns why a person's rule keeps a file from being read or changed, nil if none does.
func (s *supervisor) ruled(file string, write bool) error {
	v, rule := s.policy.Load().Ruled(file, write)
	if v == confine.Unruled {
		return nil
	}
	r := process.Refusal{Act: process.ActRead, What: file, Rule: rule.Text}
	if write {
		r.Act = process.ActWrite
	}
	if v == confine.Asks && s.hold != nil {
		return &lack{r, unix.EACCES}
	}
	s.refusals.addRuled(r)
	return unix.EACCES
}

// escapes reports whether a move takes something out of a rule, or into one.
func (s *supervisor) escapes(a, b *place) bool {
	p := s.policy.Load()
	return p.Escapes(a.path, b.path) || a.st.Mode&unix.S_IFMT == unix.S_IFDIR && p.Escapes(b.path, a.path)
}

// opener is a thread of pawl that opens files with the rights of the commands of a box: the
// same Landlock rules, and root's same few capabilities. So it can open nothing that the
// command could not.
type opener struct {
	calls chan func()
	end   chan struct{} // closed by close
	once  sync.Once
}

// newOpener starts the opener of a box, nil if no rule is about reading.
func (b *Box) newOpener() (*opener, error) {
	if !b.policy.RulesReads() {
		return nil, nil
	}
	o, started := &opener{calls: make(chan func()), end: make(chan struct{})}, make(chan error, 1)
	onThread(func() {
		started <- o.restrict(b.ruleset)
		for {
			select {
			case f := <-o.calls:
				f()
			case <-o.end:
				return
			}
		}
	})
	if err := <-started; err != nil {
		o.close()
		return nil, &Unsupported{"that files about which there is a rule cannot be read", err.Error()}
	}
	return o, nil
}

func (*opener) restrict(ruleset int) error {
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

func (o *opener) close() {
	if o != nil {
		o.once.Do(func() { close(o.end) })
	}
}

// open opens on the opener's thread.
func (o *opener) open(dir int, file string, how *unix.OpenHow) (fd int, err error) {
	done := make(chan struct{})
	select {
	case o.calls <- func() { defer close(done); fd, err = unix.Openat2(dir, file, how) }:
		<-done
		return fd, err
	case <-o.end: // the command has ended
		return -1, unix.EACCES
	}
}

// openFlags are the flags that openat2 takes; openat ignores all others.
const openFlags = unix.O_ACCMODE | unix.O_CREAT | unix.O_EXCL | unix.O_TRUNC | unix.O_APPEND | unix.O_NONBLOCK | unix.O_DSYNC | unix.O_SYNC |
	unix.O_ASYNC | unix.O_DIRECT | unix.O_LARGEFILE | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_NOATIME

// openRuled opens what a call names, as the kernel would, and gives it to the caller if no
// rule is against it.
func (c caller) openRuled(dirfd int32, addr uint64, flags int, mode uint32) error {
	if err := c.mayWait(); err != nil { // a FIFO for who writes to it
		return err
	}
	file, err := c.text(addr)
	if err != nil {
		return err
	}
	if fd, ok := c.ownDescriptor(file); ok {
		old, err := c.descriptor(fd)
		if err != nil {
			return err
		}
		return c.openAgain(old, flags)
	}
	dir := unix.AT_FDCWD
	if !strings.HasPrefix(file, "/") {
		if dir, err = c.descriptor(dirfd); err != nil {
			return err
		}
		defer unix.Close(dir)
		if at, err := realPath(dir); err == nil && strings.HasPrefix(at, "/proc/") {
			file = at + "/" + file
		}
	}
	if rest, ok := c.ofItself(file); ok {
		return c.openOwn(rest, flags)
	}
	if of, _, ok := processOf(file); ok && of == strconv.Itoa(os.Getpid()) {
		return unix.EACCES // by its own number, what /proc/self is for pawl is not meant
	}
	how := unix.OpenHow{Flags: uint64(flags&openFlags | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if flags&unix.O_CREAT != 0 {
		how.Mode = uint64(mode & 0o777)
	}
	fd, err := c.s.opener.open(dir, file, &how)
	if errors.Is(err, unix.EACCES) {
		return c.openMore(dirfd, addr, flags)
	}
	if err != nil {
		return err
	}
	return c.hand(fd, flags)
}

// openPlain opens a file or a folder by its path and without another thread, as most calls
// need it; errGoOn: this is not one of them. What the kernel makes up (/proc, /dev,
// /sys) is not opened here: there it matters who opens.
func (c caller) openPlain(dirfd int32, addr uint64, flags int) error {
	file, err := c.text(addr)
	if err != nil || file == "" || strings.HasPrefix(file, "/proc/") || strings.HasPrefix(file, "/dev/") {
		return errGoOn
	}
	dir := unix.AT_FDCWD
	if file[0] != '/' {
		if dir, err = c.descriptor(dirfd); err != nil {
			return errGoOn
		}
		defer unix.Close(dir)
	}
	fd, err := unix.Openat2(dir, file, &unix.OpenHow{Flags: uint64(flags&(unix.O_NOFOLLOW|unix.O_DIRECTORY) | unix.O_PATH | unix.O_CLOEXEC), Resolve: unix.RESOLVE_NO_MAGICLINKS})
	if errors.Is(err, unix.ENOENT) && file[0] == '/' {
		return err
	}
	if err != nil {
		return errGoOn
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	at, err := realPath(fd)
	if err != nil || unix.Fstat(fd, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG && st.Mode&unix.S_IFMT != unix.S_IFDIR ||
		madeUp(at) || !c.s.base.MayRead(at) {
		return errGoOn
	}
	if st.Mode&unix.S_IFMT == unix.S_IFREG {
		if v, _ := c.s.policy.Load().Ruled(at, false); v != confine.Unruled {
			return errGoOn
		}
	}
	again, err := unix.Open(self(fd), flags&openFlags&^unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(again)
	return c.s.give(c.n, again, flags)
}

func madeUp(file string) bool {
	for _, top := range [...]string{"/proc", "/dev", "/sys"} {
		if confine.Within(top, file) {
			return true
		}
	}
	return false
}

// openMore opens what Landlock does not show and the policy allows otherwise: folders of
// which only the names are shown, and what was allowed while the command runs.
func (c caller) openMore(dirfd int32, addr uint64, flags int) error {
	if flags&writing != 0 {
		return unix.EACCES
	}
	err := c.list(dirfd, addr, flags)
	if errors.Is(err, errGoOn) && c.s.hold != nil {
		err = c.openRead(dirfd, addr, flags)
	}
	if errors.Is(err, errGoOn) {
		return unix.EACCES
	}
	if l, ok := errors.AsType[*lack](err); ok && errors.Is(l.otherwise, errGoOn) {
		l.otherwise = unix.EACCES
	}
	return err
}

// hand judges what was opened for the caller, and gives it to it. It closes fd.
func (c caller) hand(fd, flags int) error {
	defer unix.Close(fd)
	file, err := realPath(fd)
	if err != nil {
		return unix.EACCES
	}
	if of, rest, ok := processOf(file); ok {
		switch {
		case of == strconv.Itoa(os.Getpid()): // /proc/self, as it is in pawl
			return c.openOwn(rest, flags)
		case unix.Access("/proc/self/task/"+of, unix.F_OK) == nil:
			return unix.EACCES
		}
	}
	if file == "/dev/tty" {
		return unix.ENXIO // it is pawl's
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR && flags&unix.O_ACCMODE != unix.O_WRONLY {
		if err := c.s.ruled(file, false); err != nil {
			return err
		}
	}
	if flags&unix.O_NONBLOCK == 0 {
		if st.Mode&unix.S_IFMT == unix.S_IFIFO && flags&unix.O_ACCMODE == unix.O_RDONLY {
			return c.waitForWriter(fd, flags)
		}
		if err := blocking(fd); err != nil {
			return err
		}
	}
	return c.s.give(c.n, fd, flags)
}

// waitForWriter opens a FIFO for reading, which lasts until somebody opens it for writing,
// or the caller is gone or has a signal to handle.
func (c caller) waitForWriter(fifo, flags int) error {
	type result struct {
		fd  int
		err error
	}
	opened := make(chan result, 1)
	go func() {
		fd, err := unix.Open(self(fifo), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		opened <- result{fd, err}
	}()
	look := time.NewTicker(heldPoll)
	defer look.Stop()
	for {
		select {
		case r := <-opened:
			if r.err != nil {
				return r.err
			}
			defer unix.Close(r.fd)
			return c.s.give(c.n, r.fd, flags)
		case <-look.C:
			gone := !c.s.valid(c.n)
			if !gone && !c.interrupted() {
				continue
			}
			if w, err := unix.Open(self(fifo), unix.O_WRONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0); err == nil {
				_ = unix.Close(w)
			}
			if r := <-opened; r.err == nil {
				_ = unix.Close(r.fd)
			}
			if gone {
				return unix.EINTR
			}
			return restart
		}
	}
}

// processOf returns the process that a path of /proc is about, and the path below it.
func processOf(file string) (pid, rest string, ok bool) {
	below, ok := strings.CutPrefix(file, "/proc/")
	pid, rest, _ = strings.Cut(below, "/")
	return pid, rest, ok && pid != "" && strings.Trim(pid, "0123456789") == ""
}

// ofItself returns the rest of a path about the caller's own process.
func (c caller) ofItself(file string) (string, bool) {
	if !strings.HasPrefix(file, "/proc/") {
		return "", false
	}
	for _, own := range [...]string{"/proc/self/", "/proc/thread-self/"} {
		if rest, ok := strings.CutPrefix(file, own); ok {
			return rest, true
		}
	}
	pid, rest, ok := processOf(file)
	task := strconv.Itoa(int(c.n.Task))
	return rest, ok && (pid == task || unix.Access("/proc/"+pid+"/task/"+task, unix.F_OK) == nil)
}

// openOwn opens what the kernel shows a process of itself. The opener is another process,
// from which it would be hidden.
func (c caller) openOwn(rest string, flags int) error {
	fd, err := unix.Open(c.proc("/"+rest), unix.O_PATH|flags&(unix.O_NOFOLLOW|unix.O_DIRECTORY)|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	if !c.s.valid(c.n) { // the number may be another process's by now
		_ = unix.Close(fd)
		return unix.EACCES
	}
	file, err := realPath(fd)
	if own := c.proc("/"); err != nil || !strings.HasPrefix(file+"/", own) {
		return c.openAgain(fd, flags) // a link of it leads elsewhere
	}
	defer unix.Close(fd)
	// What /proc tells of physical memory depends on who opens.
	if flags&(writing&^unix.O_CREAT) != 0 || strings.HasSuffix(file, "/pagemap") {
		return unix.EACCES
	}
	again, err := unix.Open(self(fd), flags&openFlags&^(unix.O_NOFOLLOW|unix.O_CREAT|unix.O_EXCL)|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(again)
	return c.s.give(c.n, again, flags)
}

// openAgain opens what a descriptor without rights leads to. It closes it.
func (c caller) openAgain(at, flags int) error {
	defer unix.Close(at)
	var st unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		return unix.ELOOP
	}
	if file, err := realPath(at); err != nil || strings.HasPrefix(file, "/proc/"+strconv.Itoa(os.Getpid())+"/") {
		return unix.EACCES
	}
	how := unix.OpenHow{Flags: uint64(flags&openFlags&^(unix.O_NOFOLLOW|unix.O_CREAT|unix.O_EXCL) | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC)}
	fd, err := c.s.opener.open(unix.AT_FDCWD, self(at), &how)
	if err != nil {
		return err
	}
	return c.hand(fd, flags)
}
