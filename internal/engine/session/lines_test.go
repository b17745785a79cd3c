package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// SPEC 17.4, 16.17: the command lines of a prompt run before the model reads it, and every
// guard of a call of the turn holds for them.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, mode string
		narrowed   []string
		deny, hook string
		line, says string
		ran        bool
	}{
		{name: "it runs", mode: "yolo", line: "echo one; echo two", says: "The user ran this command:\n$ echo one; echo two\none\ntwo\n", ran: true},
		{name: "it fails", mode: "yolo", line: "echo out; exit 3", says: "exit code 3", ran: true},
		{name: "a key in what it prints", mode: "yolo", line: "echo hunter2hunter2", says: "$ echo ", ran: true},
		{name: "within allowed-tools", mode: "yolo", narrowed: []string{"bash(echo:*)"}, line: "echo one", says: "one\n", ran: true},
		{name: "not within allowed-tools", mode: "yolo", narrowed: []string{"read"}, line: "touch made", says: "it did not run: "},
		{name: "not within allowed-tools, and it only reads", mode: "ask", narrowed: []string{"bash(touch:*)"}, line: "echo one && ls", says: "one\n", ran: true},
		{name: "not within allowed-tools, and one part does not only read", mode: "yolo", narrowed: []string{"read"}, line: "ls && touch made", says: "it did not run: "},
		{name: "allowed-tools grants nothing", mode: "plan", narrowed: []string{"bash(touch:*)"}, line: "touch made", says: "it did not run: "},
		{name: "a rule", mode: "yolo", deny: "bash(touch:*)", line: "true && touch made", says: "it did not run: "},
		{name: "a hook", mode: "yolo", hook: "echo never >&2; exit 2", line: "touch made", says: "a PreToolUse hook says: never"},
		{name: "a hook that fails", mode: "yolo", hook: "exit 7", line: "touch made", says: "it did not run: "},
		{name: "what would ask, and nobody is there", mode: "ask", line: "touch made", says: "it did not run: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := llmtest.New(llmtest.Say("done"))
			change := []func(*session.Config){}
			if c.hook != "" {
				change = append(change, hooked(t, on("PreToolUse", "Bash", c.hook)))
			}
			r := newRig(t, c.mode, m, change...)
			if c.deny != "" {
				must.Do(t, r.Cfg.Permission.Add(permission.User, nil, nil, []string{c.deny}))
			}
			p := session.Prompt{Text: "look", Lines: []string{c.line}}
			if c.narrowed != nil {
				p.Narrowed = &event.Narrowed{By: "the command /look", Rules: c.narrowed}
			}
			must.Done(t)(r.RunPrompt(t.Context(), p, session.Observer{}))
			if len(m.Requests()) != 1 {
				t.Fatalf("%d requests", len(m.Requests()))
			}
			read := fmt.Sprint(m.Requests()[0].Messages)
			if !strings.Contains(read, c.says) || strings.Contains(read, "hunter2") || strings.Index(read, "look") > strings.Index(read, "The user ran") {
				t.Errorf("the model reads %q", read)
			}
			if _, err := os.Stat(filepath.Join(r.Dir, "made")); err == nil {
				t.Error("it ran")
			}
			if strings.Contains(read, "it did not run") == c.ran {
				t.Errorf("ran %v: %q", !c.ran, read)
			}
		})
	}
	t.Run("a prompt that joins a turn", func(t *testing.T) {
		m := llmtest.New(llmtest.Use("bash", args(j{"command": "true"})), llmtest.Say("done"))
		r := newRig(t, "yolo", m)
		sent := false
		r.Run("go", func(e event.Event) {
			if _, ok := e.Body.(event.CallAsked); ok && !sent {
				sent = true
				if _, err := r.Submit(t.Context(), session.Prompt{Text: "and this", Lines: []string{"echo joined"}}); err != nil {
					t.Error(err)
				}
			}
		})
		all := fmt.Sprint(m.Requests()[len(m.Requests())-1].Messages)
		if !strings.Contains(all, "$ echo joined\njoined") {
			t.Errorf("%q", all)
		}
	})
	t.Run("too many", func(t *testing.T) {
		m := llmtest.New(llmtest.Say("never"))
		r := newRig(t, "yolo", m)
		if out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "x", Lines: make([]string, 21)}, session.Observer{}); out.Reply != "" || len(m.Requests()) != 0 {
			t.Errorf("%+v %v", out, err)
		}
	})
}
