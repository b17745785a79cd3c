//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// join connects to a server inside the sandbox. The server accepts only connections
// that are made here, so that a client outside, which expects another server on the
// port, reaches nobody.
func (n *network) join(t *took, at netip.AddrPort, ino uint64) error {
	n.mu.Lock()
	n.joining[ino]++
	n.mu.Unlock()
	err := t.reach(at)
	var name unix.Sockaddr
	if err == nil {
		name, err = unix.Getsockname(t.fd)
	}
	if err == nil {
		// Another may have got the port meanwhile.
		if _, now, ferr := n.find(at); ferr != nil || now != ino {
			_ = t.disconnect()
			err = unix.ECONNREFUSED
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.joined[joint{ino, unmapped(addrPort(name))}] = true
	}
	if n.joining[ino]--; n.joining[ino] == 0 {
		delete(n.joining, ino)
	}
	n.settled.Broadcast()
	return err
}

// unmapped returns an IPv4 address without its IPv6 form.
func unmapped(a netip.AddrPort) netip.AddrPort { return netip.AddrPortFrom(a.Addr().Unmap(), a.Port()) }

// accepts reports whether a connection that a server accepted was made by join. The
// entry is used up, since its address may belong to another connection later.
func (n *network) accepts(j joint) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if n.joined[j] {
			delete(n.joined, j)
			return true
		}
		if n.joining[j.server] == 0 {
			return false
		}
		n.settled.Wait()
	}
}

// accept makes accept4(2).
func (c caller) accept(number int32, addr, size uint64, flags int) error {
	if flags&^(unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK) != 0 {
		return unix.EINVAL
	}
	t, err := c.take(number)
	if err != nil {
		return err
	}
	defer t.close()
	own, err := unix.FcntlInt(uintptr(t.fd), unix.F_GETFL, 0)
	if err != nil {
		return err
	}
	for {
		fd, from, err := c.s.net.next(t.fd, flags)
		switch {
		case err == nil && c.owns(t, fd, from):
			defer unix.Close(fd)
			if err := c.tell(addr, size, from); err != nil {
				return err
			}
			return c.s.give(c.n, fd, flags)
		case err == nil:
			_ = unix.Close(fd) // a stranger
			continue
		case own&unix.O_NONBLOCK != 0 || !errors.Is(err, unix.EAGAIN):
			return err
		}
		if err := c.await(t.fd); err != nil {
			return err
		}
	}
}

// next accepts a waiting connection, or returns EAGAIN. Only pawl accepts, one at a
// time, so a connection that poll saw is still there.
func (n *network) next(fd, flags int) (int, unix.Sockaddr, error) {
	n.accepting.Lock()
	defer n.accepting.Unlock()
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if ready, err := unix.Poll(fds, 0); err == nil && ready == 0 {
		return -1, nil, unix.EAGAIN
	}
	return unix.Accept4(fd, unix.SOCK_CLOEXEC|flags)
}

// owns reports whether the other end of an accepted socket belongs to the sandbox.
func (c caller) owns(t *took, fd int, from unix.Sockaddr) bool {
	if t.domain == unix.AF_UNIX {
		// Those that pawl connected have its number.
		peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err == nil && int(peer.Pid) == os.Getpid()
	}
	return c.s.net.accepts(joint{t.ino, unmapped(addrPort(from))})
}

// await waits until a socket has something to accept. A signal that the caller
// wants to handle comes first, as it does in the kernel's own wait.
func (c caller) await(fd int) error {
	for {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, 50)
		switch {
		case n > 0:
			return nil
		case err != nil && !errors.Is(err, unix.EINTR):
			return err
		case !c.s.valid(c.n):
			return unix.EINTR
		case c.interrupted():
			return restart
		}
	}
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

// tell writes an address into the caller's memory.
func (c caller) tell(addr, size uint64, from unix.Sockaddr) error {
	if addr == 0 {
		return nil
	}
	var sa []byte
	switch from := from.(type) {
	case *unix.SockaddrInet4:
		sa = binary.NativeEndian.AppendUint16(sa, unix.AF_INET)
		sa = binary.BigEndian.AppendUint16(sa, uint16(from.Port))
		sa = append(append(sa, from.Addr[:]...), make([]byte, 8)...)
	case *unix.SockaddrInet6:
		sa = binary.NativeEndian.AppendUint16(sa, unix.AF_INET6)
		sa = binary.BigEndian.AppendUint16(sa, uint16(from.Port))
		sa = append(append(append(sa, 0, 0, 0, 0), from.Addr[:]...), 0, 0, 0, 0)
	default: // a client without a name
		sa = binary.NativeEndian.AppendUint16(sa, unix.AF_UNIX)
	}
	room, err := c.read(size, 4)
	if err != nil || len(room) < 4 {
		return unix.EFAULT
	}
	n := int(int32(binary.NativeEndian.Uint32(room)))
	if n < 0 {
		return unix.EINVAL
	}
	if err := c.write(size, binary.NativeEndian.AppendUint32(nil, uint32(len(sa)))); err != nil {
		return err
	}
	return c.write(addr, sa[:min(n, len(sa))])
}

// write puts bytes into the caller's memory.
func (c caller) write(addr uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if !c.s.valid(c.n) {
		return unix.EINTR
	}
	local := []unix.Iovec{{Base: &b[0]}}
	local[0].SetLen(len(b))
	if n, err := unix.ProcessVMWritev(int(c.n.Task), local, []unix.RemoteIovec{{Base: uintptr(addr), Len: len(b)}}, 0); err != nil || n < len(b) {
		return unix.EFAULT
	}
	return nil
}
