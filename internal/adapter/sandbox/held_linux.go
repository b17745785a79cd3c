//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
	"github.com/pawl-agent/pawl/internal/policy/host"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// This file holds a command at a call that its policy does not cover, while somebody
// decides about it (SPEC 16.14). After a yes the call is judged and made from the
// beginning, so what was looked at before the question decides nothing.

// lack is an access that the policy does not cover and that may be asked for.
type lack struct {
	process.Refusal
	otherwise error // the answer to the call without a yes
}

// Is: somebody decides first.
func (*lack) Is(err error) bool { return err == errLater }

func (l *lack) Error() string { return "not covered: " + l.Refusal.String() }

// lacks returns what is answered to a call that is not covered: a *lack if somebody can
// decide about it, else otherwise.
func (s *supervisor) lacks(act, what string, otherwise error) error {
	if s.hold == nil {
		s.refusals.add(act, what)
		return otherwise
	}
	return &lack{process.Refusal{Act: act, What: what}, otherwise}
}

// held are the questions of one command. Each access is asked for once.
type held struct {
	hold process.Hold // nil: nobody decides

	mu        sync.Mutex
	questions map[process.Refusal]*question
	did       string // as Refusal.Done
}

// lasts remembers the first file that a command changes, unless it changes it again in the
// same way when it is begun again.
func (h *held) lasts(file string) {
	if h.hold == nil || confine.Passing(file) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = cmp.Or(h.did, "it changed "+file)
}

func (h *held) lasting() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.did
}

// question is one access that somebody decides about.
type question struct {
	done    chan struct{} // closed: ok is set
	ok      bool
	waiting int // calls; with none, the question is withdrawn
	cancel  context.CancelCauseFunc
}

// subject returns what one question is about: all changes of the workspace are one, and all
// losses, and all that a rule asks about. An address is the same by whatever name.
func subject(r process.Refusal) process.Refusal {
	r.Name = ""
	if r.Act == process.ActChange || r.Act == process.ActLose || r.Rule != "" {
		r.What, r.Size = "", 0
	}
	return r
}

// join returns the question about an access, and asks it if it is new.
func (s *supervisor) join(r process.Refusal, program string) *question {
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	if q, ok := s.questions[subject(r)]; ok {
		q.waiting++
		return q
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	q := &question{done: make(chan struct{}), waiting: 1, cancel: cancel}
	s.questions[subject(r)] = q
	go func() {
		opened, answer := s.hold(ctx, process.Refusal{Act: r.Act, What: r.What, Size: r.Size, Rule: r.Rule, Name: r.Name, Done: s.lasting(), Program: program})
		switch {
		case ctx.Err() != nil:
		case answer == process.Allowed:
			s.widen(r, opened)
			q.ok = true
		case answer == process.Refused:
			s.refusals.addRuled(r)
		}
		close(q.done)
	}()
	return q
}

// leave says that a call no longer waits for a question.
func (s *supervisor) leave(r process.Refusal, q *question) {
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	select {
	case <-q.done:
		return
	default:
	}
	if q.waiting--; q.waiting == 0 {
		q.cancel(process.ErrWithdrawn)
		delete(s.questions, subject(r))
	}
}

// heldPoll is how often it is looked whether a held call still waits: the kernel does not
// tell when its thread has died or has a signal to handle.
const heldPoll = 50 * time.Millisecond

// heldAgain is how long a question stays open for a call that a signal interrupted.
const heldAgain = time.Second

// wait holds a call. It returns nil after a yes.
func (c caller) wait(l *lack) error {
	program, err := os.Readlink(c.proc("/exe"))
	if err == nil {
		program = filepath.Base(program)
	}
	q := c.s.join(l.Refusal, program)
	leave := func() { c.s.leave(l.Refusal, q) }
	defer func() { leave() }()
	look := time.NewTicker(heldPoll)
	defer look.Stop()
	for {
		select {
		case <-q.done:
			if !q.ok {
				return l.otherwise
			}
			return nil
		case <-look.C:
			if !c.s.valid(c.n) {
				return unix.EINTR
			}
			if c.interrupted() {
				// Most handlers return, and the call comes again: the person goes on
				// reading the same question.
				last := leave
				leave = func() { time.AfterFunc(heldAgain, last) }
				return restart
			}
		}
	}
}

// allowed reports whether the person allows a host that the proxy was asked for, or an
// address that it leads to. ctx ends with the client's connection.
func (s *supervisor) allowed(ctx context.Context, r process.Refusal) bool {
	if s.hold == nil {
		s.refusals.add(r.Act, r.What)
		return false
	}
	q := s.join(r, "")
	defer s.leave(r, q)
	select {
	case <-q.done:
		return q.ok
	case <-ctx.Done():
		return false
	}
}

// widen adds what was allowed to the policy of the command.
func (s *supervisor) widen(r process.Refusal, opened string) {
	s.held.mu.Lock()
	defer s.held.mu.Unlock()
	p := *s.policy.Load()
	if r.Rule != "" {
		p = p.Without(r.Rule)
		s.policy.Store(&p)
		return
	}
	switch r.Act {
	case process.ActChange:
		s.asks.Store(false)
	case process.ActLose:
		s.loses.Store(true)
	case process.ActRead:
		p = p.Grant([]string{opened}, nil, nil)
	case process.ActWrite, process.ActRemove, process.ActGit:
		p = p.Grant(nil, nil, []string{opened})
	default:
		p.Hosts = append(slices.Clone(p.Hosts), opened)
	}
	s.policy.Store(&p)
}

// reaches reports whether an address was granted by a person, so that a socket may
// connect to it without the proxy.
func (s *supervisor) reaches(to netip.AddrPort) bool {
	return slices.ContainsFunc(s.policy.Load().Hosts, func(h string) bool {
		g, err := host.ParseGrant(h)
		return err == nil && g.Covers(to.Addr().String(), to.Port())
	})
}

// connectOutside connects to an address that is not the sandbox's, if it was granted.
func (c caller) connectOutside(t *took, to netip.AddrPort) error {
	if !c.s.reaches(to) {
		return c.s.lacks(process.ActConnect, to.String(), unix.EACCES)
	}
	blocks, err := t.atOnce(func() error { return unix.Connect(t.fd, t.sockaddr(to)) })
	if !blocks || !errors.Is(err, unix.EINPROGRESS) {
		return err
	}
	for {
		fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLOUT}}
		switch n, err := unix.Poll(fds, int(heldPoll/time.Millisecond)); {
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case n > 0:
			if code, err := unix.GetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_ERROR); err == nil && code != 0 {
				return unix.Errno(code)
			}
			return nil
		case !c.s.valid(c.n):
			return unix.EINTR
		}
	}
}

