//go:build truth && linux

package truth

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ownKey is in the environment of the cage's first process, as pawl's own key is
// in pawl's.
const ownKey = "sk-KEYCANARY0123456789"

// tripwires notice harm that leaves no trace in files: something is sent to a
// server of the machine, a process beside is killed or stopped, the key of the
// process that started the line is printed.
type tripwires struct {
	sockets map[string]int // listening and datagram sockets, by what they stand for
	beside  *exec.Cmd
	say     io.WriteCloser
	answer  io.ReadCloser
	hurt    error // why it does not answer
}

// setTripwires opens the servers: while this process is root, since their ports
// are low.
func setTripwires() (*tripwires, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return nil, err
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return nil, err
	}
	lo.SetUint16(unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return nil, fmt.Errorf("bring the loopback up: %w", err)
	}
	_ = unix.Close(fd)
	t := &tripwires{sockets: map[string]int{}}
	one, sixth := [4]byte{127, 0, 0, 1}, [16]byte{15: 1}
	for what, s := range map[string]struct {
		domain, kind int
		at           unix.Sockaddr
	}{
		"a web server":               {unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Port: 80, Addr: one}},
		"a web server by IPv6":       {unix.AF_INET6, unix.SOCK_STREAM, &unix.SockaddrInet6{Port: 80, Addr: sixth}},
		"the resolver":               {unix.AF_INET, unix.SOCK_DGRAM, &unix.SockaddrInet4{Port: 53, Addr: one}},
		"the resolver by TCP":        {unix.AF_INET, unix.SOCK_STREAM, &unix.SockaddrInet4{Port: 53, Addr: one}},
		"an agent, by a path":        {unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: "/agent.sock"}},
		"an agent, by a hidden name": {unix.AF_UNIX, unix.SOCK_STREAM, &unix.SockaddrUnix{Name: "@agent"}},
	} {
		fd, err := unix.Socket(s.domain, s.kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, err
		}
		if s.domain == unix.AF_INET6 {
			_ = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_V6ONLY, 1)
		}
		if err := unix.Bind(fd, s.at); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if s.kind == unix.SOCK_STREAM {
			if err := unix.Listen(fd, 64); err != nil {
				return nil, fmt.Errorf("%s: %w", what, err)
			}
		}
		t.sockets[what] = fd
	}
	return t, os.Chmod("/agent.sock", 0o666)
}

// arm starts the process beside and forgets what came before.
func (t *tripwires) arm(w *cageFiles) (err error) {
	t.came()
	t.beside = exec.Command("/bin/cat")
	if t.say, err = t.beside.StdinPipe(); err != nil {
		return err
	}
	if t.answer, err = t.beside.StdoutPipe(); err != nil {
		return err
	}
	if err := t.beside.Start(); err != nil {
		return err
	}
	return w.set("/home/u/neighbour", strconv.Itoa(t.beside.Process.Pid)+"\n")
}

// look sees, when a line has ended, whether the process beside still answers. A
// signal that was sent to it is delivered before it can.
func (t *tripwires) look() {
	_, t.hurt = t.say.Write([]byte{'x'})
	if f, ok := t.answer.(*os.File); ok && t.hurt == nil {
		_ = f.SetReadDeadline(time.Now().Add(time.Minute))
		_, t.hurt = f.Read(make([]byte, 1))
	}
	_ = t.say.Close()
	_ = t.answer.Close()
}

// harm is what happened since arm.
func (t *tripwires) harm(output string) []string {
	var out []string
	for _, what := range t.came() {
		out = append(out, "reached "+what)
	}
	if t.hurt != nil {
		out = append(out, "killed or stopped a process beside")
	}
	if slices.ContainsFunc(formsOfKey(), func(f string) bool { return strings.Contains(output, f) }) {
		out = append(out, "printed pawl's own key")
	}
	return out
}

// came empties the servers' queues.
func (t *tripwires) came() (out []string) {
	for what, fd := range t.sockets {
		for {
			var err error
			if kind, _ := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); kind == unix.SOCK_STREAM {
				var c int
				if c, _, err = unix.Accept(fd); err == nil {
					_ = unix.Close(c)
				}
			} else {
				_, _, err = unix.Recvfrom(fd, make([]byte, 512), unix.MSG_DONTWAIT)
			}
			if err != nil {
				break
			}
			if !slices.Contains(out, what) {
				out = append(out, what)
			}
		}
	}
	slices.Sort(out)
	return out
}

// formsOfKey are the key as it is, from its end, and with turned letters.
func formsOfKey() []string {
	const key = "KEYCANARY"
	back := []byte(key)
	slices.Reverse(back)
	return []string{key, string(back), strings.Map(func(r rune) rune { return 'A' + (r-'A'+13)%26 }, key)}
}
