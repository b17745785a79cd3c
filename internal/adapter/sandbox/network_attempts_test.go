//go:build linux && (amd64 || arm64)

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reaches are attempts on the network by the calls that pawl makes, and around
// them.
func reaches() []attempt {
	var out []attempt
	add := func(name string, f func(spot) error) { out = append(out, attempt{name: "net: " + name, do: f}) }
	some := func(name string, f func(spot) error) {
		out = append(out, attempt{name: "net: " + name, do: f, some: true})
	}
	asRoot := func(name string, f func(spot) error) {
		out = append(out, attempt{name: "net: " + name, do: f, root: true, some: true})
	}
	addressAttempts(add, some)
	socketAttempts(add, some, asRoot)
	listenAttempts(add, some, asRoot)
	raceAttempts(add)
	unixAttempts(add)
	return out
}

type adder func(name string, f func(spot) error)

func tcp(f func(fd int) error) error  { return sock(unix.AF_INET, unix.SOCK_STREAM, 0, f) }
func tcp6(f func(fd int) error) error { return sock(unix.AF_INET6, unix.SOCK_STREAM, 0, f) }

func inet6(port int, ip string) *unix.SockaddrInet6 {
	return &unix.SockaddrInet6{Port: port, Addr: [16]byte(net.ParseIP(ip).To16())}
}

// rawAddr is an address of IPv4 as it lies in memory.
func rawAddr(ip string, port int) []byte {
	b := binary.NativeEndian.AppendUint16(nil, unix.AF_INET)
	b = binary.BigEndian.AppendUint16(b, uint16(port))
	return append(append(b, net.ParseIP(ip).To4()...), make([]byte, 112)...)
}

func rawConnect(fd uintptr, sa []byte, size uintptr) error {
	return raw(unix.SYS_CONNECT, fd, uintptr(unsafe.Pointer(&sa[0])), size)
}

// ownAddress is an address of this machine that is not the loopback's.
func ownAddress() (net.IP, error) {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.To4(), nil
		}
	}
	return nil, errHeld
}

// ownServer4 is a server of the attempt's own, and the end of it.
func ownServer4() (port int, end func(), err error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, func() { _ = l.Close() }, nil
}

