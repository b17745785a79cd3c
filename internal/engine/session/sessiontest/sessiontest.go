// Package sessiontest makes sessions for the tests of packages above session:
// with real files, a real shell, and a log in memory. A test passes the model and
// changes only the part of the configuration that it is about.
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

// Open opens a session that is closed with the test.
func Open(t testing.TB, cfg session.Config) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
