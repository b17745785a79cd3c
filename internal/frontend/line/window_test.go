package line

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// filled is a conversation whose model has read enough for the window to be nearly
// full, and then reports that; summary is its answer to a request for one.
func filled(t *testing.T, summary llmtest.Turn, keys ...string) *testConversation {
	m := llmtest.New()
	m.InfoValue.Window, m.InfoValue.MaxOutput = 16_384, 1024
	n := 0
	r := newTestConversation(t, m, keysOf(keys...)...)
	m.Next = func(_ int, q *llm.Request) llmtest.Turn {
		if len(q.Head.Tools) == 0 {
			return summary
		}
		if n++; n > 5 {
			return llmtest.Turn{Text: "that is all", Usage: llm.Usage{Known: true, Input: 14_000}}
		}
		args, err := json.Marshal(map[string]any{"files": []any{map[string]any{"path": fmt.Sprintf("f%d.txt", n)}}})
		if err != nil {
			panic(err)
		}
		return llmtest.Use("read", string(args))
	}
	for i := range 6 {
		r.put(fmt.Sprintf("f%d.txt", i), strings.Repeat(fmt.Sprintf("file %d has lines\n", i), 150))
	}
	return r
}

// SPEC 9.8: how pressing it is, is shown before input from high on.
func TestUrgencyBeforeInput(t *testing.T) {
	_, seen := filled(t, llmtest.Say("notes"), "read", "/compact", "").run()
	before, after, _ := strings.Cut(seen, "/compact\n")
	if strings.Count(before, " % full (high); /compact makes room") != 1 || strings.Contains(after, "% full") {
		t.Error(seen)
	}
}

// SPEC 10.3: the interrupt key ends /compact, and leaves all as it was.
func TestInterruptCompact(t *testing.T) {
	wait := llmtest.Turn{Text: "half", Wait: make(chan struct{})}
	r := filled(t, wait, "read", "/compact", "/context")
	wait.Before = func(*llm.Request) { r.signals <- "SIGINT" }
	next := r.model.Next
	r.model.Next = func(n int, q *llm.Request) llmtest.Turn {
		x := next(n, q)
		if x.Text == "half" {
			x.Before = wait.Before
		}
		return x
	}
	_, seen := r.run()
	if !strings.Contains(seen, "> /compact\ninterrupted: the conversation is unchanged\n") || len(events[event.Compacted](r, "s1")) != 0 || strings.Contains(seen, "canceled") {
		t.Error(seen)
	}
	if cs := events[event.Charged](r, "s1"); len(cs) != 1 {
		t.Errorf("%+v", cs)
	}
	if !strings.Contains(seen, "urgency high") {
		t.Error("/context does not say how pressing it is")
	}
}

// SPEC 9.6: a summary that failed is said, and why.
func TestFailedSummary(t *testing.T) {
	_, seen := filled(t, llmtest.Turn{Err: errors.New("the \x1b[31mmodel is out")}, "read", "/compact").run()
	if !strings.Contains(seen, "wrote no summary") || !strings.Contains(seen, "model is out") {
		t.Error(seen)
	}
	safe(t, seen)
}
