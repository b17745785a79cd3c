package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/frontend/agentsdk"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// kinds reads the kinds of agents that a folder, the plugins and the user define.
// Untrusted folders are read too: like rules, kinds are only text, and grant an agent
// no more than the session has. Secrets in them are masked.
func (e *Environment) kinds(dir string, p settings.Paths, plugins []Plugin, mask func(string) string) ([]agents.Kind, []string) {
	var folders []agents.Folder
	for _, at := range guidance.Agents {
		folders = append(folders, agents.Folder{Path: filepath.Join(dir, filepath.FromSlash(at)), In: at})
	}
	folders = append(folders, agents.Folder{Path: filepath.Join(p.Config, "agents")})
	if home := e.Env("HOME"); home != "" {
		folders = append(folders, agents.Folder{Path: filepath.Join(home, filepath.FromSlash(guidance.Agents[1]))})
	}
	kinds, warnings := LoadAgents(plugins, folders...)
	if slices.ContainsFunc(kinds, func(k agents.Kind) bool { return len(k.Skills) > 0 }) {
		known, _ := skills.Load(e.textFolders(dir, p, "skills", plugins)...) // opening a session reports unreadable ones
		for i := range kinds {
			warnings = append(warnings, giveSkills(&kinds[i], known)...)
		}
	}
	for i := range kinds {
		kinds[i].Description, kinds[i].Prompt = mask(kinds[i].Description), mask(kinds[i].Prompt)
	}
	return kinds, warnings
}

// giveSkills adds the texts of an agent's skills to its prompt. A skill that limits the
// tools is not given: the agent can call it, and then its limit holds.
func giveSkills(k *agents.Kind, known []skills.Skill) (warnings []string) {
	for _, name := range k.Skills {
		i := slices.IndexFunc(known, func(s skills.Skill) bool { return strings.EqualFold(s.Name, name) })
		why := ""
		switch {
		case i < 0:
			why = "there is no such skill"
		case known[i].NoModel:
			why = "only a person may use it"
		case known[i].Tools.Narrowed("", "") != nil:
			why = "it limits the turn, so the agent calls it itself"
		case known[i].Fork:
			why = "it runs in an agent of its own"
		default:
			k.Prompt += "\n\n" + known[i].Command().Text
			continue
		}
		warnings = append(warnings, fmt.Sprintf("the agent in %s does not get the skill %.64q at its start: %s", k.File, name, why))
	}
	return warnings
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

// AgentKinds returns the kinds of agents that a folder, the user, and the plugins given and
// installed define.
func (e *Environment) AgentKinds(dir string, paths settings.Paths, given ...agentsdk.Plugin) ([]agents.Kind, []string) {
	plugins, _ := e.Plugins(paths, dir, given...) // opening a session reports unreadable ones
	return e.kinds(dir, paths, plugins, secrets.New(e.Secrets()...).String)
}
