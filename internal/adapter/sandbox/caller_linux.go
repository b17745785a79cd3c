//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// caller is the thread that made the call.
type caller struct {
	s     *supervisor
	n     *notice
	apart bool // in a goroutine of its own
}

// mayWait is called before what may have to wait.
func (c caller) mayWait() error {
	if c.apart {
		return nil
	}
	return errLater
}

func (c caller) lockNames() error {
	switch {
	case c.apart:
		c.s.names.Lock()
	case !c.s.names.TryLock():
		return errLater
	}
	return nil
}

func (c caller) proc(rest string) string { return "/proc/" + strconv.Itoa(int(c.n.Task)) + rest }

// read copies the caller's memory into buf. The next page may be missing, so it returns how
// much it could read: nothing if the caller is gone, whose number may be another's by now.
// text: no further than to the page with a zero byte.
func (c caller) read(addr uint64, buf []byte, text bool) int {
	done := 0
	for done < len(buf) {
		at := addr + uint64(done)
		part := buf[done:min(len(buf), done+int(4096-at%4096))]
		local := [1]unix.Iovec{{Base: &part[0]}}
		local[0].SetLen(len(part))
		n, err := unix.ProcessVMReadv(int(c.n.Task), local[:], []unix.RemoteIovec{{Base: uintptr(at), Len: len(part)}}, 0)
		done += max(n, 0)
		if err != nil || n < len(part) || text && bytes.IndexByte(part, 0) >= 0 {
			break
		}
	}
	if !c.s.valid(c.n) {
		return 0
	}
	return done
}

// text reads a string that ends in a zero byte.
func (c caller) text(addr uint64) (string, error) {
	var buf [unix.PathMax]byte
	b := buf[:c.read(addr, buf[:], true)]
	i := bytes.IndexByte(b, 0)
	switch {
	case i < 0 && len(b) == len(buf):
		return "", unix.ENAMETOOLONG
	case i < 0:
		return "", unix.EFAULT
	}
	return string(b[:i]), nil
}

// times reads two times as the kernel takes them; nil stands for the current
// time. unit is the second number of each in nanoseconds.
func (c caller) times(addr uint64, unit int64) ([]unix.Timespec, error) {
	if addr == 0 {
		return nil, nil
	}
	var b [32]byte
	if c.read(addr, b[:], false) < len(b) {
		return nil, unix.EFAULT
	}
	var out []unix.Timespec
	for i := range 2 {
		sec, sub := int64(binary.NativeEndian.Uint64(b[16*i:])), int64(binary.NativeEndian.Uint64(b[16*i+8:]))
		out = append(out, unix.Timespec{Sec: sec, Nsec: sub * unit})
	}
	return out, nil
}

// umasks are those of the last callers. To ask the kernel takes as long as to make a file, so
// they are remembered until somebody sets one.
type umasks struct {
	mu sync.Mutex
	of map[uint32]uint32 // by thread
}

// someCallers is how many umasks are remembered: as many as work side by side, and so few that
// numbers of threads are not used again meanwhile.
const someCallers = 16

func (u *umasks) forget() {
	u.mu.Lock()
	defer u.mu.Unlock()
	clear(u.of)
}

// umask returns the caller's umask.
func (c caller) umask() uint32 {
	u := &c.s.umasks
	u.mu.Lock()
	defer u.mu.Unlock()
	if m, ok := u.of[c.n.Task]; ok {
		return m
	}
	m, ok := askUmask(c.proc("/status"))
	if !ok {
		return m
	}
	if len(u.of) == someCallers {
		clear(u.of)
	}
	u.of[c.n.Task] = m
	return m
}

// narrowed reports whether pawl's own umask took something from the mode of what it made.
func narrowed(mode uint32) bool { return mode&ownUmask() != 0 }

// ownUmask is pawl's own, which nothing in it changes.
var ownUmask = sync.OnceValue(func() uint32 {
	if m, ok := askUmask("/proc/self/status"); ok {
		return m
	}
	return 0o777
})

