//go:build linux

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// terminal is a pseudo-terminal with pawl on it.
type terminal struct {
	t            *testing.T
	master, side *os.File
	before       unix.Termios
	cmd          *exec.Cmd
	home, dir    string

	mu   sync.Mutex
	seen []byte
	at   int           // up to where was expected
	more chan struct{} // capacity 1
}

// onTerminal starts pawl, line by line, on a new terminal of that name, with a model that
// gives these answers.
func onTerminal(t *testing.T, name string, reply func(n int, body []byte) llmtest.Turn) *terminal {
	t.Helper()
	return onTerminalIn(t, t.TempDir(), t.TempDir(), name, reply, "--plain")
}

// onTerminalIn is onTerminal in a folder, with a home and with arguments.
func onTerminalIn(t *testing.T, dir, home, name string, reply func(n int, body []byte) llmtest.Turn, args ...string) *terminal {
	t.Helper()
	srv := httptest.NewServer(&llmtest.Server{Reply: reply})
	t.Cleanup(srv.Close)
	return onTerminalWith(t, dir, home, []string{
		"TERM=" + name, "PAWL_MODEL=anthropic/claude-script",
		"ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL,
	}, args...)
}

// onTerminalWith is onTerminalIn with that environment only.
func onTerminalWith(t *testing.T, dir, home string, env []string, args ...string) *terminal {
	t.Helper()
	dir = must.Get(filepath.EvalSymlinks(dir))(t)
	return onTerminalAs(t, pawl(t, dir, home, env, args...), home)
}

// onTerminalAs starts a pawl on a new terminal.
func onTerminalAs(t *testing.T, cmd *exec.Cmd, home string) *terminal {
	t.Helper()
	x := &terminal{t: t, dir: cmd.Dir, home: home, more: make(chan struct{}, 1), cmd: cmd}
	x.openPair()
	x.before = x.state()
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = x.side, x.side, x.side
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	must.Do(t, x.cmd.Start())
	go x.read()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // where the test did not end it
		_ = x.master.Close()
		_ = x.side.Close()
	})
	return x
}

// openPair opens a pseudo-terminal: both of its sides.
func (x *terminal) openPair() {
	x.t.Helper()
	var err error
	x.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(x.t, err)
	fd := int(x.master.Fd())
	must.Do(x.t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	must.Do(x.t, err)
	x.side, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	must.Do(x.t, err)
	must.Do(x.t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 200}))
}

func (x *terminal) state() unix.Termios {
	x.t.Helper()
	s, err := unix.IoctlGetTermios(int(x.side.Fd()), unix.TCGETS)
	must.Do(x.t, err)
	return *s
}

