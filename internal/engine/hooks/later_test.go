package hooks_test

import (
	"context"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
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
