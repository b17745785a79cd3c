package session_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 9.4, 16.7: a call runs with what it was given, and the file gets it; the
// log, and so what the model is sent back of its own words, has the mask. A
// session that is taken up again goes on with the very same messages. A
// person's answer is masked as well.
func TestCallsRunWithWhatTheLogMasks(t *testing.T) {
	const key = "hunter2hunter2"
	m := llmtest.New(
		llmtest.Use("write", `{"path":"key.txt","content":"`+key+`\n"}`),
		llmtest.Use("ask_user", `{"question":"which?"}`),
		llmtest.Say("I wrote "+key), llmtest.Say("again"),
	)
	r := newRig(t, "yolo", m, func(c *session.Config) { c.Person = true })
	r.run("go", func(e event.Event) {
		if q, ok := e.Body.(event.Asked); ok {
			if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Text: "it is " + key}); err != nil {
				t.Error(err)
			}
		}
	})
	if got := r.file("key.txt"); got != key+"\n" {
		t.Errorf("the file has %q", got)
	}
	answered := false
	for _, e := range r.log() {
		if strings.Contains(args(e.Body), key) {
			t.Errorf("%s: %s", e.Body.Kind(), args(e.Body))
		}
		a, ok := e.Body.(event.Answered)
		answered = answered || ok && a.Text == "it is [masked:held]"
	}
	if !answered {
		t.Error("the answer is not in the log")
	}
	live := lastSent(t, m)
	if strings.Contains(live, key) || !strings.Contains(live, `[masked:held]\\n`) && !strings.Contains(live, `[masked:held]`) {
		t.Errorf("the model was sent %s", live)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r.open()
	r.run("and on", nil)
	if again := lastSent(t, m); !strings.HasPrefix(again, strings.TrimSuffix(live, "]")) {
		t.Errorf("taken up again, the model is sent\n%s\nand not\n%s", again, live)
	}
}

// lastSent is the messages of the last request.
func lastSent(t *testing.T, m *llmtest.Model) string {
	t.Helper()
	rs := m.Requests()
	ms := rs[len(rs)-1].Messages
	raw, err := json.Marshal(ms)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
