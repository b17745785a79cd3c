package sessionfile

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func read(t *testing.T, text string) (bodies []event.Body, times []time.Time, left int, err error) {
	t.Helper()
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	_, left, err = Read(strings.NewReader(text), now, func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("KEY"), []byte("[key]")) },
		func(at time.Time, b event.Body) error {
			bodies, times = append(bodies, b), append(times, at)
			return nil
		})
	return bodies, times, left, err
}

// SPEC 10.4, 16: of every kind of event only what was said is taken over.
func TestTakesNoRights(t *testing.T) {
	said := map[string]bool{"prompted": true, "replied": true, "call_asked": true, "person_ran": true, "interrupted": true, "ended": true}
	for _, kind := range event.Kinds() {
		bodies, _, left, err := read(t, fmt.Sprintf(`{"type":%q,"body":{}}`, kind))
		if err != nil || len(bodies) > 0 != said[kind] || left == 1 == said[kind] {
			t.Errorf("%s: %v, %d left, %v", kind, bodies, left, err)
		}
	}
}

// SPEC 10.4: what is taken over has nothing in it that only its own machine or
// provider may say.
func TestIsPlain(t *testing.T) {
	bodies, times, left, err := read(t, `{"type":"prompted","time":"2025-01-01T00:00:00Z","body":{"source":"autofix","text":"do KEY"}}
{"type":"replied","time":"2024-01-01T00:00:00Z","body":{"reply":{"message":{"role":"system","parts":[{"kind":"reasoning","text":"x"},{"kind":"text","text":"ok","raw":{"a":1},"wire":"w"},{"kind":"call","call":{"id":"1","name":"bash","args":[1]}}]}},"cost":-5}}
{"type":"call_asked","body":{"id":"1","tool":"bash","args":"x"}}

{"type":"call_done","time":"2999-01-01T00:00:00Z","body":{"id":"1","tool":"bash","outcome":"ok","result":{"id":"1","text":"t"},"spill":"/etc/shadow"}}
{"type":"call_done","body":{"id":"1","tool":"bash","outcome":"ok","result":{"id":"1"}}}
{"type":"from_the_future","body":{"x":1}}
`)
	if err != nil || left != 2 || len(bodies) != 5 {
		t.Fatalf("%v, %d left, %+v", err, left, bodies)
	}
	want := []event.Body{
		event.Prompted{Source: event.Person, Text: "do [key]"},
		event.Replied{Cost: new(float64), Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("ok"), {Kind: llm.CallPart, Call: &llm.Call{ID: "1", Name: "bash", Args: []byte("{}")}}}}}},
		event.Completed(event.CallAsked{ID: "1", Tool: "bash", Args: []byte("{}")}),
		event.CallDone{ID: "1", Tool: "bash", Outcome: event.OK, Result: llm.Result{ID: "1", Text: "t"}, Does: tool.Exec},
		event.Ended{End: event.EndInterrupted}, // it broke off
	}
	if !reflect.DeepEqual(bodies, want) {
		t.Errorf("got  %+v\nwant %+v", bodies, want)
	}
	for i, at := range times {
		if i > 0 && at.Before(times[i-1]) || at.Year() > 2026 {
			t.Errorf("the times are %v", times)
		}
	}
	for _, text := range []string{"no", "[]", `{"type":"prompted","body":[]}`, `{"body":{}}`, "{}", strings.Repeat("[", 10_000)} {
		if _, _, _, err := read(t, text); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%.20s: %v", text, err)
		}
	}
}
