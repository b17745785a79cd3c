package children

import (
	"context"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// shell is a child's shell. Its background commands end with the child, since nobody
// else knows them.
type shell struct {
	tool.Shell
	mu   sync.Mutex
	runs map[string]bool
}

func (sh *shell) Start(ctx context.Context, c tool.Run) (string, error) {
	c.Quiet = true
	id, err := sh.Shell.Start(ctx, c)
	if err == nil {
		sh.mu.Lock()
		sh.runs[id] = true
		sh.mu.Unlock()
	}
	return id, err
}

// end kills the commands that still run.
func (sh *shell) end() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, r := range sh.Running() {
		if sh.runs[r.ID] {
			r.End()
		}
	}
}

// POSIX forwards to the shell below: tools call it.
func (sh *shell) POSIX() bool {
	p, ok := sh.Shell.(interface{ POSIX() bool })
	return ok && p.POSIX()
}

// Running forwards to the shell below: the journal calls it.
func (sh *shell) Running() []tool.Job {
	if r, ok := sh.Shell.(tool.Jobs); ok {
		return r.Running()
	}
	return nil
}

// Ended tells nothing: a child's commands seldom outlive it.
func (sh *shell) Ended() []tool.Job { return nil }