func askUmask(status string) (mask uint32, ok bool) {
	b, err := os.ReadFile(status)
	if err != nil {
		return 0o077, false
	}
	m, err := strconv.ParseUint(field(b, "Umask:"), 8, 32)
	if err != nil {
		return 0o077, false
	}
	return uint32(m), true
}

// descriptor opens what one of the caller's descriptors leads to, without the
// right to read or write it.
func (c caller) descriptor(fd int32) (int, error) {
	p := c.proc("/cwd")
	if fd != unix.AT_FDCWD {
		if fd < 0 {
			return -1, unix.EBADF
		}
		p = c.proc("/fd/" + strconv.Itoa(int(fd)))
	}
	out, err := unix.Open(p, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		if errors.Is(err, unix.ENOENT) {
			return -1, unix.EBADF
		}
		return -1, err
	}
	if !c.s.valid(c.n) {
		_ = unix.Close(out)
		return -1, unix.EBADF
	}
	return out, nil
}

// place is a name in a folder that was opened: nothing can be put between the
// judgement and the change.
type place struct {
	dir  int    // O_PATH
	name string // one name, never . or ..
	path string // of the folder, and the name
	// there is what the name was, when it was looked at.
	there  bool
	st     unix.Stat_t
	folder bool // the path ended in a slash
}

func (p *place) close() { _ = unix.Close(p.dir) }

// realPath returns the path of an opened file.
func realPath(fd int) (string, error) {
	return os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
}

// at finds the place that a path of the caller names. With follow, a symbolic link
// as the last name is followed.
func (c caller) at(dirfd int32, addr uint64, follow bool) (*place, error) {
	file, err := c.text(addr)
	if err != nil {
		return nil, err
	}
	return c.find(dirfd, file, follow)
}

func (c caller) find(dirfd int32, file string, follow bool) (*place, error) {
	if file == "" {
		return nil, unix.ENOENT
	}
	dir := -1
	defer func() {
		if dir >= 0 {
			_ = unix.Close(dir)
		}
	}()
	if !strings.HasPrefix(file, "/") {
		var err error
		if dir, err = c.descriptor(dirfd); err != nil {
			return nil, err
		}
	}
	for range 40 {
		p, err := step(dir, file)
		if err != nil {
			return nil, err
		}
		if p.dir == dir {
			dir = -1 // it is the place's
		}
		if !follow || !p.there || p.st.Mode&unix.S_IFMT != unix.S_IFLNK {
			return p, nil
		}
		target, err := readlinkAt(p.dir, p.name)
		if dir >= 0 {
			_ = unix.Close(dir)
		}
		dir = p.dir
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(p.path, "/proc/") {
			return nil, errGoOn // /proc/self is the caller's there, and pawl's here
		}
		file = target
	}
	return nil, unix.ELOOP
}

// step opens the folder of a path, which is dir itself for a single name, and looks at the
// last name.
func step(dir int, file string) (*place, error) {
	trimmed := strings.TrimRight(file, "/")
	parent, name := path.Split(trimmed)
	if trimmed == "" || name == "." || name == ".." {
		return nil, errGoOn // a folder: it is not opened for writing, moved or removed by that name
	}
	p := &place{dir: dir, name: name, folder: trimmed != file}
	if parent != "" {
		var err error
		// Magic links of /proc lead where the caller's would not.
		p.dir, err = unix.Openat2(dir, parent, &unix.OpenHow{
			Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS,
		})
		if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.EAGAIN) {
			return nil, errGoOn
		}
		if err != nil {
			return nil, err
		}
	}
	if err := p.look(); err != nil {
		if p.dir != dir {
			p.close()
		}
		return nil, err
	}
	return p, nil
}

// look finds the path of a place, and what is there.
func (p *place) look() error {
	real, err := realPath(p.dir)
	if err != nil {
		return unix.EACCES
	}
	p.path = path.Join(real, p.name)
	err = unix.Fstatat(p.dir, p.name, &p.st, unix.AT_SYMLINK_NOFOLLOW)
	if p.there = err == nil; p.there || errors.Is(err, unix.ENOENT) {
		return nil
	}
	return err
}

func readlinkAt(dir int, name string) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(dir, name, buf)
	return string(buf[:max(n, 0)]), err
}

