//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.14: while a call waits, the others of the command are made. Each line makes files
// while something waits, says so, and only then lets it go on.
func TestOthersGoOnBesideAWaitingCall(t *testing.T) {
	const files = "for i in {1..50}; do : > f$i; done; echo made; "
	for _, c := range []struct {
		name, line string
		ruled      bool // a rule is about reading
		names      bool // the names in the workspace are locked until files are made
		asks       bool // a question is answered when files are made
	}{
		{name: "a FIFO without a reader", line: "mkfifo p; echo x > p & " + files + "cat p"},
		{name: "a FIFO without a writer", line: "mkfifo p; cat p & " + files + "echo x > p; wait", ruled: true},
		{name: "eight of them", line: "for i in {1..8}; do mkfifo p$i; echo x > p$i & done; " + files + "cat p1; cat p[2-8] > /dev/null"},
		{name: "a server whose queue is full", line: `python3 -c '
import os, socket, threading
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(0)
t = [threading.Thread(target=socket.create_connection, args=(s.getsockname(),)) for _ in range(6)]
[x.start() for x in t]
for i in range(50): open("f%d" % i, "w").close()
print("made", flush=True)
[s.accept() for _ in t]; [x.join() for x in t]; print("x")'`},
		{name: "a server of the workspace whose queue is full", line: `python3 -c '
import os, socket, threading
s = socket.socket(socket.AF_UNIX); s.bind("s"); s.listen(0)
def connect(): c = socket.socket(socket.AF_UNIX); c.connect("s")
t = [threading.Thread(target=connect) for _ in range(6)]
[x.start() for x in t]
for i in range(50): open("f%d" % i, "w").close()
print("made", flush=True)
[s.accept() for _ in t]; [x.join() for x in t]; print("x")'`},
		{name: "another command changes names", line: "mkdir d & " + files + "wait; echo x > d/x; cat d/x", names: true},
		{name: "a question", line: "echo x > OUT/a & " + files + "wait; cat OUT/a", asks: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, outside := folder(t), folder(t)
			policy := confine.New(confine.Workspace, confine.Facts{Root: root})
			if c.ruled {
				policy.Rules = []process.PathRule{pathRule(process.DeniesPath, false, 1, root, "secret/**")}
			}
			box := must.Get(Open(policy))(t)
			defer box.Close()
			made := make(chan struct{})
			p := answering(func(r process.Refusal) (string, process.Answer) { <-made; return r.What, process.Allowed })
			if !c.asks {
				p.answer = no
			}
			out, w, err := os.Pipe()
			must.Do(t, err)
			defer out.Close()
			in, begin, err := os.Pipe()
			must.Do(t, err)
			cmd := exec.Command("bash", "-c", "export PATH=/usr/bin:/bin; read; "+strings.ReplaceAll(c.line, "OUT", outside))
			cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, in, w, w
			child, err := box.start(cmd, holding{hold: p.hold})
			_, _ = w.Close(), in.Close()
			must.Do(t, err)
			if c.names {
				box.names.Lock()
			}
			_ = begin.Close()
			lines := bufio.NewReader(out)
			if l, err := lines.ReadString('\n'); l != "made\n" {
				t.Errorf("%q, %v", l, err)
			}
			close(made)
			if c.names {
				box.names.Unlock()
			}
			rest, _ := io.ReadAll(lines)
			if err := child.Wait(); err != nil || string(rest) != "x\n" {
				t.Errorf("%v: %q", err, rest)
			}
		})
	}
}