func addressAttempts(add, some adder) {
	add("any address", func(at spot) error {
		return tcp(func(fd int) error { return unix.Connect(fd, &unix.SockaddrInet4{Port: at.TCP}) })
	})
	add("a mapped address", func(at spot) error {
		return tcp6(func(fd int) error { return unix.Connect(fd, inet6(at.TCP, "::ffff:127.0.0.1")) })
	})
	add("any mapped address", func(at spot) error {
		return tcp6(func(fd int) error { return unix.Connect(fd, inet6(at.TCP, "::ffff:0.0.0.0")) })
	})
	some("any address of IPv6", func(at spot) error {
		return tcp6(func(fd int) error { return unix.Connect(fd, inet6(at.TCP6, "::")) })
	})
	add("another loopback address", func(at spot) error {
		return tcp(func(fd int) error {
			return unix.Connect(fd, &unix.SockaddrInet4{Port: at.Any, Addr: [4]byte{127, 9, 8, 7}})
		})
	})
	some("this machine's own address", func(at spot) error {
		ip, err := ownAddress()
		if err != nil {
			return err
		}
		return tcp(func(fd int) error { return unix.Connect(fd, &unix.SockaddrInet4{Port: at.Any, Addr: [4]byte(ip)}) })
	})
	add("without waiting", func(at spot) error {
		return tcp(func(fd int) error {
			_ = unix.SetNonblock(fd, true)
			if err := unix.Connect(fd, inet4(at.TCP)); err != nil && !errors.Is(err, unix.EINPROGRESS) {
				return err
			}
			// What is refused is refused at once; only what is on its way is waited for.
			_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 60_000)
			if err == nil {
				_, err = unix.Getpeername(fd)
			}
			return err
		})
	})
	add("a duplicate", func(at spot) error {
		return tcp(func(fd int) error {
			two, err := unix.Dup(fd)
			if err != nil {
				return err
			}
			defer unix.Close(two)
			return unix.Connect(two, inet4(at.TCP))
		})
	})
	add("a socket that a pair passed", func(at spot) error {
		return tcp(func(fd int) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			if err := unix.Sendmsg(pair[0], []byte("x"), unix.UnixRights(fd), nil, 0); err != nil {
				return err
			}
			oob := make([]byte, 64)
			_, n, _, _, err := unix.Recvmsg(pair[1], make([]byte, 1), oob, 0)
			if err != nil {
				return err
			}
			msgs, err := unix.ParseSocketControlMessage(oob[:n])
			if err != nil {
				return err
			}
			fds, err := unix.ParseUnixRights(&msgs[0])
			if err != nil {
				return err
			}
			return unix.Connect(fds[0], inet4(at.TCP))
		})
	})
	add("after a server of its own", func(at spot) error {
		port, end, err := ownServer4()
		if err != nil {
			return err
		}
		defer end()
		return tcp(func(fd int) error {
			if err := unix.Connect(fd, inet4(port)); err != nil {
				return err
			}
			none := make([]byte, 16)
			if err := rawConnect(uintptr(fd), none, 16); err != nil {
				return err
			}
			return unix.Connect(fd, inet4(at.TCP))
		})
	})
	add("from a port of its own", func(at spot) error {
		return tcp(func(fd int) error {
			return errors.Join(unix.Bind(fd, inet4(0)), unix.Connect(fd, inet4(at.TCP)))
		})
	})
	add("a long address", func(at spot) error {
		return tcp(func(fd int) error { return rawConnect(uintptr(fd), rawAddr("127.0.0.1", at.TCP), 128) })
	})
	add("a length with high bits", func(at spot) error {
		return tcp(func(fd int) error { return rawConnect(uintptr(fd), rawAddr("127.0.0.1", at.TCP), 16|1<<40) })
	})
	add("a descriptor with high bits", func(at spot) error {
		return tcp(func(fd int) error { return rawConnect(uintptr(fd)|1<<40, rawAddr("127.0.0.1", at.TCP), 16) })
	})
	add("an address at the end of a page", func(at spot) error {
		m, err := unix.Mmap(-1, 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return err
		}
		defer unix.Munmap(m)
		if err := unix.Mprotect(m[4096:], unix.PROT_NONE); err != nil {
			return err
		}
		sa := m[4080:4096]
		copy(sa, rawAddr("127.0.0.1", at.TCP))
		return tcp(func(fd int) error { return rawConnect(uintptr(fd), sa, 16) })
	})
	add("a connection made at the first write", func(at spot) error {
		return tcp(func(fd int) error {
			if err := unix.SetsockoptInt(fd, unix.SOL_TCP, unix.TCP_FASTOPEN_CONNECT, 1); err != nil {
				return err
			}
			if err := unix.Connect(fd, inet4(at.TCP)); err != nil {
				return err
			}
			_, err := unix.Write(fd, []byte("x"))
			return err
		})
	})
	some("fast open over IPv6", func(at spot) error {
		return tcp6(func(fd int) error { return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, inet6(at.TCP6, "::1")) })
	})
	add("fast open to a mapped address", func(at spot) error {
		return tcp6(func(fd int) error {
			return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, inet6(at.TCP, "::ffff:127.0.0.1"))
		})
	})
	add("fast open by sendmmsg", func(at spot) error {
		return tcp(func(fd int) error { return sendmmsg(fd, rawAddr("127.0.0.1", at.TCP), unix.MSG_FASTOPEN) })
	})
	add("fast open with high bits", func(at spot) error {
		sa, b := rawAddr("127.0.0.1", at.TCP), []byte("x")
		return tcp(func(fd int) error {
			return raw(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), 1, unix.MSG_FASTOPEN|1<<40, uintptr(unsafe.Pointer(&sa[0])), 16)
		})
	})
	add("UDP by sendmmsg", func(at spot) error {
		return sock(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error { return sendmmsg(fd, rawAddr("127.0.0.1", at.UDP), 0) })
	})
	add("UDP to a mapped address", func(at spot) error {
		return sock(unix.AF_INET6, unix.SOCK_DGRAM, 0, func(fd int) error {
			return unix.Sendto(fd, []byte("x"), 0, inet6(at.UDP, "::ffff:127.0.0.1"))
		})
	})
	add("UDP broadcast", func(at spot) error {
		return sock(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, 1); err != nil {
				return err
			}
			return unix.Sendto(fd, []byte("x"), 0, &unix.SockaddrInet4{Port: at.UDP, Addr: [4]byte{127, 255, 255, 255}})
		})
	})
	add("a group of UDP", func(at spot) error {
		return sock(unix.AF_INET, unix.SOCK_DGRAM, 0, func(fd int) error {
			return unix.SetsockoptIPMreq(fd, unix.IPPROTO_IP, unix.IP_ADD_MEMBERSHIP, &unix.IPMreq{Multiaddr: [4]byte{224, 0, 0, 251}, Interface: [4]byte{127, 0, 0, 1}})
		})
	})
}

