package chat

import (
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 18.1: what /copy takes is what the conversation shows, counted from the newest.
func TestNewest(t *testing.T) {
	bodies := []event.Body{
		event.Prompted{Text: "go"},
		event.Requested{},
		event.TextDelta{Text: "withdrawn"},
		event.Retried{Attempt: 1},
		event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("first\x1b[1m\n```\na\n```\n~~~\nb\n~~~")}}}},
		event.CallAsked{ID: "1", Tool: "bash"}, event.CallDone{ID: "1", Tool: "bash", Outcome: event.OK, Command: "ls", Result: llm.Result{Text: "x\n"}},
		event.CallAsked{ID: "2", Tool: "read"}, event.CallDone{ID: "2", Tool: "read", Outcome: event.OK, Result: llm.Result{Text: "not a command's"}},
		event.Replied{Reply: llm.Reply{Stop: llm.StopLength, Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("```\ncu")}}}},
		event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("t\n```")}}}},
		event.Ended{End: event.EndDone},
		event.PersonRan{Command: "pwd", Output: "/w\n", Exit: new(0)},
		event.AsideAsked{ID: "q", Text: "what?"}, event.AsideAnswered{ID: "q", Text: "beside"},
		event.Recalled{Key: "k", Text: " recalled "},
	}
	for _, c := range []struct {
		what string
		want []string // from the newest
	}{
		{"reply", []string{"recalled\n", "beside\n", "```\ncut\n```\n", "first\n```\na\n```\n~~~\nb\n~~~\n", ""}},
		{"code", []string{"cut\n", "b\n", "a\n", ""}},
		{"command", []string{"pwd", "ls", ""}},
		{"output", []string{"/w\n", "x\n", ""}},
	} {
		for n, want := range c.want {
			f := newest{what: c.what, n: n + 1}
			for i, b := range bodies {
				e := event.Event{Seq: int64(i + 1), Time: time.Unix(int64(i), 0), Body: event.Completed(b)}
				if _, ok := b.(event.TextDelta); ok {
					e.Seq = 0
				}
				f.Apply(e)
			}
			got := ""
			if len(f.found) == n+1 {
				got = f.found[0]
			}
			if got != want {
				t.Errorf("%s %d: %q, want %q", c.what, n+1, got, want)
			}
		}
	}
}
