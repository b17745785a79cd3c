//go:build linux

package cli

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// pawl opens the screen on a terminal: what was typed before it came is there,
// and the terminal is given back as it was.
//
// SPEC 18.3, 18.4
func TestScreenOnATerminal(t *testing.T) {
	x := onTerminalIn(t, t.TempDir(), t.TempDir(), "xterm-256color", func(int, []byte) llmtest.Turn {
		return llmtest.Say("a **friendly** answer")
	})
	x.send("typed ahead")
	x.expect("typed ahead") // as the terminal's own echo, or on the screen
	x.expect("ask")
	x.send("\r")
	x.expect("friendly")
	x.expect("1 model reply")
	x.send("\x04")
	x.expect("to go on with this session: pawl --resume ")
	x.ended(0)
	if text := x.text(); strings.Contains(text, "\x1b[2J") || strings.Contains(text, "\x1b[?1049h") {
		t.Error("the screen was cleared or replaced")
	}
}

// The first start says what was found and what to try; a later one does not.
func TestFirstStart(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, arg := range []string{"--plain", ""} {
		var args []string
		if arg != "" {
			args = append(args, arg)
		}
		x := onTerminalIn(t, dir, home, "xterm-256color", func(int, []byte) llmtest.Turn { return llmtest.Say("an answer") }, args...)
		x.expect("mode ask")
		x.send("hello\r")
		x.expect("1 model reply")
		x.send("\x04")
		x.ended(0)
		if first := arg != ""; strings.Contains(x.text(), "this is the first start here; models of anthropic") != first {
			t.Errorf("first %v:\n%s", first, x.text())
		}
	}
}
