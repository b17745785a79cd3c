//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// network is the network of a box's commands: their own sockets and the box's proxy.
// pawl makes each bind, connect and listen on a descriptor that it duplicated from the
// caller, with an address that it read once.
type network struct {
	temp  string
	proxy *outlet // nil: nothing opened it yet

	*sockets
}

// sockets are the servers that commands started. The boxes of a session share them: a
// grant opens another box, and a command in it still reaches the servers of earlier ones.
type sockets struct {
	mu      sync.Mutex
	servers map[uint64]server // by the inode of the socket
	files   map[made]bool
}

func newSockets() *sockets {
	return &sockets{servers: map[uint64]server{}, files: map[made]bool{}}
}

// server is a listening socket, or one that is bound, of the sandbox's.
type server struct {
	listens bool
	any     bool // was bound to any address, which stands for the loopback here
	both    bool // and takes IPv4 as well as IPv6
}

// took is a duplicate of the caller's socket.
type took struct {
	fd     int
	domain int
	ino    uint64
}

// take duplicates a socket of the caller. What the number means to the caller
// may change afterwards; this does not.
func (c caller) take(number int32) (*took, error) {
	if err := c.mayWait(); err != nil {
		return nil, err
	}
	pid, err := unix.PidfdOpen(int(c.n.Task), unix.O_EXCL) // PIDFD_THREAD: threads may have descriptors of their own
	if err != nil {
		return nil, unix.EACCES
	}
	defer unix.Close(pid)
	fd, err := unix.PidfdGetfd(pid, int(number), 0)
	if err != nil {
		if errors.Is(err, unix.EBADF) {
			return nil, err
		}
		return nil, unix.EACCES
	}
	t := &took{fd: fd}
	var st unix.Stat_t
	if t.domain, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN); err == nil {
		err = unix.Fstat(fd, &st)
	}
	t.ino = st.Ino
	if err == nil && !c.s.valid(c.n) {
		err = unix.EBADF
	}
	if err == nil && !t.known() {
		err = unix.EACCES // it came from outside, as standard input
	}
	if err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

func (t *took) close() { _ = unix.Close(t.fd) }

// known reports whether a socket is of a kind that commands can make.
func (t *took) known() bool {
	kind, err := unix.GetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return false
	}
	if t.domain == unix.AF_UNIX {
		return kind == unix.SOCK_STREAM || kind == unix.SOCK_SEQPACKET
	}
	proto, err := unix.GetsockoptInt(t.fd, unix.SOL_SOCKET, unix.SO_PROTOCOL)
	return err == nil && (t.domain == unix.AF_INET || t.domain == unix.AF_INET6) && kind == unix.SOCK_STREAM && proto == unix.IPPROTO_TCP
}

// address reads a socket address once.
func (c caller) address(addr, size uint64) ([]byte, error) {
	n := int(int32(size))
	if n < 2 || n > 128 {
		return nil, unix.EINVAL
	}
	b := make([]byte, n)
	if c.read(addr, b, false) < n {
		return nil, unix.EFAULT
	}
	return b, nil
}

func family(sa []byte) uint16 { return binary.NativeEndian.Uint16(sa) }

// ipAddress parses an address of a socket's family.
func (t *took) ipAddress(sa []byte) (netip.AddrPort, error) {
	need := map[int]int{unix.AF_INET: 16, unix.AF_INET6: 24}[t.domain]
	switch {
	case len(sa) < need:
		return netip.AddrPort{}, unix.EINVAL
	case int(family(sa)) != t.domain:
		return netip.AddrPort{}, unix.EAFNOSUPPORT
	}
	port := binary.BigEndian.Uint16(sa[2:])
	if t.domain == unix.AF_INET {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(sa[4:8])), port), nil
	}
	return netip.AddrPortFrom(netip.AddrFrom16([16]byte(sa[8:24])), port), nil
}

// sockaddr returns an address in the form of the socket's domain.
func (t *took) sockaddr(a netip.AddrPort) unix.Sockaddr {
	if t.domain == unix.AF_INET {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: a.Addr().Unmap().As4()}
	}
	return &unix.SockaddrInet6{Port: int(a.Port()), Addr: a.Addr().As16()}
}

var (
	local4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	local6 = netip.IPv6Loopback()
)

// bind makes bind(2).
func (c caller) bind(fd int32, addr, size uint64) error {
	t, err := c.take(fd)
	if err != nil {
		return err
	}
	defer t.close()
	sa, err := c.address(addr, size)
	if err != nil {
		return err
	}
	if t.domain == unix.AF_UNIX {
		return c.bindUnix(t, sa)
	}
	if t.domain == unix.AF_INET && family(sa) == unix.AF_UNSPEC {
		binary.NativeEndian.PutUint16(sa, unix.AF_INET) // of old, for any address
	}
	a, err := t.ipAddress(sa)
	if err != nil {
		return err
	}
	return c.bindTo(t, a)
}

// bindTo binds to the loopback only.
func (c caller) bindTo(t *took, a netip.AddrPort) error {
	ip := a.Addr().Unmap()
	s := server{any: ip.IsUnspecified()}
	switch {
	case ip.Is4() && s.any:
		ip = local4
	case s.any:
		only, err := unix.GetsockoptInt(t.fd, unix.SOL_IPV6, unix.IPV6_V6ONLY)
		if s.both = err == nil && only == 0; s.both {
			ip = local4 // one socket can have one address; a connect to ::1 is led here
		} else {
			ip = local6
		}
	case !ip.IsLoopback():
		c.s.refusals.add("listen", a.String())
		return unix.EADDRNOTAVAIL
	}
	if err := unix.Bind(t.fd, t.sockaddr(netip.AddrPortFrom(ip, a.Port()))); err != nil {
		return err
	}
	c.s.net.mu.Lock()
	defer c.s.net.mu.Unlock()
	c.s.net.servers[t.ino] = s
	return nil
}

