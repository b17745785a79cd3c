//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.1: a person is asked once, where something would run, and again when
// it changed; what they are shown is what changed.
func TestTrustOnATerminal(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	write := func(name, text string) {
		t.Helper()
		must.Write(t, filepath.Join(dir, name), text)
	}
	start := func(args ...string) *terminal {
		return onTerminalIn(t, dir, home, "xterm", func(n int, _ []byte) llmtest.Turn {
			if n == 0 {
				return llmtest.Use("write", `{"path":"b.c","content":"int b;"}`)
			}
			return llmtest.Say("it is written")
		}, append([]string{"--plain", "--permission-mode", "accept-edits"}, args...)...)
	}
	const asks = "trust this folder? [y]es, [n]o: "
	leave := func(x *terminal, asked bool) {
		t.Helper()
		x.expect("> ")
		x.send("/quit\r")
		x.ended(0)
		if got := strings.Contains(x.text(), asks); got != asked {
			t.Errorf("asked: %v, want %v: %s", got, asked, x.text())
		}
	}
	leave(start(), false) // there is nothing
	write("Makefile", "check:\n\ttouch ran\n")
	leave(start("--no-autofix"), false)
	leave(start("--permission-mode", "plan"), false)
	leave(start("--trust"), false)

	x := start()
	x.expect("make in .: make check")
	x.expect("Makefile: touch ran")
	x.expect(asks)
	x.send("fix the test\r") // a prompt that was typed already
	x.expect("please answer y or n")
	x.expect(asks)
	x.send("n\r")
	x.expect("this folder is not trusted: its checks (make check) do not run (see pawl trust)")
	leave(x, true)
	leave(start(), false) // a no is remembered
	x = start()
	x.expect("do not run")
	leave(x, false)

	write("Makefile", "check:\n\ttouch ran2\n")
	x = start()
	x.expect(asks)
	x.send("y\r")
	x.expect("> ")
	x.send("write it\r")
	x.expect("check: make check  → exit code 0")
	leave(x, true)
	if _, err := os.Stat(filepath.Join(dir, "ran2")); err != nil {
		t.Error(err)
	}
	leave(start(), false)

	write("Makefile", "check:\n\ttouch ran3\n")
	x = start()
	x.expect("changed since you trusted it")
	x.expect("- Makefile: touch ran2")
	x.expect("+ Makefile: touch ran3")
	x.expect(asks)
	x.send("\x04") // no answer is none: the start ends
	x.ended(0, 1, 130)
	if _, err := os.Stat(filepath.Join(dir, "ran3")); err == nil {
		t.Error("it ran without an answer")
	}
}

// SPEC 16.1: --trust is for what was there: what the agent makes of it is not
// trusted, nor in the conversation that /clear begins.
func TestTrustOutlivesNoChange(t *testing.T) {
	t.Parallel()
	dir, home := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"package.json": `{"scripts": {"test": "touch ran"}}`, "a.js": "1"} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	x := onTerminalIn(t, dir, home, "dumb", func(n int, _ []byte) llmtest.Turn {
		switch n {
		case 0:
			return llmtest.Use("write", `{"path":".npmrc","content":"ignore-scripts=false"}`)
		case 2:
			return llmtest.Use("write", `{"path":"b.js","content":"2"}`)
		}
		return llmtest.Say("it is written")
	}, "--trust", "--yolo")
	x.expect("> ")
	x.send("write it\r")
	x.expect("check the changes: ")
	x.expect(question)
	x.send("n\r")
	x.expect("not verified: npm test")
	x.expect("> ")
	x.send("/clear\r")
	x.expect("this folder changed since you trusted it: its checks (npm test) do not run")
	x.expect("> ")
	x.send("write it\r")
	x.expect("check the changes: ")
	x.expect(question)
	x.send("n\r")
	x.expect("> ")
	x.send("/quit\r")
	x.ended(0)
	if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
		t.Error("it ran as the agent made it")
	}
}
