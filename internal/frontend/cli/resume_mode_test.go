//go:build linux

package cli

import (
	"regexp"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 10.4: /clear and /fork go on in the same mode; a session that is taken
// up in a mode that allows more than a new one's asks first.
func TestLineKeepsAndAsksForTheMode(t *testing.T) {
	x := onTerminal(t, "dumb", func(int, []byte) llmtest.Turn { return llmtest.Say("fine") })
	x.expect("mode ask; session ")
	x.expect("> ")
	id := regexp.MustCompile(`session ([0-9a-f]{20})`).FindStringSubmatch(x.text())[1]
	x.send("/mode auto\r")
	x.expect("> ")
	x.send("/fork\r")
	x.expect("mode auto; session ")
	x.expect("> ")
	x.send("/clear\r")
	x.expect("mode auto; session ")
	x.expect("> ")
	x.send("/resume " + id + "\r")
	x.expect("this session was in mode auto, which allows more than ask: continue in mode auto?")
	x.send("n\r")
	x.expect("mode ask; session " + id)
	x.expect("> ")
	x.send("/quit\r")
	x.ended(0)
}
