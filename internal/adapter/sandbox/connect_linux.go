//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"net/netip"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// The states of TCP that matter here.
const (
	established = 1
	closed      = 7
	closeWait   = 8
)

func (t *took) state() int {
	info, err := unix.GetsockoptTCPInfo(t.fd, unix.SOL_TCP, unix.TCP_INFO)
	if err != nil {
		return -1
	}
	return int(info.State)
}

// errBusy means that a server's queue of connections is full.
var errBusy = errors.New("busy")

// atOnce calls f while the socket does not block.
func (t *took) atOnce(f func() error) (blocks bool, err error) {
	flags, err := unix.FcntlInt(uintptr(t.fd), unix.F_GETFL, 0)
	if err != nil {
		return false, err
	}
	if flags&unix.O_NONBLOCK != 0 {
		return false, f()
	}
	if _, err := unix.FcntlInt(uintptr(t.fd), unix.F_SETFL, flags|unix.O_NONBLOCK); err != nil {
		return true, err
	}
	err = f()
	_, _ = unix.FcntlInt(uintptr(t.fd), unix.F_SETFL, flags)
	return true, err
}

// reach connects to an address of this machine, at once or not at all: the kernel would
// retry a waiting connection later, when the port may belong to another server.
func (t *took) reach(at netip.AddrPort) error {
	_, err := t.atOnce(func() error {
		err := unix.Connect(t.fd, t.sockaddr(at))
		if !errors.Is(err, unix.EINPROGRESS) {
			return err
		}
		fds := []unix.PollFd{{Fd: int32(t.fd), Events: unix.POLLOUT}}
		for {
			if _, err = unix.Poll(fds, 20); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		if code, err := unix.GetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_ERROR); err == nil && code != 0 {
			return unix.Errno(code)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s := t.state(); s != established && s != closeWait {
		_ = t.disconnect()
		return errBusy
	}
	return nil
}

// join connects to a server of the sandbox.
func (n *network) join(t *took, at netip.AddrPort, ino uint64) error {
	if err := t.reach(at); err != nil {
		return err
	}
	// Another may have got the port meanwhile.
	if _, now, err := n.find(at); err != nil || now != ino {
		_ = t.disconnect()
		return unix.ECONNREFUSED
	}
	return nil
}

// unmapped returns an IPv4 address without its IPv6 form.
func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// disconnect ends a connection, or the attempt at one.
func (t *took) disconnect() error {
	var none [16]byte // AF_UNSPEC
	_, _, errno := unix.Syscall(unix.SYS_CONNECT, uintptr(t.fd), uintptr(unsafe.Pointer(&none)), 16)
	if errno != 0 {
		return errno
	}
	return nil
}

// find returns the server of the sandbox with an address, or with the address that
// stands for it: a socket that was bound to any address has only one here.
// ECONNREFUSED: nobody has the address. EACCES: a server outside has it.
func (n *network) find(to netip.AddrPort) (at netip.AddrPort, ino uint64, err error) {
	l, there := receives(to)
	first := netip.AddrPortFrom(local4, to.Port()) // which any address has the place of
	var other listener
	if !there && to != first {
		other, _ = receives(first)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if s := n.servers[other.ino]; other.ip == local4 && s.listens && s.any && (s.both || to.Addr().Is4()) {
		return first, other.ino, nil
	}
	switch {
	case !there:
		return to, 0, unix.ECONNREFUSED
	case l.ip != to.Addr() || !n.servers[l.ino].listens:
		return to, 0, unix.EACCES
	}
	return to, l.ino, nil
}

// socketAt returns what identifies the socket at a place in the file system.
func socketAt(p *place) (made, error) {
	fd, err := unix.Openat(p.dir, p.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return made{}, err
	}
	defer unix.Close(fd)
	return socketOf(fd)
}

func socketOf(fd int) (made, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_TYPE|unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return made{}, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return made{}, unix.ECONNREFUSED
	}
	return madeOf(&st), nil
}

// own reports whether an opened name is a socket that the sandbox made: pawl
// made it for a command, or it is in the box's temporary folder, where nobody
// else makes any.
func (n *network) own(fd int) bool {
	f, err := socketOf(fd)
	if err != nil {
		return false
	}
	if at, err := realPath(fd); err == nil && n.temp != "" && confine.Within(n.temp, at) {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.files[f]
}

// reachUnix connects to the socket that an opened name leads to.
func (t *took) reachUnix(c caller, fd int) error {
	for {
		blocks, err := t.atOnce(func() error { return unix.Connect(t.fd, &unix.SockaddrUnix{Name: self(fd)}) })
		if !blocks || !errors.Is(err, unix.EAGAIN) {
			return err
		}
		if !c.s.valid(c.n) {
			return unix.EINTR
		}
		time.Sleep(2 * time.Millisecond)
	}
}