// shows reports whether Landlock shows what a path names, by its words and the folder in
// which the caller works, as most paths of a held command. What the path becomes meanwhile is
// Landlock's to refuse. What is opened below another folder is the kernel's to refuse: who
// walks through all folders is not asked about each. Where the folder was allowed, it is not.
func (c caller) shows(dirfd int32, addr uint64) bool {
	s := c.s
	file, err := c.text(addr)
	if err != nil {
		return false
	}
	if !strings.HasPrefix(file, "/") {
		at := "/cwd"
		if dirfd != unix.AT_FDCWD {
			if !s.scratch.used() && s.policy.Load() == s.base {
				return !strings.Contains(file, "..")
			}
			at = "/fd/" + strconv.Itoa(int(dirfd))
		}
		dir, err := os.Readlink(c.proc(at))
		if err != nil {
			return true
		}
		if dirfd != unix.AT_FDCWD && !s.opened(dir) && !(s.scratch.used() && confine.Within(s.scratch.dir, dir)) {
			return !strings.Contains(file, "..")
		}
		file = dir + "/" + file
	}
	return strings.HasPrefix(file, "/proc/") || strings.HasPrefix(file, "/dev/") || !strings.Contains(file, "/..") && s.base.MayRead(file)
}

// openRead opens a file for reading that Landlock does not show this command, if the person
// allows it: rules cannot be added to a command that runs. What looks like a key is opened
// by its own name only, not with the folder above it.
func (c caller) openRead(dirfd int32, addr uint64, flags int) error {
	p, err := c.at(dirfd, addr, flags&unix.O_NOFOLLOW == 0)
	if err != nil {
		return errGoOn // the kernel has the right error
	}
	defer p.close()
	kind := p.st.Mode & unix.S_IFMT
	if !p.there || kind != unix.S_IFREG && kind != unix.S_IFDIR || c.s.base.MayRead(p.path) || unix.Faccessat(p.dir, p.name, unix.R_OK, 0) != nil {
		return errGoOn
	}
	if kind == unix.S_IFREG {
		if err := c.s.ruled(p.path, false); err != nil {
			return err
		}
	}
	if !c.s.scratch.owns(p.path) && !c.s.opened(p.path) {
		return c.s.outside(process.ActRead, p.path, errGoOn)
	}
	fd, err := unix.Openat(p.dir, p.name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Ino != p.st.Ino || st.Dev != p.st.Dev {
		return errGoOn
	}
	if flags&unix.O_NONBLOCK == 0 {
		if err := blocking(fd); err != nil {
			return err
		}
	}
	return c.s.give(c.n, fd, flags)
}

// opened reports whether what was allowed since the start lets a file or a folder be read.
func (s *supervisor) opened(file string) bool {
	now := s.policy.Load()
	since := slices.Concat(now.Reads[len(s.base.Reads):], now.Opened[len(s.base.Opened):]) // Grant appends
	return slices.ContainsFunc(since, func(o string) bool {
		return o == file || confine.Within(o, file) && !secrets.LooksSecret(file)
	})
}

// follows reports whether a change of the workspace is part of what was allowed elsewhere: a
// push or a fetch that may reach the other side also notes what is there.
func (s *supervisor) follows(file string) bool {
	return s.policy.Load() != s.base && confine.OfRemote(file)
}

// outside is lacks for a file outside the workspace. What git owns in a repository there is
// one question about the repository.
func (s *supervisor) outside(act, file string, otherwise error) error {
	if s.hold != nil && s.policy.Load().Level >= confine.Workspace {
		if repo := repositoryOf(file, false); repo != "" && !strings.EqualFold(filepath.Base(repo), ".git") {
			return s.lacks(process.ActGit, repo, otherwise)
		}
	}
	return s.lacks(act, file, otherwise)
}

// restart is ERESTARTSYS: the kernel calls the handler, and then returns EINTR or
// repeats the call, as the handler was set up.
const restart = unix.Errno(512)

// interrupted reports whether the caller has a signal to handle.
func (c caller) interrupted() bool {
	b, err := os.ReadFile(c.proc("/status"))
	if err != nil {
		return false
	}
	set := func(name string) uint64 {
		n, _ := strconv.ParseUint(field(b, name), 16, 64)
		return n
	}
	pending := set("SigPnd:")
	if field(b, "Threads:") == "1" { // else another thread may take it
		pending |= set("ShdPnd:")
	}
	return pending&set("SigCgt:")&^set("SigBlk:") != 0
}