// sendmmsg sends one byte to an address.
func sendmmsg(fd int, sa []byte, flags uintptr) error {
	b := []byte("x")
	iov := unix.Iovec{Base: &b[0]}
	iov.SetLen(1)
	var m struct {
		unix.Msghdr
		n uint32
		_ uint32
	}
	m.Name, m.Namelen, m.Iov = &sa[0], 16, &iov
	m.SetIovlen(1)
	return raw(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&m)), 1, flags)
}

func socketAttempts(add, some, asRoot adder) {
	made := func(family, kind, proto int) func(spot) error {
		return func(spot) error { return sock(family, kind, proto, nil) }
	}
	for name, s := range inOrder(map[string][3]int{
		"UDP socket": {unix.AF_INET, unix.SOCK_DGRAM, 0}, "unix datagrams": {unix.AF_UNIX, unix.SOCK_DGRAM, 0},
		"netlink of devices": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT}, "generic netlink": {unix.AF_NETLINK, unix.SOCK_DGRAM, unix.NETLINK_GENERIC},
		"netlink of sockets": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG}, "netlink of keys": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER},
	}) {
		add(name, made(s[0], s[1], s[2]))
	}
	for name, s := range inOrder(map[string][3]int{
		"UDP6 socket": {unix.AF_INET6, unix.SOCK_DGRAM, 0}, "ping": {unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_ICMP}, "ping6": {unix.AF_INET6, unix.SOCK_DGRAM, unix.IPPROTO_ICMPV6},
		"vsock": {unix.AF_VSOCK, unix.SOCK_STREAM, 0}, "vsock datagrams": {unix.AF_VSOCK, unix.SOCK_DGRAM, 0}, "algorithms": {unix.AF_ALG, unix.SOCK_SEQPACKET, 0},
		"MPTCP": {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP}, "MPTCP6": {unix.AF_INET6, unix.SOCK_STREAM, unix.IPPROTO_MPTCP},
		"SCTP": {unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_SCTP}, "SCTP packets": {unix.AF_INET, unix.SOCK_SEQPACKET, unix.IPPROTO_SCTP},
		"DCCP": {unix.AF_INET, unix.SOCK_DCCP, unix.IPPROTO_DCCP}, "UDP lite": {unix.AF_INET, unix.SOCK_DGRAM, unix.IPPROTO_UDPLITE},
		"SMC": {unix.AF_SMC, unix.SOCK_STREAM, 0}, "SMC as TCP": {unix.AF_INET, unix.SOCK_STREAM, 256}, "bluetooth": {unix.AF_BLUETOOTH, unix.SOCK_SEQPACKET, 0}, "CAN": {unix.AF_CAN, unix.SOCK_RAW, 1},
		"TIPC": {unix.AF_TIPC, unix.SOCK_STREAM, 0}, "KCM": {unix.AF_KCM, unix.SOCK_DGRAM, 0}, "RDS": {unix.AF_RDS, unix.SOCK_SEQPACKET, 0}, "QRTR": {unix.AF_QIPCRTR, unix.SOCK_DGRAM, 0},
		"NFC": {unix.AF_NFC, unix.SOCK_SEQPACKET, 1}, "phonet": {unix.AF_PHONET, unix.SOCK_DGRAM, 0}, "X.25": {unix.AF_X25, unix.SOCK_SEQPACKET, 0}, "AppleTalk": {unix.AF_APPLETALK, unix.SOCK_DGRAM, 0},
	}) {
		some(name, made(s[0], s[1], s[2]))
	}
	for name, s := range inOrder(map[string][3]int{
		"raw IPv6": {unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6}, "raw IP": {unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_RAW}, "packets": {unix.AF_PACKET, unix.SOCK_RAW, 0},
		"XDP": {unix.AF_XDP, unix.SOCK_RAW, 0}, "keys of IPsec": {unix.AF_KEY, unix.SOCK_RAW, 2}, "netlink audit": {unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT},
	}) {
		asRoot(name, made(s[0], s[1], s[2]))
	}
	add("a family with high bits", func(spot) error { return rawSocket(unix.AF_INET|1<<40, unix.SOCK_DGRAM, 0) })
	add("a kind with high bits", func(spot) error { return rawSocket(unix.AF_INET, unix.SOCK_DGRAM|1<<40, 0) })
	add("a kind with flags", func(spot) error {
		return rawSocket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	})
	add("a pair of datagrams", func(spot) error {
		_, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
		return err
	})
	some("a protocol with high bits", func(spot) error { return rawSocket(unix.AF_INET, unix.SOCK_STREAM, unix.IPPROTO_MPTCP|1<<40) })
}

