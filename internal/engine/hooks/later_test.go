package hooks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// slow runs hooks that end when the test says so.
type slow struct {
	rules []hook.Rule
	end   chan hook.Ran
}

func (s slow) Rules() []hook.Rule { return s.rules }

func (s slow) Run(ctx context.Context, _ hook.Rule, _ []byte) hook.Ran {
	select {
	case r := <-s.end:
		return r
	case <-ctx.Done():
		return hook.Ran{Failed: "stopped"}
	}
}

type log chan event.HookRan

func (l log) Append(_ context.Context, ds ...event.Draft) error {
	for _, d := range ds {
		if ran, ok := d.Body.(event.HookRan); ok {
			l <- ran
		}
	}
	return nil
}

// SPEC 17.3: nothing waits for an async hook, it decides nothing, and what it says comes
// with the next prompt, once.
func TestAsync(t *testing.T) {
	for name, out := range map[string]hook.Ran{
		"context":    {Out: []byte(`{"hookSpecificOutput": {"additionalContext": "the build is red"}}`)},
		"a decision": {Out: []byte(`{"decision": "block", "reason": "the build is red"}`)},
		"exit 2":     {Exit: 2, Err: []byte("the build is red")},
		"an end":     {Out: []byte(`{"continue": false, "stopReason": "the build is red"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := hook.Rules("config.json", []byte(`{"UserPromptSubmit": [{"hooks": [{"command": "x", "async": true}]}]}`))
			if err != nil || rules[0].InactiveBecause != "" {
				t.Fatal(err, rules)
			}
			s, recorded := slow{rules, make(chan hook.Ran)}, make(log, 10)
			h := hooks.New(hooks.Config{Runner: s, Dir: t.TempDir(), Source: "startup", Mode: func() permission.Mode { return permission.AskMode }, Log: recorded})
			prompt := func() (texts string) {
				ds := must.Get(h.Prompt(t.Context(), "go"))(t)
				for _, d := range ds {
					texts += d.Body.(event.Noted).Text
				}
				return texts
			}
			if got := prompt(); got != "" {
				t.Errorf("nothing has ended yet: %q", got)
			}
			s.end <- out
			if ran := <-recorded; ran.Verdict != "" || ran.Event != "UserPromptSubmit" {
				t.Errorf("%+v", ran)
			}
			if got := prompt(); !strings.Contains(got, "[UserPromptSubmit hook: the build is red]") {
				t.Errorf("%q", got)
			}
			if got := prompt(); got != "" {
				t.Errorf("again: %q", got)
			}
			s.end <- hook.Ran{}
			s.end <- hook.Ran{}
			h.Close()
			if len(recorded) != 2 {
				t.Errorf("%d are recorded", len(recorded))
			}
		})
	}
}

// told runs hooks that pass on what they were given.
type told struct {
	rules []hook.Rule
	input chan string
}

func (r told) Rules() []hook.Rule { return r.rules }

func (r told) Run(_ context.Context, _ hook.Rule, input []byte) hook.Ran {
	r.input <- string(input)
	return hook.Ran{}
}

// SPEC 17.3: a question that is recorded runs the Notification hooks once: those of its
// kind, and none after the session's end.
func TestNotification(t *testing.T) {
	rules := must.Get(hook.Rules("config.json", []byte(`{"Notification": [{"matcher": "permission_prompt", "hooks": [{"command": "x"}]}]}`)))(t)
	r := told{rules, make(chan string, 10)}
	log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}))(t)
	h := hooks.New(hooks.Config{Runner: r, Dir: t.TempDir(), Mode: func() permission.Mode { return permission.AskMode }, Log: log})
	ask := func(a event.Asked) { must.Do(t, log.Append(t.Context(), event.Draft{Body: a})) }
	ask(event.Asked{ID: "before", Questions: []event.Question{{Tool: "bash"}}}) // of a session that is taken up again
	h.Watch(log)
	ask(event.Asked{ID: "1", Text: "which one?"})
	ask(event.Asked{ID: "2", Questions: []event.Question{{Tool: "edit"}}})
	if got := <-r.input; !strings.Contains(got, `"notification_type":"permission_prompt"`) || !strings.Contains(got, "permission to use edit") {
		t.Error(got)
	}
	h.Close()
	ask(event.Asked{ID: "3", Questions: []event.Question{{Tool: "edit"}}})
	if len(r.input) > 0 {
		t.Errorf("one more: %s", <-r.input)
	}
}
