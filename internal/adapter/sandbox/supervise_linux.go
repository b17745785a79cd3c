//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/kept"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// notice is a call that the kernel holds until it is answered
// (struct seccomp_notif).
type notice struct {
	ID    uint64
	Task  uint32 // the thread
	Flags uint32
	Nr    int32
	Arch  uint32
	IP    uint64
	Args  [6]uint64
}

// answer is struct seccomp_notif_resp.
type answer struct {
	ID    uint64
	Val   int64
	Error int32
	Flags uint32
}

// gift is struct seccomp_notif_addfd.
type gift struct {
	ID       uint64
	Flags    uint32
	From     uint32
	To       uint32
	NewFlags uint32
}

// errGoOn is the answer that lets a call run as it is. Its arguments may change
// until then, so it is only given where Landlock refuses what the policy does.
var errGoOn = errors.New("the kernel decides")

// supervisor answers the notified calls of one command.
type supervisor struct {
	listener *os.File
	fd       int         // of the listener
	stopped  atomic.Bool // so that callers who go on and on do not keep the loop
	// policy is what the command may touch, with what was allowed while it ran.
	policy atomic.Pointer[confine.Policy]
	base   *confine.Policy // what Landlock holds
	// asks: a change of the workspace is not covered yet.
	asks    atomic.Bool
	editors []string
	line    string // the arguments of the command, as in /proc
	scratch *scratch
	opener  *opener // nil: no rule is about reading
	// keep is where what the command ends is kept; nil: nowhere. loses: the person allowed
	// the end of what cannot be kept.
	keep  *kept.Set
	loses atomic.Bool
	held
	umasks   umasks
	reserved atomic.Int64 // bytes, by fallocate
	done     chan struct{}
	calls    sync.WaitGroup
	// names is held while names in the workspace change. Only pawl changes
	// them for the box's commands, so what was looked at is what is moved.
	names    *sync.Mutex
	net      *network
	refusals refusals

	mu     sync.Mutex
	linked map[inode]bool      // files to which the sandbox made its own second names
	nested map[string][]string // see keptIn
	// moves counts the folders that the box's commands moved; nested is as of nestedAt.
	moves    *atomic.Int64
	nestedAt int64
}

type inode struct{ dev, ino uint64 }

// supervise answers on a listener until stop. It must run before the thread
// makes a call that is notified.
func supervise(fd int, b *Box, h holding) (*supervisor, error) {
	err := unix.SetNonblock(fd, true) // else Go's poller does not take it
	listener := os.NewFile(uintptr(fd), "listener")
	if err == nil {
		err = listener.SetReadDeadline(time.Time{}) // fails where the poller did not
	}
	if err != nil {
		_ = listener.Close()
		return nil, err
	}
	s := &supervisor{listener: listener, fd: fd, held: held{hold: h.hold, questions: map[process.Refusal]*question{}}, names: &b.names, moves: &b.moves, net: &b.net, done: make(chan struct{}), linked: map[inode]bool{}, nested: map[string][]string{}, umasks: umasks{of: map[uint32]uint32{}}}
	s.base = &b.policy
	s.policy.Store(s.base)
	s.asks.Store(h.asks)
	s.editors, s.line = h.editors, h.line
	s.scratch, s.opener = h.scratch, b.opener
	s.keep, _ = h.keep.(*kept.Set)
	go s.loop()
	return s, nil
}

// stop closes the listener: calls that are still made get ENOSYS.
func (s *supervisor) stop() {
	s.stopped.Store(true)
	_ = s.listener.SetReadDeadline(time.Now())
	<-s.done
	s.calls.Wait()
	_ = s.listener.Close()
}

// errLater is what a call returns that may have to wait. It is made anew, from the beginning,
// in a goroutine of its own.
var errLater = errors.New("not at once")

// loop makes the calls until no thread has the filter any more, or until stop.
func (s *supervisor) loop() {
	defer close(s.done)
	if listener, err := s.listener.SyscallConn(); err == nil {
		_ = listener.Read(s.handle) // ended by the last thread, or by the deadline of stop
	}
}

// handle makes the calls that wait now, one after the other: to start a goroutine for each
// would take longer than the call. What may have to wait gets one, so the others go on. It
// reports whether the loop ends: no thread is left that could make one, or stop was called.
func (s *supervisor) handle(uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}}
	for !s.stopped.Load() {
		// RECV would wait for the next call.
		if _, err := unix.Poll(fds, 0); errors.Is(err, unix.EINTR) {
			continue
		}
		if fds[0].Revents&unix.POLLIN == 0 {
			return fds[0].Revents != 0
		}
		var n notice
		if _, err := s.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)); err != nil {
			continue // whoever asked is dead
		}
		err := caller{s: s, n: &n}.make()
		if !errors.Is(err, errLater) {
			s.reply(&n, err)
			continue
		}
		s.calls.Add(1)
		go func() {
			defer s.calls.Done()
			caller{s, &n, true}.answer()
		}()
	}
	return true
}

// ioctl asks or tells the kernel, and returns the number that it answers. A signal makes it
// begin again, so that no call stays without its answer; only receiving returns, since
// whoever asked may be dead.
func (s *supervisor) ioctl(what uint, arg unsafe.Pointer) (int, error) {
	for {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(s.fd), uintptr(what), uintptr(arg))
		runtime.KeepAlive(arg)
		switch {
		case errno == 0:
			return int(n), nil
		case errno != unix.EINTR || what == unix.SECCOMP_IOCTL_NOTIF_RECV:
			return 0, errno
		}
	}
}

// valid reports whether a call still waits: its thread lives, so the number of
// the thread is still its own.
func (s *supervisor) valid(n *notice) bool {
	id := n.ID
	_, err := s.ioctl(unix.SECCOMP_IOCTL_NOTIF_ID_VALID, unsafe.Pointer(&id))
	return err == nil
}

// answer makes a call that may have to wait, and reports the result to the kernel.
func (c caller) answer() {
	err := c.make()
	// A call names at most two places, and one may have become a link meanwhile.
	var l *lack
	for range 8 {
		if !errors.As(err, &l) {
			break
		}
		if err = c.wait(l); err == nil {
			err = c.make()
		}
	}
	if errors.As(err, &l) {
		err = l.otherwise
	}
	c.s.reply(c.n, err)
}

// reply reports the result of a call to the kernel.
func (s *supervisor) reply(n *notice, err error) {
	r := answer{ID: n.ID}
	var errno unix.Errno
	var number given
	switch {
	case err == nil:
	case errors.As(err, &number):
		r.Val = int64(number)
	case errors.Is(err, errGoOn):
		r.Flags = unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE
	case errors.As(err, &errno):
		r.Error = -int32(errno)
	default:
		r.Error = -int32(unix.EPERM)
	}
	_, _ = s.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

// given is the result of a call that opened a file: the number of the caller's descriptor.
type given int

func (given) Error() string { return "opened" }

// give installs a file that pawl opened in the caller, which still waits: it is answered when
// pawl has closed its own descriptor, so that what it writes it can run at once.
func (s *supervisor) give(n *notice, fd int, flags int) error {
	g := gift{ID: n.ID, From: uint32(fd), NewFlags: uint32(flags & unix.O_CLOEXEC)}
	number, err := s.ioctl(unix.SECCOMP_IOCTL_NOTIF_ADDFD, unsafe.Pointer(&g))
	if err != nil {
		return err
	}
	return given(number)
}
