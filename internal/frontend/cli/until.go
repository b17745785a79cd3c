package cli

import (
	"os/exec"
	"time"

	"github.com/spf13/cobra"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// goal are the flags of a run that continues until a command succeeds.
type goal struct {
	command string
	rounds  int
	tests   bool
	made    *until.Goal // of the run
}

func (g *goal) add(c *cobra.Command) {
	fs := c.Flags()
	fs.StringVar(&g.command, "until", "", "work until this command passes, such as 'go test ./...' (see doc/tasks.md)")
	fs.IntVar(&g.rounds, "max-rounds", until.Rounds, "with --until: how often to ask the model to continue")
	fs.BoolVar(&g.tests, "tests-may-change", false, "with --until: accept the result even if the run changed existing tests")
}

// goal prepares the goal of a run, nil if it has none.
func (a *App) goal(f *flags, g goal) (*until.Goal, error) {
	if g.command == "" {
		return nil, nil
	}
	if err := a.byPerson("--until"); err != nil {
		return nil, err
	}
	dir, err := a.RealDir(f.Dir)
	if err != nil {
		return nil, err
	}
	finder := &checks.Finder{Root: dir, LookPath: exec.LookPath, GoFlags: setup.GoFlags(a.Env)}
	var limit time.Duration
	if f.Timeout > 0 { // the run's own timeout ends it
		limit = f.Timeout
	}
	made, err := until.New(until.Config{Command: g.command, Find: finder.Goal, Rounds: g.rounds, Timeout: limit, Tests: g.tests})
	if err != nil {
		return nil, usageError("%w", err)
	}
	return made, nil
}
