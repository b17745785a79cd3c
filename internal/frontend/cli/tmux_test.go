//go:build linux && tmux

package cli

import (
	"fmt"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// inTmux is pawl in a window of a real terminal.
type inTmux struct {
	t      *testing.T
	socket string
}

func (x *inTmux) run(args ...string) string {
	x.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", x.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		x.t.Fatalf("tmux %s: %v: %s", args, err, out)
	}
	return string(out)
}

// text is scrollback and screen, with wrapped lines whole.
func (x *inTmux) text() string { return x.run("capture-pane", "-p", "-J", "-S", "-") }

// see waits for a text.
func (x *inTmux) see(text string) {
	x.t.Helper()
	x.until(fmt.Sprintf("%q", text), func(seen string) bool { return strings.Contains(seen, text) })
}

// shell waits until the shell has the terminal again: what is typed before goes to
// the program that ends.
func (x *inTmux) shell() {
	x.t.Helper()
	x.until("prompt of the shell", func(seen string) bool { return strings.HasSuffix(strings.TrimRight(seen, " \n"), ready) })
}

// until waits for a look of the terminal. There is nothing else to wait on.
func (x *inTmux) until(what string, is func(seen string) bool) {
	x.t.Helper()
	for began := time.Now(); !is(x.text()); time.Sleep(20 * time.Millisecond) {
		if time.Since(began) > patient {
			x.t.Fatalf("no %s came; seen:\n%s", what, x.text())
		}
	}
}

// ready is the prompt of the shell.
const ready = "shell>"

func (x *inTmux) send(keys ...string) { x.run(append([]string{"send-keys"}, keys...)...) }

// onTmux starts pawl on a scripted server in a window of tmux. script is the shell's
// command line that starts it.
func onTmux(t *testing.T, srv *httptest.Server, more ...string) (x *inTmux, script string) {
	t.Helper()
	t.Cleanup(srv.Close)
	dir, home := t.TempDir(), t.TempDir()
	x = &inTmux{t: t, socket: filepath.Join(t.TempDir(), "s")}
	env := append([]string{"TERM=tmux-256color", "PAWL_MODEL=anthropic/claude-script", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000", "ANTHROPIC_BASE_URL=" + srv.URL}, more...)
	c := pawl(t, dir, home, env)
	line := "env"
	for _, e := range c.Env {
		line += " '" + e + "'"
	}
	script = filepath.Join(t.TempDir(), "start")
	must.WriteMode(t, script, "cd '"+dir+"' && exec "+line+" '"+c.Path+"' \"$@\"\n", 0o700)
	x.run("start-server", ";", "set", "-g", "history-limit", "50000", ";", "new-session", "-d", "-x", "100", "-y", "30", "env", "PS1="+ready+" ", "sh")
	t.Cleanup(func() { x.run("kill-server") })
	x.shell()
	x.send("sh "+script, "Enter")
	return x, script
}

// The screen in a real terminal: replies while the window changes its size, a
// question, an interrupt, a death and the session again. Each line that was said
// is in the scrollback once and in order.
//
// SPEC 18.1, 18.3, 18.4
func TestScreenInTmux(t *testing.T) {
	const lines = 40
	srv := httptest.NewServer(&llmtest.Server{Reply: func(n int, body []byte) llmtest.Turn {
		if n == 1 {
			return llmtest.Use("write", `{"path":"new.txt","content":"one\n"}`)
		}
		if n == 3 {
			return llmtest.Use("bash", `{"command":"echo begun; sleep 1000"}`)
		}
		var b strings.Builder
		for i := range lines {
			fmt.Fprintf(&b, "reply%dline%03d %s\n\n", n, i, strings.Repeat("word ", i))
		}
		return llmtest.Turn{Text: b.String(), Piece: 9}
	}})
	x, script := onTmux(t, srv)
	x.see("enter a task")
	x.send("first", "Enter")
	for _, width := range []string{"70", "50", "90", "120", "60", "100", "80", "110"} {
		x.run("resize-window", "-x", width, "-y", "30")
	}
	x.see("1 model reply")
	x.send("second", "Enter")
	x.see("press a key")
	x.send("y")
	x.see("2 model replies")
	x.send("third", "Enter")
	x.see("● bash echo begun")
	x.send("kept")
	x.send("Escape")
	x.see("interrupted")
	x.see("› kept")
	text := x.text()
	for _, n := range []int{0, 2} {
		last := 0
		for i := range lines {
			mark := fmt.Sprintf("reply%dline%03d", n, i)
			if c := strings.Count(text, mark); c != 1 {
				t.Errorf("%s is there %d times", mark, c)
			}
			at := strings.Index(text, mark)
			if at < last {
				t.Errorf("%s is out of order", mark)
			}
			last = at
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	x.send("C-u")
	x.send("C-d")
	x.see("to continue this session")
	x.shell()
	x.send("clear; sh "+script+" -c", "Enter")
	x.see(fmt.Sprintf("reply2line%03d", lines-1))
	x.see("enter a task")
	x.send("C-d")
}

// A plan in a real terminal: it is edited in an editor, approved, and carried out as
// phases; meanwhile something is asked beside it, and the session is looked at.
//
// Issue 14, points 2, 5 and 6
func TestPlanInTmux(t *testing.T) {
	editor := filepath.Join(t.TempDir(), "editor")
	must.WriteMode(t, editor, "#!/bin/sh\necho '## Phase 3: tell of it' >> \"$1\"\n", 0o700)
	srv := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		switch text := string(body); {
		case strings.Contains(text, "question beside the conversation"):
			return llmtest.Say("forty-two")
		case strings.Contains(text, "exit code 0"):
			return llmtest.Say("all done")
		case strings.Contains(text, "Implement the plan"):
			return llmtest.Use("bash", `{"command":"sleep 5"}`)
		}
		return llmtest.Say("# Plan: a flag\n\n## Phase 1: parse it\n\n## Phase 2: test it\n")
	}})
	x, _ := onTmux(t, srv, "EDITOR="+editor)
	x.see("enter a task")
	x.send("/plan add a flag", "Enter")
	x.see("the plan has 2 phases")
	x.see("press a key")
	x.send("e")
	x.see("the plan has 3 phases")
	x.see("press a key")
	x.send("y")
	x.see("phase 1 of 3: parse it")
	x.see("● bash sleep 5")
	x.send("/btw what is it?", "Enter")
	x.see("│ forty-two")
	x.send("C-t")
	x.see("the session, unfolded")
	x.send("q")
	x.see("all done")
	x.see("2 model replies")
	x.send("C-d")
	x.see("to continue this session")
}
