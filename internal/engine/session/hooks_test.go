package session_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	hookrun "github.com/pawl-agent/pawl/internal/adapter/hook"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// hooked adds the hooks of a settings file's text to a session.
func hooked(t *testing.T, settings string) func(*session.Config) {
	t.Helper()
	var file struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	must.Do(t, json.Unmarshal([]byte(settings), &file))
	rules := must.Get(hook.Rules("config.json", file.Hooks))(t)
	starter := shell.NewStarter(shell.StarterOptions{})
	t.Cleanup(func() { _ = starter.Close() })
	return func(c *session.Config) {
		c.Hooks = hookrun.New(rules, hookrun.Options{Dir: c.Dir, Start: starter, Confine: func(hook.Rule) process.Confine { return process.Free }})
	}
}

// on is the settings of one hook.
func on(event, matcher, command string) string {
	b, _ := json.Marshal(j{"hooks": j{event: []any{j{"matcher": matcher, "hooks": []any{j{"type": "command", "command": command}}}}}})
	return string(b)
}

// examples are the settings in doc/extending.md.
func examples(t *testing.T) []string {
	t.Helper()
	doc := must.Get(os.ReadFile("../../../doc/extending.md"))(t)
	var out []string
	for _, m := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(doc, -1) {
		out = append(out, string(m[1]))
	}
	if len(out) != 3 {
		t.Fatalf("%d examples", len(out))
	}
	return out
}

// SPEC 17.3: the examples of the page do what it says.
func TestHookExamples(t *testing.T) {
	ex := examples(t)
	t.Run("log", func(t *testing.T) {
		m := llmtest.New(llmtest.Use("bash", args(j{"command": "echo one", "description": "say"})), llmtest.Use("read", args(j{"files": []any{j{"path": "a.txt"}}})), llmtest.Say("done"))
		r := newRig(t, "yolo", m, hooked(t, ex[0]))
		ran := find[event.HookRan](r.Run("go", nil))
		var in map[string]any
		if err := json.Unmarshal([]byte(r.File("commands.log")), &in); err != nil {
			t.Fatal(err, r.File("commands.log"))
		}
		ti, _ := in["tool_input"].(map[string]any)
		if in["tool_name"] != "Bash" || in["hook_event_name"] != "PreToolUse" || in["cwd"] != r.Dir || in["session_id"] != "s1" || in["permission_mode"] != "bypassPermissions" || ti["command"] != "echo one" {
			t.Errorf("%v", in)
		}
		if len(ran) != 1 || ran[0].Event != "PreToolUse" || ran[0].Call == "" || ran[0].Verdict != "" {
			t.Errorf("%+v", ran)
		}
	})
	t.Run("guard", func(t *testing.T) {
		patch := "*** Begin Patch\n*** Add File: b.txt\n+b\n*** Add File: go.sum\n+x\n*** End Patch"
		write := func(path string) string { return args(j{"path": path, "content": "x \"file_path\":\"/go.sum\"\n"}) }
		m := llmtest.New(
			llmtest.Use("write", write("go.sum"), "write", write("a.txt")),
			llmtest.Use("apply_patch", args(j{"patch": patch})), // a sister: another tool for the same file
			llmtest.Use("Write", args(j{"file_path": "sub/../go.sum", "content": "x\n"})),
			llmtest.Say("done"))
		r := newRig(t, "yolo", m, hooked(t, ex[1]), func(c *session.Config) { c.Tools = append(c.Tools, tools.ApplyPatch()) })
		es := r.Run("go", nil)
		dones := find[event.CallDone](es)
		for i, want := range []event.Outcome{event.Denied, event.OK, event.Denied, event.Denied} {
			if dones[i].Outcome != want {
				t.Errorf("call %d: %s %q", i, dones[i].Outcome, dones[i].Result.Text)
			}
		}
		if !strings.Contains(dones[0].Result.Text, "go.sum is written by go mod tidy") {
			t.Errorf("the model is not told why: %q", dones[0].Result.Text)
		}
		if blocked := find[event.Blocked](es); len(blocked) != 3 || blocked[0].By != "hook" {
			t.Errorf("%+v", blocked)
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "go.sum")); err == nil {
			t.Error("it was written")
		}
	})
	t.Run("tidy", func(t *testing.T) {
		tidy := j{"hooks": j{
			"PostToolUse": []any{j{"matcher": "Edit|Write", "hooks": []any{j{"type": "command", "command": `f=$(sed -n 's/.*"file_path":"\([^"]*\)".*/\1/p'); tr -d '\r' <"$f" >"$f.new" && mv "$f.new" "$f"`}}}},
		}}
		m := llmtest.New(llmtest.Use("write", args(j{"path": "a.txt", "content": "one\r\ntwo\r\n"})), llmtest.Say("done"))
		r := newRig(t, "yolo", m, journaled(t, journal.Options{}), hooked(t, args(tidy)))
		es := r.Run("go", nil)
		if got := r.File("a.txt"); got != "one\ntwo\n" {
			t.Errorf("%q", got)
		}
		changed := find[event.FileChanged](es)
		if len(changed) != 2 || changed[1].Path != "a.txt" || changed[1].Before != changed[0].After {
			t.Errorf("what the hook changed is not recorded: %+v", changed)
		}
		if text := find[event.CallDone](es)[0].Result.Text; !strings.Contains(text, "[changed by a hook after it: a.txt]") {
			t.Errorf("%q", text)
		}
	})
	t.Run("notes", func(t *testing.T) {
		m := llmtest.New(llmtest.Say("done"))
		r := newRig(t, "yolo", m, hooked(t, ex[2]))
		r.Put("NOTES", "the branch is called trunk\n")
		r.Run("go", nil)
		if sent := fmt.Sprint(m.Requests()[0].Messages); !strings.Contains(sent, "the branch is called trunk") {
			t.Errorf("the model does not see the notes: %s", sent)
		}
	})
}

