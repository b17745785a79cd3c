//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listener is a listening socket of this machine.
type listener struct {
	ip  netip.Addr
	ino uint64
}

// diagReq is struct inet_diag_req_v2 behind its struct nlmsghdr.
type diagReq struct {
	head             unix.NlMsghdr
	family, protocol uint8
	ext, _           uint8
	states           uint32
	id               diagID
}

// diagID is struct inet_diag_sockid.
type diagID struct {
	sport, dport [2]byte
	src, dst     [16]byte
	device       uint32
	cookie       [2]uint32
}

// diagMsg is struct inet_diag_msg behind its struct nlmsghdr.
type diagMsg struct {
	head           unix.NlMsghdr
	family, state  uint8
	_, _           uint8
	id             diagID
	expires        uint32
	rqueue, wqueue uint32
	uid, inode     uint32
}

const listens = 10 // the state of TCP

// receiver asks the kernel which listening socket a connection to an address of
// the loopback would come to; ok is false for none. It is one look into a table:
// a list of all listeners takes a millisecond, since the kernel walks through the
// table for it.
func receiver(at netip.AddrPort) (l listener, ok bool, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return l, false, err
	}
	defer unix.Close(fd)
	q := diagReq{family: unix.AF_INET, protocol: unix.IPPROTO_TCP, states: 1 << listens}
	q.id.device, q.id.cookie = loopbackDevice(), [2]uint32{^uint32(0), ^uint32(0)}
	if at.Addr().Is4() {
		copy(q.id.src[:], at.Addr().AsSlice())
	} else {
		q.family, q.id.src = unix.AF_INET6, at.Addr().As16()
	}
	binary.BigEndian.PutUint16(q.id.sport[:], at.Port())
	q.head = unix.NlMsghdr{Len: uint32(unsafe.Sizeof(q)), Type: unix.SOCK_DIAG_BY_FAMILY, Flags: unix.NLM_F_REQUEST, Seq: 1}
	if err := unix.Sendto(fd, unsafe.Slice((*byte)(unsafe.Pointer(&q)), unsafe.Sizeof(q)), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return l, false, err
	}
	buf := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, buf, 0)
	switch {
	case err != nil:
		return l, false, err
	case n >= unix.SizeofNlMsghdr+4 && binary.NativeEndian.Uint16(buf[4:]) == unix.NLMSG_ERROR:
		if errno := unix.Errno(-int32(binary.NativeEndian.Uint32(buf[unix.SizeofNlMsghdr:]))); errno != unix.ENOENT {
			return l, false, errno
		}
		return l, false, nil
	case n < int(unsafe.Sizeof(diagMsg{})) || binary.NativeEndian.Uint16(buf[4:]) != unix.SOCK_DIAG_BY_FAMILY:
		return l, false, errors.New("an answer of another form")
	}
	var m diagMsg
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&m)), unsafe.Sizeof(m)), buf)
	l = listener{netip.AddrFrom16(m.id.src).Unmap(), uint64(m.inode)}
	if m.family == unix.AF_INET {
		l.ip = netip.AddrFrom4([4]byte(m.id.src[:4]))
	}
	return l, m.state == listens, nil
}

// loopbackDevice is the number of the loopback's device: a server may listen at
// that one alone.
var loopbackDevice = sync.OnceValue(func() uint32 {
	if i, err := net.InterfaceByName("lo"); err == nil {
		return uint32(i.Index)
	}
	return 0
})

// diagnoses reports whether the kernel supports receiver's question. Without that part,
// the kernel answers as if nobody listened.
func diagnoses() bool {
	own, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return false
	}
	defer own.Close()
	at := own.Addr().(*net.TCPAddr).AddrPort()
	l, ok, err := receiver(netip.AddrPortFrom(at.Addr().Unmap(), at.Port()))
	return err == nil && ok && l.ip == local4
}

// receives returns the socket that gets a connection to an address of the loopback.
func receives(at netip.AddrPort) (listener, bool) {
	l, ok, err := receiver(at)
	if err != nil {
		return listener{}, true // somebody who is not known
	}
	return l, ok
}