// listen makes listen(2). A socket without an address would get any.
func (c caller) listen(fd int32, backlog int) error {
	t, err := c.take(fd)
	if err != nil {
		return err
	}
	defer t.close()
	name, err := unix.Getsockname(t.fd)
	if err != nil {
		return err
	}
	switch name := name.(type) {
	case *unix.SockaddrUnix:
		if name.Name == "" || name.Name[0] == '@' {
			return unix.EACCES // a name that anybody may take, in no folder
		}
		return unix.Listen(t.fd, backlog)
	case *unix.SockaddrInet4, *unix.SockaddrInet6:
		at := addrPort(name)
		if at.Port() == 0 {
			if err := c.bindTo(t, at); err != nil {
				return err
			}
		} else if !at.Addr().Unmap().IsLoopback() {
			return unix.EACCES
		}
	}
	n := c.s.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := unix.Listen(t.fd, backlog); err != nil {
		return err
	}
	s := n.servers[t.ino]
	s.listens = true
	n.servers[t.ino] = s
	return nil
}

func addrPort(sa unix.Sockaddr) netip.AddrPort {
	switch sa := sa.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(sa.Addr), uint16(sa.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(sa.Addr), uint16(sa.Port))
	}
	return netip.AddrPort{}
}

// connect makes connect(2).
func (c caller) connect(fd int32, addr, size uint64) error {
	t, err := c.take(fd)
	if err != nil {
		return err
	}
	defer t.close()
	sa, err := c.address(addr, size)
	if err != nil {
		return err
	}
	if t.domain == unix.AF_UNIX {
		return c.connectUnix(t, sa)
	}
	if family(sa) == unix.AF_UNSPEC {
		return t.disconnect()
	}
	a, err := t.ipAddress(sa)
	if err != nil {
		return err
	}
	return c.connectTo(t, a)
}

// connectTo connects to a server of the sandbox's own, or to its proxy.
func (c caller) connectTo(t *took, a netip.AddrPort) error {
	if t.state() != closed {
		return unix.EISCONN
	}
	ip := a.Addr().Unmap()
	if ip.IsUnspecified() { // which stands for this machine
		if ip = local6; a.Addr().Is4() || a.Addr().Is4In6() {
			ip = local4
		}
	}
	to := netip.AddrPortFrom(ip, a.Port())
	if p := c.s.net.proxy; p != nil && to == p.at {
		return c.connectProxy(t, p)
	}
	if !ip.IsLoopback() {
		return c.connectOutside(t, to)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		at, ino, err := c.s.net.find(to)
		if err != nil {
			if errors.Is(err, unix.EACCES) {
				return c.connectOutside(t, to)
			}
			return err
		}
		if err := c.s.net.join(t, at, ino); !errors.Is(err, errBusy) {
			return err
		}
		if !c.s.valid(c.n) {
			return unix.EINTR
		}
		time.Sleep(pause)
	}
}

// bindUnix makes a socket in the workspace. In a free folder Landlock decides,
// also of what the name has become by then.
func (c caller) bindUnix(t *took, sa []byte) error {
	file, err := c.unixPath("listen", sa)
	if err != nil {
		return err
	}
	if err := c.lockNames(); err != nil {
		return err
	}
	defer c.s.names.Unlock()
	p, err := c.find(unix.AT_FDCWD, file, false)
	if err != nil {
		return denied(err)
	}
	defer p.close()
	if p.there {
		return unix.EADDRINUSE
	}
	if err := c.judge(p, confine.Create); err != nil {
		return err
	}
	// By its whole path, which getsockname returns: below the workspace, names
	// change only under the lock.
	if err := unix.Bind(t.fd, &unix.SockaddrUnix{Name: p.path}); err != nil {
		return err
	}
	f, err := socketAt(p)
	if err != nil {
		return unix.EACCES
	}
	c.s.net.mu.Lock()
	c.s.net.files[f] = true
	c.s.net.mu.Unlock()
	return c.mode(p, 0o777&^c.umask())
}

// unixPath returns the path of a unix socket. Anybody may use names without a path.
func (c caller) unixPath(act string, sa []byte) (string, error) {
	name := sa[2:]
	switch {
	case family(sa) != unix.AF_UNIX:
		return "", unix.EINVAL
	case len(name) == 0:
		return "", unix.EACCES
	case name[0] == 0:
		c.s.refusals.add(act, "@"+string(bytes.TrimRight(name[1:], "\x00")))
		return "", unix.EACCES
	}
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	return string(name), nil
}

// denied returns the error for a path that pawl does not judge: it leads through /proc,
// or is a folder.
func denied(err error) error {
	if errors.Is(err, errGoOn) {
		return unix.EACCES
	}
	return err
}

// connectUnix connects to a socket that the sandbox made.
func (c caller) connectUnix(t *took, sa []byte) error {
	if family(sa) == unix.AF_UNSPEC {
		return unix.EINVAL
	}
	file, err := c.unixPath("connect", sa)
	if err != nil {
		return err
	}
	p, err := c.find(unix.AT_FDCWD, file, true)
	if err != nil {
		return denied(err)
	}
	defer p.close()
	fd, err := unix.Openat(p.dir, p.name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !c.s.net.own(fd) {
		return c.s.lacks(process.ActConnect, p.path, unix.EACCES)
	}
	return t.reachUnix(c, fd)
}
