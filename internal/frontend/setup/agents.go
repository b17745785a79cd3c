package setup

import (
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// kinds reads the kinds of agents that a folder, the plugins and the user define.
// Untrusted folders are read too: like rules, kinds are only text, and grant an agent
// no more than the session has. Secrets in them are masked.
func (e *Environment) kinds(dir string, p settings.Paths, plugins []Plugin, mask func(string) string) ([]agents.Kind, []string) {
	var folders []agents.Folder
	for _, at := range guidance.Agents {
		folders = append(folders, agents.Folder{Path: filepath.Join(dir, filepath.FromSlash(at))})
	}
	folders = append(folders, agents.Folder{Path: filepath.Join(p.Config, "agents")})
	if home := e.Env("HOME"); home != "" {
		folders = append(folders, agents.Folder{Path: filepath.Join(home, filepath.FromSlash(guidance.Agents[1]))})
	}
	kinds, warnings := LoadAgents(plugins, folders...)
	for i := range kinds {
		kinds[i].Description, kinds[i].Prompt = mask(kinds[i].Description), mask(kinds[i].Prompt)
	}
	return kinds, warnings
}

// LoadAgents reads the kinds of agents in the given folders, and then those of plugins.
func LoadAgents(plugins []Plugin, folders ...agents.Folder) ([]agents.Kind, []string) {
	for _, p := range plugins {
		for _, at := range p.Agents {
			folders = append(folders, agents.Folder{Path: filepath.Join(p.Root, filepath.FromSlash(at)), Prefix: p.Name + ":", Root: p.Root})
		}
	}
	return agents.Load(folders...)
}

// AgentKinds returns the kinds of agents that a folder, the user and the plugins
// define.
func (e *Environment) AgentKinds(dir string, paths settings.Paths) ([]agents.Kind, []string) {
	plugins, _ := e.Plugins(paths, dir) // opening a session reports unreadable ones
	return e.kinds(dir, paths, plugins, secrets.New(e.Secrets()...).String)
}
