//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// A swarm on a terminal is the screen, with its tasks as a tree, for the process that
// runs it and for one that looks. An interrupt releases the tasks, and it goes on from
// there. With --plain, on a simple terminal and in a pipe it is lines.
//
// SPEC 14.2, 18.1
func TestSwarmOnATerminal(t *testing.T) {
	home, err := os.MkdirTemp("", "pawl-home-") // a socket's path must be short
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	dir := t.TempDir()
	graph := makesFiles("one", "two")
	must.Write(t, filepath.Join(dir, "graph.yaml"), graph)
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
	x.expect("a swarm runs")
	x.expect("1 of 2 tasks")
	look := onTerminalIn(t, dir, home, "xterm-256color", reply, "swarm", "attach")
	look.expect("1 of 2 tasks")
	look.expect("watching   ? keys")
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
		must.Write(t, filepath.Join(dir, "graph.yaml"), graph)
		x := onTerminalIn(t, dir, home, term, reply, append(append([]string{"swarm", "run", "graph.yaml"}, run...), args...)...)
		x.expect("two: merged")
		x.ended(0)
		if strings.Contains(x.text(), "\x1b[?2004h") {
			t.Errorf("%s %v: the screen was opened", term, args)
		}
	}
}

// SPEC 14.2: the person who runs a swarm on the screen steers it there: a worker is told
// something, and a task is picked and dropped.
func TestSwarmIsSteeredOnATerminal(t *testing.T) {
	t.Parallel()
	dir, never, told := t.TempDir(), make(chan struct{}), make(chan struct{})
	must.Write(t, filepath.Join(dir, "graph.yaml"), makesFiles("one", "two"))
	t.Cleanup(func() { close(never) })
	tell := sync.OnceFunc(func() { close(told) })
	x := onTerminalIn(t, dir, t.TempDir(), "xterm-256color", func(_ int, body []byte) llmtest.Turn {
		id, n := taskOf(body), strings.Count(string(body), `"tool_result"`)
		if strings.Contains(string(body), "be short") {
			tell()
			return llmtest.Turn{Text: "I am", Wait: never}
		}
		if id == "two" {
			return llmtest.Turn{Text: "I think", Wait: never}
		}
		return writes(id, n, nil)
	}, "swarm", "run", "graph.yaml", "-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo")
	x.expect("1 of 2 tasks")
	x.send("/swarm message one be short\r")
	x.expect("task one is merged")
	x.send("/swarm retry two be short\r")
	x.expect("task two: it is retried")
	<-told
	x.send("/swarm\r")
	x.expect("give it another goal")
	x.send("cancel")
	x.expect("cancel it, and")
	x.send("\r")
	x.expect("cancelled") // the answer, or the report that ends the swarm
	x.expect("written to your files")
	x.ended(0)
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
			must.Write(t, filepath.Join(dir, "graph.yaml"), makesFiles("one"))
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

// SPEC 14.2: a person who sees the swarm is asked once whether what is merged of a result
// that is not whole is written. Without a yes nothing is; a flag or a pipe asks nobody.
func TestSwarmAsksAboutAPart(t *testing.T) {
	const ask = "the result is incomplete: 1 of 2 tasks are merged"
	for name, c := range map[string]struct {
		args    []string
		answer  string
		code    int
		asks    bool
		written bool
	}{
		"yes on the screen":   {nil, "y", 9, true, true},
		"no on the screen":    {nil, "n", 9, true, false},
		"left on the screen":  {nil, "\x03", 9, true, false},
		"yes in lines":        {[]string{"--plain"}, "yes\n", 9, true, true},
		"nothing in lines":    {[]string{"--plain"}, "\n", 9, true, false},
		"interrupt in lines":  {[]string{"--plain"}, "\x03", 130, true, false},
		"with the flag":       {[]string{"--write-partial"}, "", 9, false, true},
		"JSON on a terminal":  {[]string{"--json"}, "", 9, false, false},
		"the time is up, yes": {[]string{"--timeout", "2s"}, "y", 9, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Write(t, filepath.Join(dir, "graph.yaml"), makesFiles("one")+"- {id: two, goal: write two.txt, accept: [test -f two.txt], after: [one]}\n")
			never := make(chan struct{})
			t.Cleanup(func() { close(never) })
			reply := func(_ int, body []byte) llmtest.Turn {
				switch id := taskOf(body); {
				case id == "one":
					return writes(id, strings.Count(string(body), `"tool_result"`), nil)
				case slices.Contains(c.args, "--timeout"):
					return llmtest.Turn{Text: "I think", Wait: never}
				}
				return llmtest.Say("I cannot do it")
			}
			yes := "[y]es"
			if !slices.Contains(c.args, "--plain") {
				yes = "press a key" // what was typed before the question was seen is no answer
			}
			args := []string{"swarm", "run", "graph.yaml", "-m", "anthropic/claude-script", "--sandbox", "off", "--permission-mode", "yolo"}
			x := onTerminalIn(t, dir, t.TempDir(), "xterm-256color", reply, append(args, c.args...)...)
			if c.asks {
				x.expect(ask)
				x.expect(yes)
				x.send(c.answer)
			}
			x.ended(c.code)
			if got := strings.Contains(x.text(), ask); got != c.asks {
				t.Errorf("asked: %v: %q", got, x.text())
			}
			if _, err := os.Stat(filepath.Join(dir, "one.txt")); (err == nil) != c.written {
				t.Errorf("written: %v: %q", err == nil, x.text())
			}
		})
	}
}
