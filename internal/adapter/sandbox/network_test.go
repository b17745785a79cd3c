//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

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

// SPEC 16.12: a client outside, which expects somebody else on the port or
// socket, is not answered: no byte of it is read, and none is sent.
func TestStrangersAreNotAnswered(t *testing.T) {
	const serve = `
import os, socket, sys
family, at, blocking = sys.argv[1], sys.argv[2], sys.argv[3] == "blocking"
l = socket.socket(getattr(socket, family))
l.bind(at if family == "AF_UNIX" else (at, 0)); l.listen()
print(at if family == "AF_UNIX" else l.getsockname()[1], flush=True)
if blocking: c, _ = l.accept()
else:
    import selectors
    s = selectors.DefaultSelector(); l.setblocking(False); s.register(l, selectors.EVENT_READ)
    while True:
        s.select()
        try: c, _ = l.accept(); break
        except BlockingIOError: pass
c.setblocking(True); got = c.recv(10); open("seen", "wb").write(got); c.sendall(b"seen")
`
	for _, args := range [][]string{
		{"AF_INET", "127.0.0.1", "blocking"}, {"AF_INET", "0.0.0.0", "waiting"}, {"AF_INET6", "::1", "blocking"}, {"AF_INET6", "::", "waiting"},
		{"AF_UNIX", "sock", "blocking"}, {"AF_UNIX", "sock", "waiting"},
	} {
		for _, confined := range []bool{true, false} {
			t.Run(strings.Join(args, " ")+map[bool]string{false: " unconfined"}[confined], func(t *testing.T) {
				t.Parallel()
				root := folder(t)
				cmd := exec.Command("python3", append([]string{"-c", serve}, args...)...)
				cmd.Dir = root
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				var end func()
				if confined {
					box := open(t, confine.Workspace, root)
					c, err := box.Start(cmd)
					if err != nil {
						t.Fatal(err)
					}
					end = func() { c.End(); _ = c.Wait() }
				} else {
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					end = func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
				}
				defer end()
				there, err := bufio.NewReader(out).ReadString('\n') // once it listens
				if err != nil {
					t.Fatalf("the server does not start: %v", err)
				}
				there = strings.TrimSuffix(there, "\n")
				// Another process, since pawl itself is none outside.
				client := exec.Command("python3", "-c", `
import socket, sys
family, at, there = sys.argv[1:]
c = socket.socket(getattr(socket, family)); c.connect(there if family == "AF_UNIX" else (at, int(there)))
try: c.sendall(b"password"); print(c.recv(10).decode(), end="")
except OSError: pass
`, args[0], map[string]string{"0.0.0.0": "127.0.0.1", "::": "::ffff:127.0.0.1"}[args[1]], there)
				if args[1] == "127.0.0.1" || args[1] == "::1" {
					client.Args[4] = args[1]
				}
				client.Dir = root
				said, err := client.Output()
				if err != nil {
					t.Fatal(err)
				}
				_, err = os.Stat(filepath.Join(root, "seen"))
				if answered := string(said) == "seen" && err == nil; answered == confined {
					t.Errorf("answered: %v, %q", answered, said)
				}
			})
		}
	}
}
