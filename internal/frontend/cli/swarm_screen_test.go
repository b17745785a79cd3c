//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// A swarm on a terminal is the screen, with its tasks as a tree, for the process that
// runs it and for one that looks. An interrupt releases the tasks, and it goes on from
// there. With --plain, on a simple terminal and in a pipe it is lines.
//
// SPEC 14.2, 18.1
func TestSwarmOnATerminal(t *testing.T) {
	home, err := os.MkdirTemp("", "pawl-home-") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	dir := t.TempDir()
	graph := makesFiles("one", "two")
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(graph), 0o600); err != nil {
		t.Fatal(err)
	}
	// The second task's worker waits until the test lets it go on.
	goOn := make(chan struct{})
	let := sync.OnceFunc(func() { close(goOn) })
	defer let() // the server waits for it
	reply := func(_ int, body []byte) llmtest.Turn {
		id, n := taskOf(body), strings.Count(string(body), `"tool_result"`)
		if id == "two" {
			<-goOn
		}
		return writes(id, n, nil)
	}
	run := []string{"-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo"}
	x := onTerminalIn(t, dir, home, "xterm-256color", reply, append([]string{"swarm", "run", "graph.yaml"}, run...)...)
	x.expect("a swarm works")
	x.expect("1 of 2 tasks")
	look := onTerminalIn(t, dir, home, "xterm-256color", reply, "swarm", "attach")
	look.expect("1 of 2 tasks")
	look.expect("you are watching")
	lines := onTerminalIn(t, dir, home, "xterm-256color", reply, "swarm", "attach", "--plain")
	lines.expect("one: merged")

	x.send("\x03")
	x.expect("to continue this session: pawl swarm resume ")
	x.ended(130)
	let()
	look.expect("it does not run any more")
	look.expect("pawl swarm resume ")
	look.ended(0)
	lines.expect("pawl swarm resume ")
	lines.ended(0)
	if _, err := os.Stat(filepath.Join(dir, "one.txt")); err == nil {
		t.Error("what is not verified was written")
	}

	x = onTerminalIn(t, dir, home, "xterm-256color", reply, append([]string{"swarm", "resume"}, run...)...)
	x.expect("2 of 2 tasks")
	x.expect("written to your files")
	x.expect("| two | merged") // the report
	x.ended(0)
	for _, name := range []string{"one.txt", "two.txt"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "x\n" {
			t.Errorf("%s: %q %v", name, text, err)
		}
	}

	for term, args := range map[string][]string{"xterm-256color": {"--plain"}, "dumb": nil} {
		dir, home := t.TempDir(), t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(graph), 0o600); err != nil {
			t.Fatal(err)
		}
		x := onTerminalIn(t, dir, home, term, reply, append(append([]string{"swarm", "run", "graph.yaml"}, run...), args...)...)
		x.expect("two: merged")
		x.ended(0)
		if strings.Contains(x.text(), "\x1b[?2004h") {
			t.Errorf("%s %v: the screen was opened", term, args)
		}
	}
}

// Whatever ends a swarm on the screen: the terminal is given back, the exit code says
// what it was, and what can go on is said with how, once only.
func TestSwarmEndsOnATerminal(t *testing.T) {
	for name, c := range map[string]struct {
		end    func(t *testing.T, x *terminal)
		code   int
		says   string
		resume bool
	}{
		"left by Ctrl+D": {func(_ *testing.T, x *terminal) { x.send("\x04") }, 130, "interrupted", true},
		"left by /quit":  {func(_ *testing.T, x *terminal) { x.send("/quit\r") }, 130, "interrupted", true},
		"terminated": {func(t *testing.T, x *terminal) {
			if err := x.cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}, 143, "interrupted", true},
		"cancelled": {func(t *testing.T, x *terminal) {
			onTerminalIn(t, x.dir, x.home, "dumb", nil, "swarm", "cancel").expect("is cancelled")
		}, 9, "nothing was written to your files", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), []byte(makesFiles("one")), 0o600); err != nil {
				t.Fatal(err)
			}
			goOn := make(chan struct{})
			defer close(goOn) // the server waits for it
			x := onTerminalIn(t, dir, t.TempDir(), "xterm-256color", func(int, []byte) llmtest.Turn {
				<-goOn
				return llmtest.Say("done")
			}, "swarm", "run", "graph.yaml", "-m", "anthropic/claude-script", "--sandbox", "off")
			x.expect("taken by w1")
			c.end(t, x)
			x.expect(c.says)
			x.ended(c.code)
			if got := strings.Contains(x.text(), "pawl swarm resume "); got != c.resume {
				t.Errorf("how to go on is said: %v; seen: %q", got, x.text())
			}
		})
	}
}
