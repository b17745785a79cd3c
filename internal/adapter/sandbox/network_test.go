//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: a server and its client in one command.
func TestLoopback(t *testing.T) {
	for _, line := range []string{
		`python3 -c '
import socket, threading
for family, host in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET, "127.0.0.9"), (socket.AF_INET6, "::1"), (socket.AF_INET6, "::")):
    l = socket.socket(family); l.bind((host, 0)); l.listen()
    port = l.getsockname()[1]
    threading.Thread(target=lambda: l.accept()[0].sendall(b"hi")).start()
    c = socket.create_connection(({"0.0.0.0": "localhost", "::": "localhost"}.get(host, host), port), 5)
    print(host, c.recv(2)); c.close(); l.close()
'`,
		`: >log; python3 -um http.server 0 >log 2>&1 & for i in $(seq 100); do p=$(sed -n "s/.*port \([0-9]*\).*/\1/p" log); [ -n "$p" ] && break; sleep 0.05; done; curl -s -o /dev/null -w "%{http_code}\n" http://localhost:$p/; curl -s -o /dev/null -w "%{http_code}\n" http://127.0.0.1:$p/; rm log; kill $!`,
		`node -e '
const http = require("http"); const s = http.createServer((q, r) => r.end("hi")).listen(0, () => http.get({port: s.address().port, host: "localhost", agent: false}, r => { console.log(r.statusCode); http.get({port: s.address().port, host: "127.0.0.1", agent: false}, r => { console.log(r.statusCode); process.exit() }) }))' 2>&1`,
		`python3 -c '
import socket, os, threading
for path in (os.environ["TMPDIR"] + "/s%d" % os.getpid(), os.getcwd() + "/sock", "rel"):
    l = socket.socket(socket.AF_UNIX); l.bind(path); l.listen()
    threading.Thread(target=lambda: l.accept()[0].sendall(b"hi")).start()
    c = socket.socket(socket.AF_UNIX); c.connect(path); print(c.recv(2), oct(os.stat(path).st_mode)); l.close(); os.unlink(path)
'`,
		`python3 -c '
import asyncio
async def serve(r, w):
    w.write(await r.read(3)); await w.drain(); w.close()
async def main():
    s = await asyncio.start_server(serve, "localhost", 0)
    async def one():
        r, w = await asyncio.open_connection(*s.sockets[0].getsockname()[:2]); w.write(b"abc"); print(await r.read()); w.close()
    await asyncio.gather(*[one() for _ in range(50)])
asyncio.run(main())
' 2>&1`,
		`python3 -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); p = s.getsockname()[1]; s.close()
for host in "127.0.0.1", "::1", "localhost":
    try: socket.create_connection((host, p), 2)
    except OSError as e: print(e.errno)
s = socket.socket(); s.setblocking(False); print(s.connect_ex(("127.0.0.1", p)) in (111, 115))
'`,
		`python3 -c '
import socket, signal, os, threading, time
hit = []
signal.signal(signal.SIGUSR1, lambda *a: hit.append(1) or 1 / 0)
l = socket.socket(); l.bind(("127.0.0.1", 0)); l.listen()
pid = os.getpid()
if os.fork() == 0:
    time.sleep(0.2); os.kill(pid, signal.SIGUSR1); os._exit(0)
try: l.accept()
except ZeroDivisionError: print("handled", hit)
for i in range(3):
    if os.fork() == 0:
        l.accept()[0].sendall(b"x"); os._exit(0)
for i in range(3): print(socket.create_connection(l.getsockname(), 5).recv(1))
' 2>&1`,
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			root := folder(t)
			outside := bash(t, nil, root, line)
			if inside := bash(t, open(t, confine.Workspace, root), root, line); inside != outside || !strings.Contains(outside, "\n") {
				t.Errorf("%s\noutside:\n%s\ninside:\n%s", line, outside, inside)
			}
		})
	}
}

// SPEC 16.14: a person's browser, or any other program of the machine, reaches a server
// that a confined command started, on every address and by its unix socket.
func TestServersAreReached(t *testing.T) {
	const serve = `
import os, socket, sys
family, at = sys.argv[1:]
l = socket.socket(getattr(socket, family))
l.bind(at if family == "AF_UNIX" else (at, 0)); l.listen()
print(at if family == "AF_UNIX" else l.getsockname()[1], flush=True)
c, _ = l.accept(); c.sendall(b"seen " + c.recv(10))
`
	for _, args := range [][]string{{"AF_INET", "127.0.0.1"}, {"AF_INET", "0.0.0.0"}, {"AF_INET6", "::1"}, {"AF_INET6", "::"}, {"AF_UNIX", "sock"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			root := folder(t)
			cmd := exec.Command("python3", append([]string{"-c", serve}, args...)...)
			cmd.Dir = root
			out := must.Get(cmd.StdoutPipe())(t)
			c := must.Get(open(t, confine.Workspace, root).start(cmd, holding{}))(t)
			defer func() { c.End(); _ = c.Wait() }()
			there, err := bufio.NewReader(out).ReadString('\n') // once it listens
			if err != nil {
				t.Fatalf("the server does not start: %v", err)
			}
			network, at := "tcp", net.JoinHostPort(map[string]string{"::1": "::1"}[args[1]], strings.TrimSpace(there))
			if args[1] != "::1" {
				at = net.JoinHostPort("127.0.0.1", strings.TrimSpace(there))
			}
			if args[0] == "AF_UNIX" {
				network, at = "unix", filepath.Join(root, "sock")
			}
			client := must.Get(net.Dial(network, at))(t)
			defer client.Close()
			must.Done(t)(io.WriteString(client, "me"))
			if got, _ := io.ReadAll(client); string(got) != "seen me" {
				t.Errorf("%q", got)
			}
		})
	}
}
