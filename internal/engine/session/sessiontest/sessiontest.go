// Package sessiontest makes sessions for the tests of packages above session:
// with real files, a real shell, and a log in memory. A test passes the model and
// changes only the part of the configuration that it is about.
//
// A whole test of a session:
//
//	m := llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done"))
//	s := sessiontest.Open(t, sessiontest.Config(t, dir, m, nil))
//	_, err := s.RunPrompt(t.Context(), session.Prompt{Text: "make a.txt"}, session.Observer{See: see})
//
// The script is the model: a turn of Use is a reply with calls, Say is the last one, a Turn
// with Err a provider's error; the requests that it was sent are m.Requests(). see gets each event,
// the same as the log has: a switch on the type of its Body picks those that the test is
// about. What a test may want besides:
//
//   - another mode or rule: cfg.Permission = permission.New(…)
//   - a person who answers: cfg.Person, and session.Answer to Submit at an event.Asked
//   - more tools: append to cfg.Tools
//   - a second look at the log: cfg.Store.Read, or Open with the same Store and ID, which
//     takes the session up again
//   - what a killed process leaves: close nothing, and open again
package sessiontest

import (
	"fmt"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Config is that of a session in a folder, in mode accept-edits, that reads,
// writes and runs commands. env, if not nil, returns the environment of commands.
// What it opens ends with the test.
func Config(t testing.TB, dir string, model llm.Model, env func() []string) session.Config {
	t.Helper()
	ws, err := workspace.Open(dir, workspace.Options{Outside: true})
	if err != nil {
		t.Fatal(err)
	}
	sh := shell.New(shell.Options{Root: dir, SpillDir: t.TempDir(), Env: env})
	t.Cleanup(func() { _ = sh.Close(); _ = ws.Close() })
	ids := 0
	return session.Config{
		Store: memory.New(time.Now), ID: "s1", Dir: dir, Frontend: "test", Version: "test", Model: model,
		Tools: tool.Set{tools.Read(), tools.Write(), tools.Bash()}, Files: ws, Shell: sh, Locks: turn.NewLocks(8),
		Permission: permission.New(permission.Config{Mode: permission.AcceptEdits, Root: dir, Home: "/home/nobody"}),
		Mask:       secrets.New(), SpillDir: t.TempDir(),
		Now: time.Now, Sleep: session.SleepFor, Jitter: func() float64 { return 0 },
		NewID: func() string { ids++; return fmt.Sprint("q", ids) },
	}
}

func Open(t testing.TB, cfg session.Config) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
