package cli

import (
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
)

// kinds reads the kinds of agents of a folder and of the user. They are only
// text, like rules, so they are read in untrusted folders too: nothing in them
// grants an agent more than the session has. Secrets in them are masked.
func (a *App) kinds(dir string, p settings.Paths, mask func(string) string) ([]agents.Kind, []string) {
	folders := []string{filepath.Join(dir, ".pawl", "agents"), filepath.Join(dir, ".claude", "agents"), filepath.Join(p.Config, "agents")}
	if home := a.Env("HOME"); home != "" {
		folders = append(folders, filepath.Join(home, ".claude", "agents"))
	}
	kinds, warnings := agents.Load(folders...)
	for i := range kinds {
		kinds[i].Description, kinds[i].Prompt = mask(kinds[i].Description), mask(kinds[i].Prompt)
	}
	return kinds, warnings
}
