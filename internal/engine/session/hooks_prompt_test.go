package session_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// asking is the settings of one hook that asks the model.
func asking(event, matcher, prompt string) string {
	b, _ := json.Marshal(j{"hooks": j{event: []any{j{"matcher": matcher, "hooks": []any{j{"type": "prompt", "prompt": prompt}}}}}})
	return string(b)
}

// SPEC 17.3, 16.13: a hook of the type prompt is a request beside the conversation. What is
// no decision denies before a call, and is only told elsewhere.
func TestPromptHooks(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         event.Outcome
		says         string
	}{
		{"it is met", `{"ok": true}`, event.OK, ""},
		{"it is not", "I think:\n```json\n{\"ok\": false, \"reason\": \"not on Mondays\"}\n```", event.Denied, "not on Mondays"},
		{"no reason", `{"ok": false}`, event.Denied, "the condition of the hook is not met"},
		{"no decision", "sure, go on", event.Denied, "gave no decision"},
		{"another object", `{"decision": "approve"}`, event.Denied, "cannot be read"},
		{"half an object", `{"ok": tru}`, event.Denied, "cannot be read"},
		{"a text for ok", `{"ok": "true"}`, event.Denied, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New(llmtest.Use("write", args(j{"path": "a.txt", "content": "x"})), llmtest.Say(c.answer), llmtest.Say("done"))
			r := newRig(t, "yolo", m, hooked(t, asking("PreToolUse", "Write", "May this be? $ARGUMENTS")))
			es := r.Run("go", nil)
			done := find[event.CallDone](es)[0]
			if done.Outcome != c.want || !strings.Contains(done.Result.Text, c.says) {
				t.Errorf("%s %q", done.Outcome, done.Result.Text)
			}
			asked := m.Requests()[1]
			if text := asked.Messages[0].Text(); len(asked.Messages) != 1 || !strings.HasPrefix(text, `May this be? {"session_id"`) || !strings.Contains(text, "a.txt") {
				t.Errorf("%q", text)
			}
			if ran := find[event.HookRan](es); len(ran) != 1 || ran[0].Command != "ask the model: May this be? $ARGUMENTS" || (ran[0].Verdict == "deny") != (c.want == event.Denied) {
				t.Errorf("%+v", ran)
			}
			if paid := find[event.Charged](es); len(paid) != 1 || paid[0].By != event.ChargedHook {
				t.Errorf("%+v", paid)
			}
		})
	}
	t.Run("a turn goes on", func(t *testing.T) {
		m := llmtest.New(llmtest.Say("done"), llmtest.Say(`{"ok": false, "reason": "write the tests"}`), llmtest.Say("tests, too"), llmtest.Say(`{"ok": true}`))
		r := newRig(t, "yolo", m, hooked(t, asking("Stop", "", "Is all done?")))
		prompts := find[event.Prompted](r.Run("go", nil))
		if len(prompts) != 2 || prompts[1].Source != event.Hook || prompts[1].Text != "write the tests" {
			t.Errorf("%+v", prompts)
		}
	})
	t.Run("a prompt is refused", func(t *testing.T) {
		m := llmtest.New(llmtest.Say(`{"ok": false, "reason": "no poems"}`))
		r := newRig(t, "yolo", m, hooked(t, asking("UserPromptSubmit", "", "Is it about code?")))
		if _, err := r.RunPrompt(t.Context(), session.Prompt{Text: "a poem"}, session.Observer{}); err == nil || !strings.Contains(err.Error(), "no poems") {
			t.Error(err)
		}
	})
	t.Run("an event that is too long is not judged", func(t *testing.T) {
		m := llmtest.New(llmtest.Use("write", args(j{"path": "a.txt", "content": strings.Repeat("long ", 60_000)})), llmtest.Say("done"))
		r := newRig(t, "yolo", m, hooked(t, asking("PreToolUse", "Write", "ok?")))
		if done := find[event.CallDone](r.Run("go", nil))[0]; done.Outcome != event.Denied || !strings.Contains(done.Result.Text, "too long to be judged") {
			t.Errorf("%s %.300q", done.Outcome, done.Result.Text)
		}
	})
}

// SPEC 17.3: a call that failed has an event of its own.
func TestHookOfFailure(t *testing.T) {
	m := llmtest.New(llmtest.Use("bash", args(j{"command": "exit 3"})), llmtest.Use("bash", args(j{"command": "true"})), llmtest.Say("done"))
	r := newRig(t, "yolo", m, hooked(t, on("PostToolUseFailure", "Bash", `cat >> failed.log; echo '{"hookSpecificOutput": {"additionalContext": "see the log"}}'`)))
	done := find[event.CallDone](r.Run("go", nil))
	if log := r.File("failed.log"); strings.Count(log, `"hook_event_name":"PostToolUseFailure"`) != 1 || !strings.Contains(log, `"error":"`) || strings.Contains(log, "tool_response") {
		t.Error(log)
	}
	if !strings.Contains(done[0].Result.Text, "[PostToolUseFailure hook: see the log]") || strings.Contains(done[1].Result.Text, "hook") {
		t.Errorf("%q, %q", done[0].Result.Text, done[1].Result.Text)
	}
}
