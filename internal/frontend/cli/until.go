package cli

import (
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// goal are the flags of a run that goes on until a command passes.
type goal struct {
	command string
	rounds  int
	tests   bool
	made    *until.Goal // of the run that goes on
}

func (g *goal) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&g.command, "until", "", "go on until this command passes, such as 'go test ./...' (see doc/until.md)")
	fs.IntVar(&g.rounds, "max-rounds", until.Rounds, "with --until: how often the model is asked to go on")
	fs.BoolVar(&g.tests, "tests-may-change", false, "with --until: also where the run changes tests that were there before it")
}

// goal prepares the goal of a run, nil if it has none.
func (a *App) goal(f *flags, g goal) (*until.Goal, error) {
	if g.command == "" {
		return nil, nil
	}
	if a.InPawl() {
		return nil, usageError("--until is for a person, and this was started by pawl itself")
	}
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return nil, err
	}
	finder := &checks.Finder{Root: dir, LookPath: exec.LookPath, GoFlags: setup.GoFlags(a.Env)}
	var limit time.Duration
	if f.Timeout > 0 { // the run's own ends it
		limit = f.Timeout
	}
	made, err := until.New(until.Config{Command: g.command, Find: finder.Goal, Rounds: g.rounds, Timeout: limit, Tests: g.tests})
	if err != nil {
		return nil, usageError("%w", err)
	}
	return made, nil
}
