package cli

import (
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
)

// kinds reads the kinds of agents of a folder and of the user. They are only
// text, like rules, so they are read in untrusted folders too: nothing in them
// grants an agent more than the session has. Secrets in them are masked.
func (a *App) kinds(dir string, p settings.Paths, plugins []usedPlugin, mask func(string) string) ([]agents.Kind, []string) {
	var folders []agents.Folder
	for _, path := range []string{filepath.Join(dir, ".pawl", "agents"), filepath.Join(dir, ".claude", "agents"), filepath.Join(p.Config, "agents")} {
		folders = append(folders, agents.Folder{Path: path})
	}
	if home := a.Env("HOME"); home != "" {
		folders = append(folders, agents.Folder{Path: filepath.Join(home, ".claude", "agents")})
	}
	kinds, warnings := loadAgents(plugins, folders...)
	for i := range kinds {
		kinds[i].Description, kinds[i].Prompt = mask(kinds[i].Description), mask(kinds[i].Prompt)
	}
	return kinds, warnings
}

// loadAgents reads the kinds of agents of some folders, and then those of plugins.
func loadAgents(plugins []usedPlugin, folders ...agents.Folder) ([]agents.Kind, []string) {
	for _, p := range plugins {
		for _, at := range p.Agents {
			folders = append(folders, agents.Folder{Path: filepath.Join(p.Root, filepath.FromSlash(at)), Prefix: p.Name + ":", Root: p.Root})
		}
	}
	return agents.Load(folders...)
}
