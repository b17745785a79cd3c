// Package guidance lists the files of a workspace that pawl reads as instructions: rules,
// skills, commands, agents and settings. The readers take their names from here, and the
// sandbox and the permissions protect the same names, so that what the agent writes is
// not obeyed in the next session unless a person agreed (SPEC 16.16). What rules import is
// in no list: the reader of the rules tells it (adapter/rules, Set.Read).
package guidance

import (
	"slices"
	"strings"
)

// The names, relative to a folder, that pawl reads.
const (
	OwnRules    = ".pawl/rules.md"
	LegacyRules = ".agent/rules.md" // where a project has no other rules
	// LocalRules are a person's own for a folder, beside its rules.
	LocalRules = "CLAUDE.local.md"
	Settings   = ".pawl/config.json"
	Servers    = ".mcp.json"
)

var (
	// Rules are the rules of a folder: the first that exists.
	Rules = []string{"AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"}
	// RuleFolders have rules in files of their own, some only for files that match.
	RuleFolders = []string{".claude/rules", ".cursor/rules"}
	// Texts are the folders of skills and commands.
	Texts = []string{".pawl", ".agents", ".claude"}
	// Agents are the folders of kinds of agents.
	Agents = []string{".pawl/agents", ".claude/agents"}
	// Hooks are the settings that configure hooks.
	Hooks = []string{".claude/settings.json", ".claude/settings.local.json", Settings}
)

// Fronts returns the folders of agents, skills and commands.
func Fronts() []string {
	out := slices.Clone(Agents)
	for _, t := range Texts {
		out = append(out, t+"/skills", t+"/commands")
	}
	return out
}

// HomeFronts are those of them that are read in a home folder, too.
func HomeFronts() []string {
	return slices.DeleteFunc(Fronts(), func(f string) bool { return strings.HasPrefix(f, Texts[0]+"/") })
}

// Names returns the first part of each path, once.
func Names() []string {
	var out []string
	for _, p := range slices.Concat(Rules, []string{LocalRules, OwnRules, LegacyRules, Settings, Servers}, RuleFolders, Texts, Agents, Hooks) {
		if first, _, _ := strings.Cut(p, "/"); !slices.Contains(out, first) {
			out = append(out, first)
		}
	}
	return out
}