// SPEC 16.13: a hook narrows, whatever it answers, and fails closed before a tool.
func TestHooksOnlyNarrow(t *testing.T) {
	allow := `echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'`
	update := func(command string) string {
		b, _ := json.Marshal(j{"hookSpecificOutput": j{"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": j{"command": command}}})
		return "cat <<'E'\n" + string(b) + "\nE"
	}
	for _, c := range []struct {
		name, mode, hook, tool string
		args                   j
		want                   event.Outcome
		says                   string
	}{
		{"allow lifts no mode", "plan", allow, "write", j{"path": "a.txt", "content": "x"}, event.Denied, ""},
		{"allow lifts no question", "ask", allow, "write", j{"path": "a.txt", "content": "x"}, event.Denied, "nobody is there"},
		{"ask asks in any mode", "yolo", `echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "look at it"}}'`, "write", j{"path": "a.txt", "content": "x"}, event.Denied, "look at it"},
		{"other arguments are run", "yolo", update("echo other"), "bash", j{"command": "echo one"}, event.OK, "other"},
		{"other arguments are judged", "accept-edits", update("rm -rf /home/nobody"), "bash", j{"command": "ls"}, event.Denied, ""},
		{"other arguments that are none", "yolo", `echo '{"hookSpecificOutput": {"updatedInput": {"path": 3}}}'`, "bash", j{"command": "ls"}, event.Denied, "not valid"},
		{"it crashes", "yolo", "exit 1", "write", j{"path": "a.txt", "content": "x"}, event.Denied, "exit code 1"},
		{"there is none", "yolo", "./not-there.sh", "write", j{"path": "a.txt", "content": "x"}, event.Denied, "exit code"},
		{"it dies", "yolo", "kill -9 $$", "write", j{"path": "a.txt", "content": "x"}, event.Denied, ""},
		{"it floods", "yolo", "head -c 3000000 /dev/zero", "write", j{"path": "a.txt", "content": "x"}, event.Denied, "too long"},
		{"rubbish", "yolo", "echo '{'", "write", j{"path": "a.txt", "content": "x"}, event.Denied, "cannot be read"},
		{"context", "yolo", `echo '{"hookSpecificOutput": {"additionalContext": "mind the gap"}}'`, "bash", j{"command": "echo one"}, event.OK, "mind the gap"},
		{"for another tool", "yolo", "exit 2", "todo", j{"items": []any{}}, event.OK, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New(llmtest.Use(c.tool, args(c.args)), llmtest.Say("done"))
			r := newRig(t, c.mode, m, hooked(t, on("PreToolUse", "Bash|Write", c.hook)))
			done := find[event.CallDone](r.Run("go", nil))[0]
			if done.Outcome != c.want || !strings.Contains(done.Result.Text, c.says) {
				t.Errorf("%s %q", done.Outcome, done.Result.Text)
			}
		})
	}
}

