package session_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// seenConfiner notes how each command was to be confined, and runs it as it is.
type seenConfiner struct {
	mu   sync.Mutex
	seen []process.Confine
}

func (s *seenConfiner) Confine(cmd *exec.Cmd, c process.Confine, _ process.Hold) (process.Confined, error) {
	s.mu.Lock()
	s.seen = append(s.seen, c)
	s.mu.Unlock()
	return plainChild{cmd}, cmd.Start()
}

type plainChild struct{ cmd *exec.Cmd }

func (p plainChild) Wait() error                { return p.cmd.Wait() }
func (p plainChild) Refused() []process.Refusal { return nil }

// SPEC 16.12: every command of a call is given to the sandbox as permission
// decided, and the log has it; a person's yes opens what the question named, for
// this call or for the session; what they allow outside the sandbox, and what
// they type themselves, is the only thing that does not pass it.
func TestCallsAreConfinedAsDecided(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "f")
	needs := `{"command":"sh ./one.sh","needs":["write ` + outside + `"]}`
	m := llmtest.New(
		llmtest.Use("bash", `{"command":"ls"}`, "bash", `{"command":"sh ./one.sh"}`),
		llmtest.Use("bash", needs), llmtest.Use("bash", `{"command":"sh ./two.sh"}`),
		llmtest.Use("bash", needs), llmtest.Use("bash", `{"command":"sh ./three.sh"}`),
		llmtest.Use("bash", `{"command":"sh ./four.sh","needs":["unconfined"]}`),
		llmtest.Use("bash", `{"command":"sh ./five.sh","background":true}`),
		llmtest.Say("done"),
	)
	c := &seenConfiner{}
	r := newRig(t, "ask", m, func(cfg *session.Config) {
		starter := shell.NewStarter(shell.StarterOptions{Confiner: c})
		sh := shell.New(shell.Options{Root: cfg.Dir, SpillDir: t.TempDir(), Starter: starter})
		t.Cleanup(func() { _ = sh.Close(); _ = starter.Close() })
		cfg.Shell, cfg.Person = sh, true
		cfg.Permission = permission.New(permission.Config{Mode: permission.AskMode, Root: cfg.Dir, Home: "/home/nobody", Sandbox: permission.Sandbox{ReadOnly: true, Workspace: true}})
	})
	asked := 0
	scopes := []event.Scope{event.Once, event.Once, event.Once, event.Session, event.Once, event.Once, event.Once}
	r.Run("run them", onEvent(func(a event.Asked) {
		var vs []event.Verdict
		for _, q := range a.Questions {
			vs = append(vs, event.Verdict{Call: q.Call, Scope: scopes[asked]})
		}
		asked++
		if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: vs}); err != nil {
			t.Error(err)
		}
	}))
	must.Done(t)(r.do(session.RunCommand{Command: "true"}))
	ro, ws := process.Confine{}, process.Confine{Level: process.Workspace}
	open := process.Confine{Level: process.Workspace, Writes: []string{outside}}
	count := map[string]int{}
	for _, got := range c.seen {
		count[got.Key()]++
	}
	want := map[string]int{ro.Key(): 1, ws.Key(): 2, open.Key(): 4}
	if !reflect.DeepEqual(count, want) {
		t.Errorf("confined %d times: %+v", len(c.seen), c.seen)
	}
	logged := map[string]int{}
	for _, s := range find[event.CallStarted](r.Log()) {
		if s.Confine == nil {
			t.Errorf("%s: the log does not say how it was confined", s.ID)
			continue
		}
		logged[s.Confine.Key()]++
	}
	want[process.Free.Key()] = 1
	if !reflect.DeepEqual(logged, want) {
		b, _ := json.Marshal(find[event.CallStarted](r.Log()))
		t.Errorf("the log: %s", b)
	}
}
