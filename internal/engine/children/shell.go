package children

import (
	"context"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// shell is a child's shell: the commands that it left running in the background
// end with it, since nobody else knows them.
type shell struct {
	tool.Shell
	mu   sync.Mutex
	runs map[string]bool
}

// Start implements tool.Shell.
func (sh *shell) Start(ctx context.Context, c tool.Run) (string, error) {
	id, err := sh.Shell.Start(ctx, c)
	if err == nil {
		sh.mu.Lock()
		sh.runs[id] = true
		sh.mu.Unlock()
	}
	return id, err
}

// end kills what still runs.
func (sh *shell) end() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, r := range sh.Running() {
		if sh.runs[r[0]] {
			_, _ = sh.Kill(context.Background(), r[0]) // one that has just ended is what is wanted
		}
	}
}

// POSIX is passed on: tools ask for it.
func (sh *shell) POSIX() bool {
	p, ok := sh.Shell.(interface{ POSIX() bool })
	return ok && p.POSIX()
}

// Running is passed on: the journal asks for it.
func (sh *shell) Running() [][2]string {
	if r, ok := sh.Shell.(interface{ Running() [][2]string }); ok {
		return r.Running()
	}
	return nil
}
