package chat

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 0 (C: verbose mode): what a request has, and by how much it grew, if by more than
// 100 tokens; what an older pawl recorded has no sizes, and says nothing.
func TestRequestWords(t *testing.T) {
	var tl Timeline
	var got []string
	for _, b := range []event.Body{
		event.Requested{Attempt: 1, Messages: 1, Tools: 1, Tokens: 1000},
		event.Rebased{Info: llm.Info{Window: 20000}},
		event.Requested{Attempt: 1, Messages: 3, Tools: 20, Tokens: 1100},
		event.Requested{Attempt: 1, Messages: 5, Tools: 20, Tokens: 5000},
		event.Requested{Attempt: 2, Messages: 5, Tools: 20, Tokens: 5000},
		event.Requested{Attempt: 1, Messages: 2, Tools: 20, Tokens: 2000},
		event.Requested{Attempt: 1},
	} {
		for _, ch := range tl.Apply(event.Event{Seq: int64(len(got) + 1), Body: b}) {
			if n, ok := ch.Block.Body.(Note); ok && n.Kind == OfRequest {
				got = append(got, n.Text)
			}
		}
	}
	want := []string{
		"request: 1 message, 1 tool, about 1000 tokens",
		"request: 3 messages, 20 tools, about 1100 tokens, 5 % of the window",
		"request: 5 messages, 20 tools, about 5000 tokens, 25 % of the window (+3900)",
		"request: 5 messages, 20 tools, about 5000 tokens, 25 % of the window; attempt 2",
		"request: 2 messages, 20 tools, about 2000 tokens, 10 % of the window (-3000)",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

// The notes reach only a frontend that asks for them.
func TestRequestsAreShownOnDemand(t *testing.T) {
	for _, verbose := range []bool{false, true} {
		d := newDesk(t, llmtest.New(llmtest.Say("done")))
		d.cfg.Verbose = verbose
		d.until(d.Idle)
		d.Enter("hello")
		d.until(func() bool { return d.Idle() && len(d.Queue()) == 0 })
		if strings.Contains(d.bodies(), "request: 1 message, 1 tool, about ") != verbose {
			t.Errorf("verbose %v: %s", verbose, d.bodies())
		}
	}
}