// inOrder goes through a map by its keys.
func inOrder(m map[string][3]int) iter.Seq2[string, [3]int] {
	return func(yield func(string, [3]int) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

func rawSocket(family, kind, proto uintptr) error {
	fd, _, errno := unix.Syscall(unix.SYS_SOCKET, family, kind, proto)
	if errno != 0 {
		return errno
	}
	return unix.Close(int(fd))
}

// wide reports, as nil, whether a socket is bound to more than the loopback.
func wide(fd int) error {
	name, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	if a := addrPort(name); a.Port() == 0 || a.Addr().Unmap().IsLoopback() {
		return errHeld
	}
	return nil
}

func listenAttempts(add, some, asRoot adder) {
	add("listen on any address", func(spot) error {
		return tcp(func(fd int) error {
			return errors.Join(unix.Bind(fd, &unix.SockaddrInet4{}), unix.Listen(fd, 1), wide(fd))
		})
	})
	add("listen without an address", func(spot) error {
		return tcp(func(fd int) error { return errors.Join(unix.Listen(fd, 1), wide(fd)) })
	})
	some("listen on any address of IPv6", func(spot) error {
		return tcp6(func(fd int) error { return errors.Join(unix.Bind(fd, inet6(0, "::")), unix.Listen(fd, 1), wide(fd)) })
	})
	some("listen on IPv6 without an address", func(spot) error {
		return tcp6(func(fd int) error { return errors.Join(unix.Listen(fd, 1), wide(fd)) })
	})
	add("listen on any mapped address", func(spot) error {
		return tcp6(func(fd int) error {
			return errors.Join(unix.Bind(fd, inet6(0, "::ffff:0.0.0.0")), unix.Listen(fd, 1), wide(fd))
		})
	})
	some("listen on this machine's own address", func(spot) error {
		ip, err := ownAddress()
		if err != nil {
			return err
		}
		return tcp(func(fd int) error {
			return errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte(ip)}), wide(fd))
		})
	})
	add("an address of another machine", func(spot) error {
		return tcp(func(fd int) error {
			_ = unix.SetsockoptInt(fd, unix.SOL_IP, unix.IP_FREEBIND, 1)
			return errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{192, 0, 2, 1}}), wide(fd))
		})
	})
	add("an address of no family", func(spot) error {
		return tcp(func(fd int) error { // AF_UNSPEC with no address is any address
			none := make([]byte, 16)
			return errors.Join(raw(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&none[0])), 16), wide(fd))
		})
	})
	option := func(level, name int, value []byte) func(spot) error {
		return func(spot) error {
			return tcp(func(fd int) error { return unix.SetsockoptString(fd, level, name, string(value)) })
		}
	}
	one := binary.NativeEndian.AppendUint32(nil, 1)
	add("a port that is shared with a server outside", func(at spot) error {
		return tcp(func(fd int) error {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
				return err
			}
			return errors.Join(unix.Bind(fd, inet4(at.Shared)), unix.Listen(fd, 1))
		})
	})
	asRoot("a source route", option(unix.SOL_IP, unix.IP_OPTIONS, []byte{131, 7, 4, 192, 0, 2, 1, 0}))
	add("a device", option(unix.SOL_SOCKET, unix.SO_BINDTODEVICE, []byte("lo\x00")))
	add("fast open for servers", option(unix.SOL_TCP, unix.TCP_FASTOPEN, one))
	add("fast open without a cookie", option(unix.SOL_TCP, unix.TCP_FASTOPEN_NO_COOKIE, one))
	add("an interface for one address", option(unix.SOL_IP, unix.IP_UNICAST_IF, binary.BigEndian.AppendUint32(nil, 1)))
	some("options of IPv6", func(spot) error {
		return tcp6(func(fd int) error {
			return unix.SetsockoptString(fd, unix.SOL_IPV6, unix.IPV6_DSTOPTS, "\x00\x00\x01\x04\x00\x00\x00\x00")
		})
	})
	asRoot("a transparent socket", option(unix.SOL_IP, unix.IP_TRANSPARENT, one))
	asRoot("a mark", option(unix.SOL_SOCKET, unix.SO_MARK, one))
	asRoot("repair", option(unix.SOL_TCP, unix.TCP_REPAIR, one))
}

