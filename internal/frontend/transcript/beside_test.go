package transcript

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// Issue 14, points 2, 5 and 6: what stands beside the conversation is in a transcript,
// and is told apart from it.
func TestBeside(t *testing.T) {
	var out bytes.Buffer
	write := Markdown(&out)
	for i, b := range []event.Body{
		event.AsideAsked{ID: "1", Text: "what is\x1b[2J it?"}, event.AsideAnswered{ID: "1", Text: "forty-two"},
		event.AsideAsked{ID: "2", Text: "and now?"}, event.AsideAnswered{ID: "2", Error: &event.Fault{Message: "overloaded"}},
		event.PlanWritten{Text: "# Plan\n\n1. the model's\n", By: "model"}, event.PlanWritten{Text: "# Plan\n\n1. mine\n", By: "person"}, event.PlanDecided{Approved: true},
		event.AgentStarted{Call: "c", Child: "a", Agent: "explore", Title: "look"}, event.AgentEnded{Call: "c", Child: "a", End: event.EndDone},
		event.SwarmPlanned{Goal: "mend it", Tasks: []event.Task{{ID: "one", Title: "the first", Goal: "g", Accept: []string{"true"}}}}, event.SwarmEnded{Outcome: event.SwarmIncomplete},
	} {
		must.Do(t, write(event.Event{Session: "s", Seq: int64(i + 1), Body: b}))
	}
	got := out.String()
	for _, want := range []string{"/btw what is it?", "forty-two", "not a part of the conversation", "no answer: overloaded", "as the person edited it", "1. mine", "the plan is approved", "swarm: mend it: incomplete", "one the first"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "\x1b") || strings.Contains(got, "the model's") {
		t.Errorf("%q", got)
	}
}
