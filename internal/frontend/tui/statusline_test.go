package tui

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 16.11: the person's status line is shown when the conversation begins and again when
// a turn ends, at most two rows of it, and nothing of it reaches the terminal as a command.
func TestStatusLine(t *testing.T) {
	t.Parallel()
	r := newTestScreen(t, llmtest.New(llmtest.Say("fine")))
	var mu sync.Mutex
	var inputs []map[string]any
	r.own = func(_ context.Context, input []byte) string {
		var in map[string]any
		if err := json.Unmarshal(input, &in); err != nil {
			t.Error(err)
		}
		mu.Lock()
		defer mu.Unlock()
		inputs = append(inputs, in)
		if len(inputs) == 1 {
			return "\x1b[31mred\x1b[0m\x1b]2;owned\x07 begins\n\n  second\rrow\nthird\n"
		}
		return "turn over"
	}
	r.start("")
	r.see("red begins")
	text := r.text()
	if strings.Contains(text, "third") || !strings.Contains(text, "second") || strings.Contains(text, "owned") || strings.Contains(text, "[31m") {
		t.Errorf("%s", text)
	}
	r.enter("hello")
	r.rest(1)
	r.see("turn over")
	mu.Lock()
	defer mu.Unlock()
	if len(inputs) < 2 || inputs[0]["session_id"] != "s1" || inputs[0]["cwd"] != r.dir || inputs[0]["hook_event_name"] != "Status" {
		t.Errorf("%v", inputs)
	}
}

// One that hangs stops nothing, and one that prints nothing takes no row.
func TestStatusLineThatHangs(t *testing.T) {
	t.Parallel()
	r := newTestScreen(t, llmtest.New(llmtest.Say("fine")))
	r.own = func(ctx context.Context, _ []byte) string {
		<-ctx.Done()
		return "too late"
	}
	r.start("")
	r.enter("hello")
	r.rest(1)
	r.see("fine")
	if strings.Contains(r.text(), "too late") {
		t.Error(r.text())
	}
}

// SPEC 5.4, 18.2: while a request is tried again, one clock runs, and the next step is told.
func TestTryingAgain(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Turn{Err: &fault.Error{Category: fault.Provider, Retryable: true, Message: "busy", RetryAfter: time.Minute}}))
	r.start("")
	r.enter("do it")
	r.see("● trying again · esc interrupts, then /model takes another")
	r.press("esc")
	r.see("interrupted")
}
