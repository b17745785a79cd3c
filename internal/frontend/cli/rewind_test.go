//go:build linux

package cli

import (
	"bytes"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 10.2: after a rewind the chosen prompt is in the input, to be edited.
func TestRewindOnATerminal(t *testing.T) {
	var mu sync.Mutex
	var last []byte
	x := onTerminal(t, "xterm", func(_ int, body []byte) llmtest.Turn {
		mu.Lock()
		defer mu.Unlock()
		last = bytes.Clone(body)
		return llmtest.Say("fine")
	})
	x.expect("> ")
	x.send("say it\r")
	x.expect("fine")
	x.expect("> ")
	x.send("/rewind 1 conversation\r")
	x.expect("session ")
	x.expect("> ")
	x.expect("say it")
	x.send(" twice\r")
	x.expect("fine")
	x.expect("> ")
	x.send("\x04")
	x.ended(0)
	mu.Lock()
	defer mu.Unlock()
	if !bytes.Contains(last, []byte(`"say it twice"`)) || bytes.Contains(last, []byte(`"say it"`)) {
		t.Errorf("sent: %s", last)
	}
}
