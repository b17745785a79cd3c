//go:build linux

package cli

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// --resume without an id is for a person at a terminal; everywhere else it stays an error.
//
// SPEC 18.3
func TestResumeWithoutAnID(t *testing.T) {
	for line, want := range map[string]string{
		"-r":                   "--resume=?",
		"--resume":             "--resume=?",
		"-m offline -r":        "-m offline --resume=?",
		"-r --plain":           "--resume=? --plain",
		"-r 0abc":              "-r 0abc",
		"--resume=0abc":        "--resume=0abc",
		"-p -r":                "-p -r",
		"--print hello -r":     "--print hello -r",
		"run -r":               "run -r",
		"sessions list":        "sessions list",
		"":                     "",
		"--fork-session -r -y": "--fork-session --resume=? -y",
	} {
		if got := strings.Join(withResume(strings.Fields(line), true), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
		if got := strings.Join(withResume(strings.Fields(line), false), " "); got != line {
			t.Errorf("without a terminal, %s: %s", line, got)
		}
	}
}

// The session is picked before anything starts; Esc begins a new one.
//
// SPEC 10.4, 18.3
func TestPickAtTheStart(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	start := func(args ...string) *terminal {
		return onTerminalIn(t, dir, home, "xterm-256color", func(int, []byte) llmtest.Turn { return llmtest.Say("an answer") }, args...)
	}
	leave := func(x *terminal) {
		x.send("\x04")
		x.ended(0)
	}
	x := start("-r") // there is none yet
	x.expect("mode ask")
	for _, prompt := range []string{"mend the parser", "write a story"} {
		x.send(prompt + "\r")
		x.expect("1 model reply")
		leave(x)
		x = start("-r")
		x.expect("sessions of this folder, Esc for a new one")
		if prompt == "mend the parser" {
			x.send("\x1b")
			x.expect("mode ask; /help")
		}
	}
	x.send("parser\r")
	x.expect("an answer")
	leave(x)
}
