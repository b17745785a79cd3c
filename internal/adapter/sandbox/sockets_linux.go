//go:build amd64 || arm64

package sandbox

import "golang.org/x/sys/unix"

// Options of sockets that change where packets go, or whose they are, behind
// the back of who judged the address: source routes and other headers, a
// device, a connection that is made at the first write, another protocol above,
// a port that is shared with a server outside.
var turningOptions = []struct {
	level uint32
	names []uint32
}{
	{unix.SOL_SOCKET, []uint32{unix.SO_BINDTODEVICE, unix.SO_BINDTOIFINDEX, unix.SO_REUSEPORT, unix.SO_ATTACH_REUSEPORT_CBPF, unix.SO_ATTACH_REUSEPORT_EBPF, unix.SO_MARK}},
	{unix.SOL_IP, []uint32{unix.IP_OPTIONS, unix.IP_UNICAST_IF, unix.IP_TRANSPARENT}},
	{unix.SOL_IPV6, []uint32{
		unix.IPV6_RTHDR, unix.IPV6_2292RTHDR, unix.IPV6_2292PKTOPTIONS, unix.IPV6_HOPOPTS, unix.IPV6_2292HOPOPTS,
		unix.IPV6_DSTOPTS, unix.IPV6_2292DSTOPTS, unix.IPV6_RTHDRDSTOPTS, unix.IPV6_UNICAST_IF, unix.IPV6_TRANSPARENT, unix.IPV6_ADDRFORM,
	}},
	{unix.SOL_TCP, []uint32{unix.TCP_FASTOPEN, unix.TCP_FASTOPEN_CONNECT, unix.TCP_FASTOPEN_NO_COOKIE, unix.TCP_ULP, unix.TCP_REPAIR}},
}

// sockets leaves pairs and streams of the sandbox's own processes; with
// loopback, pawl makes what they bind, connect and listen to. Datagrams reach
// any socket that has a name, with an address in memory.
func (f filter) sockets(loopback bool) {
	kinds := func(b *program) { // of unix sockets
		b.arg(1)
		b.op(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf)
		b.jump(unix.BPF_JEQ, unix.SOCK_STREAM, 1, 0)
		b.jump(unix.BPF_JEQ, unix.SOCK_SEQPACKET, 0, 1)
		b.ret(allow)
		b.ret(eperm)
	}
	streams := func(b *program) {
		b.arg(0)
		b.jump(unix.BPF_JEQ, unix.AF_UNIX, 1, 0)
		b.ret(errnoAction(unix.EAFNOSUPPORT))
		kinds(b)
	}
	if loopback {
		f.when(unix.SYS_SOCKET, func(b *program) {
			b.arg(0)
			var own program
			kinds(&own)
			b.jump(unix.BPF_JEQ, unix.AF_UNIX, 0, uint8(len(own)))
			*b = append(*b, own...)
			b.jump(unix.BPF_JEQ, unix.AF_INET, 2, 0)
			b.jump(unix.BPF_JEQ, unix.AF_INET6, 1, 0)
			b.ret(errnoAction(unix.EAFNOSUPPORT))
			b.arg(1)
			b.op(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0xf)
			b.jump(unix.BPF_JEQ, unix.SOCK_STREAM, 1, 0)
			b.ret(eperm)
			b.arg(2) // other streams, such as MPTCP and SCTP, connect in ways of their own
			b.jump(unix.BPF_JEQ, 0, 2, 0)
			b.jump(unix.BPF_JEQ, unix.IPPROTO_TCP, 1, 0)
			b.ret(errnoAction(unix.EPROTONOSUPPORT))
			b.ret(allow)
		})
		f.options()
		f.each([]uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN}, tell)
	} else {
		f.when(unix.SYS_SOCKET, streams)
		// Nobody could connect to what is bound, but from outside, to a name that
		// somebody else is expected to have.
		f.each([]uint32{unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN}, errnoAction(unix.EACCES))
	}
	f.when(unix.SYS_SOCKETPAIR, streams)
	f.when(unix.SYS_SENDTO, func(b *program) {
		for _, half := range []uint32{0, 4} { // any address
			b.load(atArgs + 8*4 + half)
			b.jump(unix.BPF_JEQ, 0, 1, 0)
			b.ret(eperm)
		}
		b.arg(3)
		b.jump(unix.BPF_JSET, unix.MSG_FASTOPEN, 0, 1)
		b.ret(eperm)
		b.ret(allow)
	})
	flags := func(n uint32) func(*program) {
		return func(b *program) {
			b.arg(n)
			b.jump(unix.BPF_JSET, unix.MSG_FASTOPEN, 0, 1)
			b.ret(eperm)
			b.ret(allow)
		}
	}
	f.when(unix.SYS_SENDMSG, flags(2))
	f.when(unix.SYS_SENDMMSG, flags(3))
}

// options refuses the turning options, as a kernel that does not have them.
func (f filter) options() {
	f.when(unix.SYS_SETSOCKOPT, func(b *program) {
		for _, o := range turningOptions {
			var names program
			names.arg(2)
			names.either(o.names, errnoAction(unix.ENOPROTOOPT))
			names.ret(allow)
			b.arg(1)
			b.jump(unix.BPF_JEQ, o.level, 0, uint8(len(names)))
			*b = append(*b, names...)
		}
		b.ret(allow)
	})
}