// change judges a change as the policy does, and looks for repositories in the
// workspace and in what a person granted: those that are not named .git are found
// only by what they hold.
func (s *supervisor) change(file string, act confine.Act) confine.ChangeRight {
	p := s.policy.Load()
	v := p.Change(file, act)
	if v != confine.Made {
		return v
	}
	if act != confine.Write && act != confine.Remove && confine.Completes(file, holds(filepath.Dir(file))) {
		return confine.Refused
	}
	for _, g := range slices.Concat(p.Granted, p.Opened, []string{p.Root}) {
		for dir := filepath.Dir(file); confine.Within(g, dir); dir = filepath.Dir(dir) {
			if confine.GitChange(dir, file, act) && isRepository(dir) || confine.Keeps(s.keptIn(dir), file, act) {
				return confine.Refused
			}
			if dir == "/" {
				break
			}
		}
	}
	return v
}

// free reports whether a place is one where Landlock decides alone.
func (s *supervisor) free(file string) bool {
	return s.policy.Load().Change(file, confine.Write) == confine.Free
}

// keptIn returns what git runs or reads of a repository below the workspace. No
// confined command can make one, so each folder is looked at once, and again after a
// folder was moved.
func (s *supervisor) keptIn(dir string) []string {
	moves := s.moves.Load()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nestedAt != moves {
		clear(s.nested)
		s.nestedAt = moves
	}
	kept, known := s.nested[dir]
	if known {
		return kept
	}
	if dir != s.policy.Load().Root && gitFolder(dir) != "" {
		kept = NewGitUses(os.Getenv, dir).paths()
	}
	s.nested[dir] = kept
	return kept
}

// judge returns nil if pawl makes the change. errGoOn: Landlock decides alone, since
// the place is free or has no rule.
func (c caller) judge(p *place, act confine.Act) error {
	s := c.s
	v := s.change(p.path, act)
	if v != confine.Free {
		if err := s.ruled(p.path, true); err != nil {
			return err
		}
	}
	switch v {
	case confine.Made:
		if c.asksFor(p.path) && !s.follows(p.path) {
			return s.lacks(process.ActChange, p.path, unix.EACCES)
		}
		s.lasts(p.path)
		return nil
	case confine.Refused:
		if s.scratches(p, act) {
			return nil
		}
		var otherwise error = errGoOn
		if confine.Within(s.policy.Load().Root, p.path) {
			otherwise = unix.EACCES
		}
		if s.couldElse(p, act) {
			return s.outside(actName(act), p.path, otherwise)
		}
		return otherwise
	}
	return errGoOn
}

// asksFor reports whether a change of the workspace is asked for: not in a protected file or
// folder to which the person just said yes, and not by an editor.
func (c caller) asksFor(file string) bool {
	s := c.s
	if !s.asks.Load() {
		return false
	}
	now := s.policy.Load()
	since := now.Opened[len(s.base.Opened):] // Grant appends
	return confine.Within(now.Root, file) && !slices.ContainsFunc(since, func(o string) bool { return confine.Within(o, file) }) && !c.edits()
}

func actName(a confine.Act) string {
	if a == confine.Remove {
		return process.ActRemove
	}
	return process.ActWrite
}

// couldElse reports whether a refused change would be possible without the sandbox:
// only then did the sandbox refuse it.
func (s *supervisor) couldElse(p *place, act confine.Act) bool {
	if strings.HasPrefix(p.path, "/dev/") || strings.HasPrefix(p.path, "/proc/") {
		return false // devices have rules of their own, and nobody grants these
	}
	if p.there && act == confine.Write {
		return unix.Faccessat(p.dir, p.name, unix.W_OK, 0) == nil
	}
	return (p.there || act != confine.Remove) && unix.Access(self(p.dir), unix.W_OK|unix.X_OK) == nil
}

// only refuses a file with a name elsewhere, where its content may be trusted:
// package managers link files from a store, and a protected file may be one.
func (s *supervisor) only(st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFDIR || st.Nlink <= 1 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.linked[inode{uint64(st.Dev), st.Ino}] || s.keep != nil && int(st.Nlink)-s.keep.Links(st) <= 1 {
		return nil
	}
	return unix.EACCES
}
