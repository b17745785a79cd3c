package hooks_test

import (
	"context"
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

func around(_ context.Context, _ string, run func()) ([]event.FileChanged, error) {
	run()
	return nil, nil
}

// SPEC 17.3, 17.4: hooks of an agent's or a skill's file hold only while that is used; the
// Stop of what an agent's session uses is the end of that agent, and that of the turn that
// it works for is not.
func TestHooksOfFiles(t *testing.T) {
	all := must.Get(hook.Rules("config.json", []byte(`{"Stop": [{"hooks": [{"command": "always"}]}], "SubagentStop": [{"hooks": [{"command": "each"}]}]}`)))(t)
	for _, file := range []string{"own.md", "turn.md", "other.md"} {
		rules := must.Get(hook.Rules(file, []byte(`{"Stop": [{"hooks": [{"command": "`+file+`"}]}]}`)))(t)
		rules[0].Scope = file
		all = append(all, rules...)
	}
	for _, c := range []struct {
		child bool
		want  []string
	}{{false, []string{"always", "own.md", "turn.md"}}, {true, []string{"each", "own.md"}}} {
		s, recorded := slow{all, make(chan hook.Ran, 9)}, make(log, 10)
		for range c.want {
			s.end <- hook.Ran{Out: []byte(`{"hookSpecificOutput": {"hookEventName": "` + map[bool]string{true: "SubagentStop", false: "Stop"}[c.child] + `"}}`)}
		}
		close(s.end) // one too many is told, and not waited for
		h := hooks.New(hooks.Config{
			Runner: s, Dir: t.TempDir(), Child: c.child, Mode: func() permission.Mode { return permission.AskMode }, Log: recorded,
			Files:  func() (own, others []string) { return []string{"own.md"}, []string{"turn.md"} },
			Around: around,
		})
		must.Get(h.Stop(t.Context(), "done", 0))(t)
		var got []string
		for range len(recorded) {
			ran := <-recorded
			if got = append(got, ran.Command); ran.Broken != "" {
				t.Error(ran.Broken)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, c.want) {
			t.Errorf("an agent: %v: %v ran, want %v", c.child, got, c.want)
		}
	}
}

// SPEC 16.17: nothing is used whose hooks are not there; a turn's end is theirs.
func TestHooksThatAreMissing(t *testing.T) {
	s := slow{rules: []hook.Rule{{Scope: "a.md"}}}
	for file, kept := range map[string]bool{"": true, "a.md": true, "b.md": false} {
		if err := hooks.Kept(s, file); (err == nil) != kept {
			t.Errorf("%q: %v", file, err)
		}
	}
	if hooks.Kept(nil, "a.md") == nil || hooks.Kept(nil, "") != nil {
		t.Error("without a runner")
	}
	var f hooks.Fold
	for _, b := range []event.Body{event.Narrowed{By: "x"}, event.Narrowed{Hooks: "a.md"}, event.Narrowed{Hooks: "a.md"}, event.Narrowed{Hooks: "b.md"}} {
		f.Apply(event.Event{Body: b})
	}
	if !slices.Equal(f.Files, []string{"a.md", "b.md"}) {
		t.Error(f.Files)
	}
	if f.Apply(event.Event{Body: event.Ended{}}); f.Files != nil {
		t.Error(f.Files)
	}
}
