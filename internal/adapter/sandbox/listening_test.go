//go:build linux && (amd64 || arm64)

package sandbox

import (
	"context"
	"net"
	"net/netip"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.12: pawl knows whose a server is that a connection would reach.
func TestReceiver(t *testing.T) {
	if !diagnoses() {
		t.Fatal("the kernel does not say who listens (INET_TCP_DIAG)")
	}
	share := func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		return err
	}
	for _, c := range []struct {
		network, at string
		asked       []string
		want        []string // the address that the answer's socket has, "" for nobody
	}{
		{"tcp4", "127.0.0.1", []string{"127.0.0.1", "127.0.0.2", "::1"}, []string{"127.0.0.1", "", ""}},
		{"tcp4", "127.0.0.9", []string{"127.0.0.1", "127.0.0.9"}, []string{"", "127.0.0.9"}},
		{"tcp4", "0.0.0.0", []string{"127.0.0.1", "127.0.0.2", "::1"}, []string{"0.0.0.0", "0.0.0.0", ""}},
		{"tcp6", "::1", []string{"127.0.0.1", "::1"}, []string{"", "::1"}},
		{"tcp", "::", []string{"127.0.0.1", "::1"}, []string{"::", "::"}},
		{"tcp6", "::", []string{"::1", "127.0.0.1"}, []string{"::", ""}},
	} {
		for _, control := range []func(string, string, syscall.RawConn) error{nil, share} {
			l := must.Get((&net.ListenConfig{Control: control}).Listen(context.Background(), c.network, net.JoinHostPort(c.at, "0")))(t)
			port := l.Addr().(*net.TCPAddr).AddrPort().Port()
			var st unix.Stat_t
			raw, err := l.(*net.TCPListener).SyscallConn()
			if err == nil {
				err = raw.Control(func(fd uintptr) { _ = unix.Fstat(int(fd), &st) })
			}
			must.Do(t, err)
			for i, a := range c.asked {
				got, ok, err := receiver(netip.AddrPortFrom(netip.MustParseAddr(a), port))
				switch want := c.want[i]; {
				case err != nil:
					t.Errorf("%s %s, asked for %s: %v", c.network, c.at, a, err)
				case want == "" && ok && got.ino == st.Ino: // another's socket may have the port at another address
					t.Errorf("%s %s, asked for %s: %v", c.network, c.at, a, got)
				case want != "" && (!ok || got.ip != netip.MustParseAddr(want) || got.ino != st.Ino):
					t.Errorf("%s %s, asked for %s: %v, %v, want %s of %d", c.network, c.at, a, got, ok, want, st.Ino)
				}
			}
			_ = l.Close()
			if got, ok, err := receiver(netip.AddrPortFrom(netip.MustParseAddr(c.asked[0]), port)); ok && got.ino == st.Ino || err != nil {
				t.Errorf("%s %s after its end: %v, %v", c.network, c.at, got, err)
			}
		}
	}
}