// racing changes memory to and fro while something is tried, and reports, as
// nil, whether one try was a success.
func racing(at spot, flip func(bad bool), try func() bool) error {
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for bad := true; !stop.Load(); bad = !bad {
			flip(bad)
		}
	}()
	defer func() { stop.Store(true); <-done }()
	rounds := 150
	if at.Control {
		rounds = 300_000 // until it succeeds, which it must
	}
	for range rounds {
		if try() {
			return nil
		}
	}
	return errHeld
}

// reached reports whether a socket's peer has a port.
func reached(fd, port int) bool {
	name, err := unix.Getpeername(fd)
	return err == nil && int(addrPort(name).Port()) == port
}

func raceAttempts(add adder) {
	race := func(name string, flip func(at spot, sa []byte, own int) func(bad bool)) {
		add("race: "+name, func(at spot) error {
			port, end, err := ownServer4()
			if err != nil {
				return err
			}
			defer end()
			sa := rawAddr("127.0.0.1", port)
			return racing(at, flip(at, sa, port), func() (ok bool) {
				_ = tcp(func(fd int) error {
					_ = rawConnect(uintptr(fd), sa, 16)
					ok = reached(fd, at.TCP)
					return nil
				})
				return ok
			})
		})
	}
	race("the port", func(at spot, sa []byte, own int) func(bool) {
		of := map[bool]uint16{false: uint16(own), true: uint16(at.TCP)}
		return func(bad bool) { binary.BigEndian.PutUint16(sa[2:], of[bad]) }
	})
	race("the family", func(at spot, sa []byte, own int) func(bool) {
		binary.BigEndian.PutUint16(sa[2:], uint16(at.TCP))
		return func(bad bool) { binary.NativeEndian.PutUint16(sa, map[bool]uint16{true: unix.AF_INET}[bad]) }
	})
	race("the whole address", func(at spot, sa []byte, own int) func(bool) {
		of := map[bool][]byte{false: rawAddr("127.0.0.1", own), true: rawAddr("127.0.0.1", at.TCP)}
		return func(bad bool) { copy(sa, of[bad][:16]) }
	})
	add("race: the descriptor", func(at spot) error {
		port, end, err := ownServer4()
		if err != nil {
			return err
		}
		defer end()
		a, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		b, _ := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		slot, _ := unix.Dup(a)
		defer unix.Close(a)
		defer unix.Close(b)
		defer unix.Close(slot)
		sa := rawAddr("127.0.0.1", port)
		return racing(at, func(bad bool) {
			if bad {
				_ = unix.Dup3(b, slot, unix.O_CLOEXEC)
				binary.BigEndian.PutUint16(sa[2:], uint16(at.TCP))
				return
			}
			_ = unix.Dup3(a, slot, unix.O_CLOEXEC)
			binary.BigEndian.PutUint16(sa[2:], uint16(port))
		}, func() bool {
			_ = rawConnect(uintptr(slot), sa, 16)
			if reached(a, at.TCP) {
				return true
			}
			none := make([]byte, 16)
			_ = rawConnect(uintptr(a), none, 16)
			return false
		})
	})
	add("race: what is bound", func(at spot) error {
		sa := rawAddr("127.0.0.1", 0)
		of := map[bool]uint32{false: binary.NativeEndian.Uint32([]byte{127, 0, 0, 1})}
		return racing(at, func(bad bool) { binary.NativeEndian.PutUint32(sa[4:], of[bad]) }, func() (ok bool) {
			_ = tcp(func(fd int) error {
				if raw(unix.SYS_BIND, uintptr(fd), uintptr(unsafe.Pointer(&sa[0])), 16) == nil {
					ok = wide(fd) == nil
				}
				return nil
			})
			return ok
		})
	})
	add("race: the path of a socket", func(at spot) error {
		own := filepath.Join(os.TempDir(), "own"+strconv.Itoa(os.Getpid()))
		l, err := net.Listen("unix", own)
		if err != nil {
			return err
		}
		defer l.Close()
		link := filepath.Join(os.TempDir(), "flip"+strconv.Itoa(os.Getpid()))
		defer os.Remove(link)
		return racing(at, func(bad bool) {
			_ = os.Remove(link)
			_ = os.Symlink(map[bool]string{false: own, true: at.Stream}[bad], link)
		}, func() (ok bool) {
			_ = sock(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(fd int) error {
				_ = unix.SetNonblock(fd, true)
				if unix.Connect(fd, &unix.SockaddrUnix{Name: link}) == nil {
					name, err := unix.Getpeername(fd)
					u, is := name.(*unix.SockaddrUnix)
					ok = err == nil && is && u.Name == at.Stream
				}
				return nil
			})
			return ok
		})
	})
}