// SPEC 17.3: prompts, ends of turns, and what ends a turn.
func TestHooksOfTurns(t *testing.T) {
	t.Run("a prompt is refused", func(t *testing.T) {
		m := llmtest.New(llmtest.Say("never"))
		r := newRig(t, "yolo", m, hooked(t, on("UserPromptSubmit", "", "grep -q password && { echo 'no passwords' >&2; exit 2; } || exit 0")))
		_, err := r.RunPrompt(t.Context(), session.Prompt{Text: "the password is x"}, session.Observer{})
		if err == nil || !strings.Contains(err.Error(), "no passwords") || len(m.Requests()) != 0 {
			t.Errorf("%v, %d requests", err, len(m.Requests()))
		}
		if out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "hello"}, session.Observer{}); err != nil || out.Reply != "never" {
			t.Errorf("the next one: %v %+v", err, out)
		}
	})
	t.Run("the turn goes on", func(t *testing.T) {
		m := llmtest.New(llmtest.Say("done"), llmtest.Use("write", args(j{"path": "done.txt", "content": "x"})), llmtest.Say("really"))
		r := newRig(t, "yolo", m, hooked(t, on("Stop", "", "cat >> stop.log; test -f done.txt || { echo 'write done.txt' >&2; exit 2; }")))
		es := r.Run("go", nil)
		prompts := find[event.Prompted](es)
		if len(prompts) != 2 || prompts[1].Source != event.Hook || prompts[1].Text != "write done.txt" || len(m.Requests()) != 3 {
			t.Errorf("%+v, %d requests", prompts, len(m.Requests()))
		}
		if log := r.File("stop.log"); !strings.Contains(log, `"stop_hook_active":false,"last_assistant_message":"done"`) || !strings.Contains(log, `"stop_hook_active":true,"last_assistant_message":"really"`) {
			t.Errorf("%s", log)
		}
	})
	t.Run("not for ever", func(t *testing.T) {
		m := llmtest.New(llmtest.Say("1"), llmtest.Say("2"), llmtest.Say("3"), llmtest.Say("4"), llmtest.Say("5"), llmtest.Say("6"), llmtest.Say("7"))
		r := newRig(t, "yolo", m, hooked(t, on("Stop", "", "exit 2")))
		es := r.Run("go", nil)
		if n := len(m.Requests()); n != 6 {
			t.Errorf("%d requests", n)
		}
		if ends := find[event.Ended](es); len(ends) != 1 || ends[0].End != event.EndDone {
			t.Errorf("%+v", ends)
		}
	})
	t.Run("the turn ends", func(t *testing.T) {
		m := llmtest.New(llmtest.Use("bash", args(j{"command": "echo one"})), llmtest.Say("never"))
		r := newRig(t, "yolo", m, hooked(t, on("PostToolUse", "Bash", `echo '{"continue": false, "stopReason": "enough"}'`)))
		es := r.Run("go", nil)
		ends := find[event.Ended](es)
		if ends[0].End != event.EndPermission || !strings.Contains(ends[0].Error.Message, "enough") || len(m.Requests()) != 1 {
			t.Errorf("%+v, %d requests", ends[0], len(m.Requests()))
		}
	})
	t.Run("a session begins and ends", func(t *testing.T) {
		m := llmtest.New(llmtest.Say("one"), llmtest.Say("two"))
		both := `{"hooks": {"SessionStart": [{"matcher": "startup", "hooks": [{"command": "cat >> start.log; echo the sky is green"}]}], "SessionEnd": [{"hooks": [{"command": "cat >> end.log"}]}]}}`
		r := newRig(t, "yolo", m, hooked(t, both))
		if _, err := os.Stat(filepath.Join(r.Dir, "start.log")); err == nil {
			t.Error("opening a session runs a hook")
		}
		r.Run("go", nil)
		r.Run("again", nil)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if n := strings.Count(r.File("start.log"), "SessionStart"); n != 1 {
			t.Errorf("it started %d times", n)
		}
		if !strings.Contains(r.File("end.log"), `"hook_event_name":"SessionEnd"`) {
			t.Error("nothing heard of the end")
		}
		if !strings.Contains(fmt.Sprint(m.Requests()[0].Messages), "the sky is green") {
			t.Error("the model was not told")
		}
	})
	t.Run("an interrupt ends a hook that hangs", func(t *testing.T) {
		m := llmtest.New(llmtest.Use("bash", args(j{"command": "echo one"})), llmtest.Say("never"))
		r := newRig(t, "yolo", m, hooked(t, on("PreToolUse", "Bash", "echo > hangs; sleep 1000")))
		begun := time.Now()
		es := r.Run("go", func(e event.Event) {
			if _, ok := e.Body.(event.Replied); ok {
				_, _ = r.Submit(t.Context(), session.Interrupt{By: "person"})
			}
		})
		if ends := find[event.Ended](es); ends[0].End != event.EndInterrupted || time.Since(begun) > 5*time.Minute { // of 1,000 seconds
			t.Errorf("%+v", ends)
		}
	})
}
