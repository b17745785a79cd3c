package setup

import (
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
)

// newJournal returns the journal that finds changes by commands. It does nothing
// before the first command. Without a session it keeps nothing.
func newJournal(dir string, paths settings.Paths, noSession bool, git *workspace.Git) *journal.Journal {
	opt := journal.Options{Dir: filepath.Join(paths.State, "journal"), Skip: []string{paths.State, paths.Config}, Git: git}
	if noSession {
		opt.Dir = ""
	}
	return journal.New(dir, opt)
}