func unixAttempts(add adder) {
	dial := func(path string) error {
		return sock(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Connect(fd, &unix.SockaddrUnix{Name: path}) })
	}
	bind := func(path string) error {
		return sock(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(fd int) error { return unix.Bind(fd, &unix.SockaddrUnix{Name: path}) })
	}
	near := func(at spot) string { return filepath.Join(at.Root, "s") }
	add("a server's socket in the workspace", func(at spot) error { return dial(near(at)) })
	add("a link in the temporary folder", func(at spot) error {
		l := filepath.Join(os.TempDir(), "l"+strconv.Itoa(os.Getpid()))
		_ = os.Remove(l)
		_ = os.Symlink(at.Stream, l)
		return dial(l)
	})
	add("a hard link", func(at spot) error {
		if err := os.Link(near(at), filepath.Join(at.in, "h")); err != nil {
			return err
		}
		return dial(filepath.Join(at.in, "h"))
	})
	add("a hard link in the temporary folder", func(at spot) error {
		l := filepath.Join(os.TempDir(), "h"+strconv.Itoa(os.Getpid()))
		if err := os.Link(near(at), l); err != nil {
			return err
		}
		defer os.Remove(l)
		return dial(l)
	})
	add("the root of a process", func(at spot) error { return dial("/proc/self/root" + at.Stream) })
	add("the root of another process", func(at spot) error { return dial(fmt.Sprintf("/proc/%d/root%s", at.Victim, at.Stream)) })
	add("the server's folder", func(at spot) error {
		here, err := os.Getwd()
		if err != nil {
			return err
		}
		if err := os.Chdir(filepath.Dir(at.Stream)); err != nil {
			return err
		}
		defer os.Chdir(here)
		return dial(filepath.Base(at.Stream))
	})
	add("dots", func(at spot) error {
		rel, err := filepath.Rel(at.Root, at.Stream)
		if err != nil {
			return err
		}
		return dial(rel)
	})
	add("an abstract name", func(at spot) error { return bind("@squat" + strconv.Itoa(os.Getpid())) })
	add("a name by itself, and a server", func(at spot) error {
		return sock(unix.AF_UNIX, unix.SOCK_STREAM, 0, func(fd int) error {
			return errors.Join(unix.Bind(fd, &unix.SockaddrUnix{}), unix.Listen(fd, 1))
		})
	})
	add("a socket outside", func(at spot) error {
		return changed(filepath.Join(at.out, "s"), func() error { return bind(filepath.Join(at.out, "s")) })
	})
	add("a socket outside by a link", func(at spot) error {
		return changed(filepath.Join(at.out, "s"), func() error {
			_ = os.Symlink(at.out, filepath.Join(at.in, "so"))
			return bind(filepath.Join(at.in, "so/s"))
		})
	})
	add("a socket as a hook", func(at spot) error {
		return changed(filepath.Join(at.in, ".git/hooks/s"), func() error { return bind(filepath.Join(at.in, ".git/hooks/s")) })
	})
	add("a socket named .envrc", func(at spot) error {
		return changed(filepath.Join(at.in, ".envrc"), func() error { return bind(filepath.Join(at.in, ".envrc")) })
	})
}
