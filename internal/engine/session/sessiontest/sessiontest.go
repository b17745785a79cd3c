// Package sessiontest is the one rig for tests of a session, in every package from engine
// up: real files, a real shell, a log in memory, and a scripted model. A whole test:
//
//	func TestAFileIsMade(t *testing.T) {
//		m := llmtest.New(llmtest.Use("write", `{"path":"a.txt","content":"x"}`), llmtest.Say("done"))
//		r := sessiontest.New(t, m)
//		r.Open()
//		es := r.Run("make a.txt", nil)
//		if made := sessiontest.Find[event.FileChanged](es); len(made) != 1 || r.File("a.txt") != "x" {
//			t.Errorf("%+v", made)
//		}
//	}
//
// The script is the model: a turn of Use is a reply with calls, Say is the last one, a Turn
// with Err a provider's error; the requests that it was sent are r.Model.Requests(). Run
// returns the events of a turn, the same as the log has, and shows each to a function as it
// comes. What a test may want besides, before Open:
//
//   - a file that is there already: r.Put
//   - another mode or rule: r.Cfg.Permission = permission.New(…)
//   - a person who answers: r.Cfg.Person, and session.Answer to Submit at an event.Asked
//   - more tools: append to r.Cfg.Tools
//   - a disk that is full: r.Cfg.Store = Fill(r.Store, n)
//
// And after it:
//
//   - another operation than a prompt: r.Submit, and r.Await for its end
//   - the state that the events lead to: r.View
//   - the whole log: r.Log
//   - a session that is taken up again: r.Close and r.Open; without Close it is one whose
//     process was killed
//   - another session on the same log: Of, with another ID in the configuration
//
// A frontend or a server that opens sessions by itself takes Config alone. A package whose
// tests ask for more embeds Rig (package autofix: the checks of a project; package subagent:
// a model that plays several parts).
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
