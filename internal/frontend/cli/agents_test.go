//go:build unix

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 14.1, from end to end: an agent's session is listed below the one that it
// worked for, --continue never picks it, undo takes its changes back, and it goes
// with its parent.
func TestAgentFromEndToEnd(t *testing.T) {
	t.Parallel()
	r := begin(t, &llmtest.Server{Reply: func(_ int, body []byte) llmtest.Turn {
		b := string(body)
		switch {
		case strings.Contains(b, "You are the agent general") && !strings.Contains(b, "tool_result"):
			return llmtest.Turn{Calls: []llm.Call{{Name: "write", Args: json.RawMessage(`{"path":"by-agent.txt","content":"x\n"}`)}}}
		case strings.Contains(b, "You are the agent general"):
			return llmtest.Say("the agent wrote it")
		case strings.Contains(b, "second prompt"):
			return llmtest.Say("went on")
		case strings.Contains(b, "tool_result"):
			return llmtest.Say("all done")
		}
		return llmtest.Use("agent", `{"description":"write a file","prompt":"write by-agent.txt"}`)
	}}, "--output-format", "stream-json", "first prompt")
	r.until(`"agent_ended"`)
	r.until(`"result"`)
	if code := r.end(); code != 0 {
		t.Fatalf("exit code %d: %s", code, r.stderr.String())
	}
	file := filepath.Join(r.dir, "by-agent.txt")
	if b, err := os.ReadFile(file); err != nil || string(b) != "x\n" {
		t.Fatalf("%q %v", b, err)
	}
	list := func() []event.Row {
		code, out, errs := r.also("sessions", "list", "--json")
		var rows []event.Row
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
			t.Fatalf("%d %v: %s%s", code, err, out, errs)
		}
		return rows
	}
	rows := list()
	if len(rows) != 2 || rows[0].Parent != nil || rows[1].Parent == nil || rows[1].Parent.Session != rows[0].ID || rows[1].Parent.Agent != "general" {
		t.Fatalf("%+v", rows)
	}
	if _, out, _ := r.also("sessions"); !strings.Contains(out, "\n    "+rows[1].ID) || !strings.Contains(out, "agent general: write by-agent.txt") {
		t.Errorf("%s", out)
	}
	if code, out, errs := r.also("run", "-c", "-m", "anthropic/claude-script", "second prompt"); code != 0 || !strings.Contains(out, "went on") {
		t.Errorf("%d: %s%s", code, out, errs)
	}
	if again := list(); len(again) != 2 || again[0].Last <= rows[0].Last || again[1].Last != rows[1].Last {
		t.Errorf("%+v, before %+v", again, rows)
	}
	code, out, errs := r.also("undo", "--yes")
	if _, err := os.Stat(file); err == nil {
		t.Errorf("undo left the agent's file: %d %s%s", code, out, errs)
	}
	if code, out, errs := r.also("sessions", "delete", "--yes", rows[0].ID); code != 0 || len(list()) != 0 {
		t.Errorf("%d: %s%s", code, out, errs)
	}
}
