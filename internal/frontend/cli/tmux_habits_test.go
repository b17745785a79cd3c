//go:build linux && tmux

package cli

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// pid is the process in the window.
func (x *inTmux) pid() int {
	x.t.Helper()
	shell := strings.TrimSpace(x.run("display-message", "-p", "#{pane_pid}"))
	b, err := os.ReadFile("/proc/" + shell + "/task/" + shell + "/children")
	must.Do(x.t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	must.Do(x.t, err)
	return n
}

// What people do in a real terminal: a denial with its reason, a correction while it
// works, an output of 10,000 lines, three fast Ctrl+C, a death by kill -9 and the
// session again.
//
// Issue 14, Proof; SPEC 10.3, 10.4, 18.2, 18.3
func TestHabitsInTmux(t *testing.T) {
	srv := httptest.NewServer(&llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		text := string(body)
		has := func(s string) bool { return strings.Contains(text, s) }
		switch {
		case has("zz die"):
			return llmtest.Use("bash", `{"command":"echo begun; sleep 1000"}`)
		case has("zz hang") && !has("hung up"):
			return llmtest.Use("bash", `{"command":"echo hung up; sleep 1000"}`)
		case has("zz German"):
			return llmtest.Say("auf Deutsch")
		case has("zz steer") && !has("first half"):
			return llmtest.Use("bash", `{"command":"echo first half; sleep 4"}`)
		case has("zz comment"):
			return llmtest.Say("a comment then")
		case has("zz write"):
			return llmtest.Use("write", `{"path":"new.txt","content":"one\n"}`)
		case has("zz count") && !has("9999"):
			return llmtest.Use("bash", `{"command":"seq 10000"}`)
		}
		return llmtest.Say("counted")
	}})
	x, script := onTmux(t, srv)
	x.see("enter a task")
	x.send("zz count", "Enter")
	x.see("counted")
	x.see("10000 lines")
	x.send("zz write", "Enter")
	x.see("press a key")
	x.send("n")
	x.send("zz comment", "Enter")
	x.see("→ not allowed: zz comment")
	x.see("a comment then")
	x.send("zz steer", "Enter")
	x.see("first half")
	x.send("zz German please", "Enter")
	x.see("sent with the next request")
	x.see("delivered while it works")
	x.see("auf Deutsch")
	x.send("zz die", "Enter")
	x.see("● bash echo begun")
	must.Do(t, syscall.Kill(x.pid(), syscall.SIGKILL))
	x.see("Killed")
	x.send("stty sane; clear", "C-j") // nobody gave the terminal back
	x.shell()
	x.send("sh "+script+" -c", "C-j")
	x.see("auf Deutsch")
	x.see("enter a task")
	x.send("C-d")
	x.see("to continue this session")
	x.shell()
	x.send("clear; sh "+script, "Enter")
	x.see("enter a task")
	x.send("zz hang", "Enter")
	x.see("● bash echo hung up")
	x.send("typed", "C-c", "C-c", "C-c")
	x.see("to continue this session")
	x.shell()
}

// A session of 3,000 events is shown again with each line once, in order.
//
// Issue 14, Proof; SPEC 18.1
func TestReplayInTmux(t *testing.T) {
	const pairs = 1500
	var log strings.Builder
	for i := range pairs {
		fmt.Fprintf(&log, `{"type":"prompted","session":"s","seq":%d,"cause":0,"time":"2026-01-02T03:04:05Z","body":{"source":"person","text":"ask%04d"}}`+"\n", 2*i+1, i)
		fmt.Fprintf(&log, `{"type":"replied","session":"s","seq":%d,"cause":%d,"time":"2026-01-02T03:04:05Z","body":{"reply":{"message":{"role":"assistant","parts":[{"kind":"text","text":"answer%04d **bold**"}]}}}}`+"\n", 2*i+2, 2*i+1, i)
	}
	file := filepath.Join(t.TempDir(), "long.jsonl")
	must.Write(t, file, log.String())
	x, script := onTmux(t, httptest.NewServer(&llmtest.Server{Reply: func(int, []byte) llmtest.Turn { return llmtest.Say("x") }}))
	x.see("enter a task")
	x.send("C-d")
	x.shell()
	x.send("sh "+script+" sessions import "+file, "Enter")
	x.see("of other kinds left out")
	_, id, _ := strings.Cut(x.text(), "imported as session ")
	id, _, _ = strings.Cut(id, ":")
	x.send("clear; sh "+script+" --resume "+id, "Enter")
	x.see(fmt.Sprintf("answer%04d bold", pairs-1))
	x.see("enter a task")
	text, last := x.text(), 0
	for i := range pairs {
		for _, mark := range []string{fmt.Sprintf("ask%04d", i), fmt.Sprintf("answer%04d bold", i)} {
			if n := strings.Count(text, mark); n != 1 {
				t.Fatalf("%s is there %d times", mark, n)
			}
			at := strings.Index(text, mark)
			if at < last {
				t.Fatalf("%s is out of order", mark)
			}
			last = at
		}
	}
	x.send("C-d")
	x.see("to continue this session")
}
