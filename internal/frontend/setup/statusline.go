package setup

import (
	"context"
	"slices"
	"strings"
	"time"

	hookrun "github.com/pawl-agent/pawl/internal/adapter/hook"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

// statusTime is how long a status line may run.
const statusTime = 3 * time.Second

// StatusLine runs the person's status line with JSON on its standard input, and returns
// what it printed, "" if it failed.
type StatusLine func(ctx context.Context, input []byte) string

// statusLine returns the status line of the person's settings for Claude Code, nil for
// none. It is confined like a hook of theirs. Where there is no sandbox, it starts away from
// the workspace and finds no program through it: the workspace may be anybody's
// (SPEC 16.16).
func (s *opening) statusLine() StatusLine {
	command, dir := s.conf.Taken.StatusLine, s.session.Dir
	if command == "" || s.fr.ReadOnly {
		return nil
	}
	home, confine := s.Env("HOME"), s.o.Confinement.server()
	free := confine.Level == process.Unconfined
	if !free {
		confine.Reads = append(slices.Clone(confine.Reads), ownFiles(command, home)...)
	}
	r := hook.Rule{Command: command, Timeout: statusTime, Apart: free, Name: "statusLine"}
	run := hookrun.New([]hook.Rule{r}, hookrun.Options{
		Dir: dir, Start: s.starter, Elsewhere: neutral(s.paths.State, dir), Apart: apartFrom(dir, home),
		Own: func(hook.Rule) bool { return true }, Confine: func(hook.Rule) process.Confine { return confine },
	})
	return func(ctx context.Context, input []byte) string {
		ran := run.Run(ctx, r, input)
		if ran.Failed != "" || ran.Exit != 0 {
			return ""
		}
		return strings.ToValidUTF8(string(ran.Out[:min(len(ran.Out), 4<<10)]), "")
	}
}