func (x *terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		x.mu.Lock()
		x.seen = append(x.seen, buf[:n]...)
		x.mu.Unlock()
		select {
		case x.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return string(x.seen)
}

// expect waits for a text behind what was expected before.
func (x *terminal) expect(text string) {
	x.t.Helper()
	late := time.After(patient)
	for {
		x.mu.Lock()
		i := bytes.Index(x.seen[x.at:], []byte(text))
		if i >= 0 {
			x.at += i + len(text)
		}
		x.mu.Unlock()
		if i >= 0 {
			return
		}
		select {
		case <-x.more:
		case <-late:
			x.t.Fatalf("no %q came; seen: %q", text, x.text())
		}
	}
}

func (x *terminal) send(keys string) {
	x.t.Helper()
	must.Done(x.t)(x.master.WriteString(keys))
}

// ended waits for pawl's end, and checks that the terminal is as it was.
func (x *terminal) ended(codes ...int) {
	x.t.Helper()
	done := make(chan error, 1)
	go func() { done <- x.cmd.Wait() }()
	select {
	case err := <-done:
		if e := (*exec.ExitError)(nil); err != nil && !errors.As(err, &e) {
			x.t.Fatal(err)
		}
	case <-time.After(patient):
		x.t.Fatalf("pawl does not end; seen: %q", x.text())
	}
	if got := x.cmd.ProcessState.ExitCode(); !slices.Contains(codes, got) {
		x.t.Errorf("exit code %d, want %d; seen: %q", got, codes, x.text())
	}
	if s := x.state(); s != x.before {
		x.t.Errorf("the terminal was left as %+v, was %+v", s, x.before)
	}
}

// fifo makes a named pipe in the workspace; the function waits for a line of it.
func (x *terminal) fifo(name string) func() string {
	x.t.Helper()
	path := filepath.Join(x.dir, name)
	must.Do(x.t, unix.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR, 0) // both: opening waits for nobody
	must.Do(x.t, err)
	x.t.Cleanup(func() { _ = f.Close() })
	return func() string {
		x.t.Helper()
		must.Do(x.t, f.SetReadDeadline(time.Now().Add(patient)))
		line, err := bufio.NewReader(f).ReadString('\n')
		if err != nil {
			x.t.Fatalf("nothing was written into %s: %v; seen: %q", name, err, x.text())
		}
		return strings.TrimSpace(line)
	}
}

// calls are the closed calls of the only session, as its export has them.
func (x *terminal) calls() []event.CallDone {
	x.t.Helper()
	list, err := pawl(x.t, x.dir, x.home, nil, "sessions", "list").Output()
	must.Do(x.t, err)
	id, _, _ := strings.Cut(string(list), " ")
	export, err := pawl(x.t, x.dir, x.home, nil, "sessions", "export", "--format", "jsonl", id).Output()
	must.Do(x.t, err)
	var out []event.CallDone
	for l := range strings.Lines(string(export)) {
		var e struct {
			Type string
			Body json.RawMessage
		}
		must.Do(x.t, json.Unmarshal([]byte(l), &e))
		if e.Type != "call_done" {
			continue
		}
		var d event.CallDone
		must.Do(x.t, json.Unmarshal(e.Body, &d))
		out = append(out, d)
	}
	return out
}

const question = "what to do instead: "

// Who has no key and types a prompt at the question for a model is asked again.
//
// SPEC 10.1
func TestChoosesAModel(t *testing.T) {
	x := onTerminalWith(t, t.TempDir(), t.TempDir(), []string{"TERM=xterm-256color"}, "--plain")
	x.expect("model: ")
	x.send("fix the bug\r")
	x.expect("This model cannot be used here")
	x.expect("model: ")
	x.send("offline\r")
	x.expect("the built-in planner, free")
	x.send("\x04")
	x.ended(0)
}

// A person's way through a conversation on a real terminal: a prompt, a paste
// of two lines, a permission, an interrupt, and out.
// SPEC 4.7, 5.4, 10.1, 10.3
func TestLineOnATerminal(t *testing.T) {
	pasted := make(chan []byte, 1)
	x := onTerminal(t, "xterm-256color", func(n int, body []byte) llmtest.Turn {
		switch n {
		case 0:
			return llmtest.Say("a friendly answer")
		case 1:
			return llmtest.Use("bash", `{"command":"echo $$ > ready; sleep 1000"}`)
		}
		pasted <- body
		return llmtest.Say("two lines")
	})
	ready := x.fifo("ready")
	x.expect("> ")
	x.send("hellp\x7fo\r") // a slip, corrected
	x.expect("a friendly answer")
	x.expect("> ")
	x.send("run it\r")
	x.expect("sleep 1000")
	x.expect(question)
	x.send("y\r")
	pid := ready()
	x.send("\x03")
	x.expect("cancelled")
	x.expect("interrupted")
	if _, err := os.Stat("/proc/" + pid); err == nil {
		t.Error("the command still runs")
	}
	x.expect("> ")
	x.send("\x1b[200~one\rtwo\x1b[201~\r")
	x.expect("two lines")
	if body := <-pasted; !bytes.Contains(body, []byte(`one\ntwo`)) {
		t.Errorf("the pasted text was sent as %s", body)
	}
	x.expect("> ")
	x.send("half a prompt\x03")
	x.expect("half a prompt\r\n")
	x.expect("> ")
	x.send("/quit\r")
	x.ended(0)
	for _, s := range []string{"a friendly answer", "two lines"} {
		if n := strings.Count(x.text(), s); n != 1 {
			t.Errorf("%q is shown %d times: %q", s, n, x.text())
		}
	}
	done := x.calls()
	if len(done) != 1 || done[0].Outcome != event.Cancelled || done[0].Took > patient {
		t.Errorf("%+v", done)
	}
}

// SPEC 10.3: signals end it in order, wherever it is, with the terminal as it
// was and what ran gone.
func TestLineSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(c.signal.String()+" at the prompt", func(t *testing.T) {
			t.Parallel()
			x := onTerminal(t, "xterm", func(int, []byte) llmtest.Turn { return llmtest.Say("fine") })
			x.expect("> ")
			x.send("half a pro")
			x.expect("half a pro")
			must.Do(t, x.cmd.Process.Signal(c.signal))
			x.ended(c.code)
		})
		t.Run(c.signal.String()+" while a command runs", func(t *testing.T) {
			t.Parallel()
			x := onTerminal(t, "xterm", func(int, []byte) llmtest.Turn {
				return llmtest.Use("bash", `{"command":"echo $$ > ready; sleep 1000"}`)
			})
			ready := x.fifo("ready")
			x.expect("> ")
			x.send("run it\r")
			x.expect(question)
			x.send("y\r")
			pid := ready()
			must.Do(t, x.cmd.Process.Signal(c.signal))
			x.ended(c.code)
			if _, err := os.Stat("/proc/" + pid); err == nil {
				t.Error("the command still runs")
			}
			if done := x.calls(); len(done) != 1 || done[0].Outcome != event.Cancelled {
				t.Errorf("%+v", done)
			}
		})
	}
}

