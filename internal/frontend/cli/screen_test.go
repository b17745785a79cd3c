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