// SPEC 10.3: an empty input asks once, then it is left.
func TestLineTwiceLeaves(t *testing.T) {
	x := onTerminal(t, "xterm", func(int, []byte) llmtest.Turn { return llmtest.Say("fine") })
	x.expect("> ")
	x.send("\x03")
	x.expect("press Ctrl+C again to leave")
	x.expect("> ")
	x.send("\x03")
	x.ended(0)
}

// SPEC 16.4: /until goes on in a conversation, and says why it ended without.
func TestLineUntil(t *testing.T) {
	x := onTerminal(t, "xterm", func(n int, _ []byte) llmtest.Turn {
		if n == 1 {
			return llmtest.Use("write", `{"path": "good.txt", "content": "yes\n"}`)
		}
		return llmtest.Say("it is done")
	})
	x.expect("> ")
	must.Write(t, filepath.Join(x.dir, "check.sh"), "grep -q yes good.txt")
	x.send("/mode yolo\r")
	x.expect("> ")
	x.send("/until 'sh check.sh' write it\r")
	x.expect("exit code 2")
	x.expect("the model is asked to fix it")
	x.expect("exit code 0")
	x.expect("> ")
	x.send("/until false\r")
	x.expect("the goal false is not reached: exit code 1; the model changed nothing in 2 rounds")
	x.expect("> ")
	x.send("/until a | b\r")
	x.expect("join commands with &&")
	x.expect("> ")
	x.send("/quit\r")
	x.ended(0)
}

// SPEC 10.3: three interrupts in a row leave, whatever runs; the log is whole.
func TestLineThreeInterrupts(t *testing.T) {
	x := onTerminal(t, "xterm", func(int, []byte) llmtest.Turn {
		return llmtest.Turn{Text: "half an answer", Wait: make(chan struct{})}
	})
	x.expect("> ")
	x.send("hang\r")
	x.expect("half an")
	x.send("\x03")
	x.expect("interrupted")
	x.expect("> ")
	x.send("\x03\x03")
	x.ended(0, 130) // in order, or at once where they came within half a second
	if len(x.calls()) != 0 {
		t.Error("the log is not what it was")
	}
}

// A dumb terminal is sent no escape code at all, and everything works there.
// SPEC 10.3
func TestLineOnADumbTerminal(t *testing.T) {
	x := onTerminal(t, "dumb", func(n int, _ []byte) llmtest.Turn {
		if n == 0 {
			return llmtest.Use("bash", `{"command":"touch made"}`)
		}
		return llmtest.Say("all done")
	})
	x.expect("> ")
	x.send("y\nmake it\n") // one line too early is a prompt, not an answer
	x.expect(question)
	x.send("\x03")
	x.expect("interrupted")
	x.expect("> ")
	x.send("again\n")
	x.expect("all done")
	x.expect("> ")
	x.send("\x04")
	x.ended(0)
	if _, err := os.Stat(filepath.Join(x.dir, "made")); err == nil {
		t.Error("a question that was interrupted was taken for allowed")
	}
	if strings.ContainsAny(x.text(), "\x1b\x08") {
		t.Errorf("a dumb terminal was sent codes: %q", x.text())
	}
}
