package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// Setting is a setting of another agent that exists.
type Setting struct {
	Path string // as people write it: .mcp.json, ~/.codex/config.toml
	Use  Use
	How  string // what to do so that pawl uses it, "" for nothing
}

// Use is how pawl uses a setting of another agent.
type Use string

// The uses.
const (
	Read    Use = "read"    // read unchanged
	Trusted Use = "trusted" // used if the folder is trusted
	Ignored Use = "ignored"
	// Partly: its guards hold, and of the rest `pawl doctor` tells each key.
	Partly Use = "partly"
)

const (
	asRules = "write it into AGENTS.md, or link AGENTS.md to it"
	servers = "its MCP servers: pawl mcp import "
)

// others are the settings of other agents, in a workspace or, with ~, in the home folder.
// Instructions that every agent reads (AGENTS.md) are not among them.
var others = []Setting{
	{"CLAUDE.md", Read, ""},
	{".claude/CLAUDE.md", Read, ""},
	{".claude/rules", Read, ""},
	{"CLAUDE.local.md", Read, ""},
	{".claude/commands", Read, ""},
	{".claude/skills", Read, ""},
	{".claude/agents", Read, ""},
	{".agents/skills", Read, ""},
	{".agents/commands", Read, ""},
	{".mcp.json", Trusted, ""},
	{".claude/settings.json", Partly, ""},
	{".claude/settings.local.json", Partly, ""},
	{"GEMINI.md", Read, ""},
	{".gemini/settings.json", Ignored, servers + "gemini"},
	{".cursorrules", Ignored, asRules},
	{".cursor/rules", Read, ""},
	{".cursor/mcp.json", Ignored, servers + "cursor"},
	{".windsurfrules", Ignored, asRules},
	{".clinerules", Ignored, asRules},
	{".github/copilot-instructions.md", Ignored, asRules},
	{".aider.conf.yml", Ignored, "pawl config"},
	{"opencode.json", Ignored, servers + "opencode"},
	{".opencode", Ignored, ""},
	{"crush.json", Ignored, "pawl config"},
	{".crush.json", Ignored, "pawl config"},
	{".codex/config.toml", Ignored, "pawl config"},
	{".pi", Ignored, ""},

	{"~/.claude/commands", Read, ""},
	{"~/.claude/skills", Read, ""},
	{"~/.claude/agents", Read, ""},
	{"~/.agents/skills", Read, ""},
	{"~/.agents/commands", Read, ""},
	{"~/.claude/CLAUDE.md", Read, ""},
	{"~/.claude/rules", Read, ""},
	{"~/.claude/settings.json", Partly, ""},
	{"~/.claude.json", Ignored, servers + "claude"},
	{"~/.codex/config.toml", Ignored, servers + "codex"},
	{"~/.codex/AGENTS.md", Ignored, "pawl reads rules.md beside its configuration (pawl config path)"},
	{"~/.gemini/settings.json", Ignored, servers + "gemini"},
	{"~/.gemini/GEMINI.md", Ignored, "pawl reads rules.md beside its configuration (pawl config path)"},
	{"~/.cursor/mcp.json", Ignored, servers + "cursor"},
	{"~/.config/opencode/opencode.json", Ignored, servers + "opencode"},
	{"~/.config/crush/crush.json", Ignored, "pawl config"},
	{"~/.aider.conf.yml", Ignored, "pawl config"},
	{"~/.pi/agent", Ignored, ""},
}

// Others returns the settings of other agents in a workspace and in the home folder, and
// how pawl uses each. It only tests whether they exist.
func Others(dir, home string) []Setting {
	var out []Setting
	for _, s := range others {
		at, name := dir, s.Path
		if below, ok := strings.CutPrefix(name, "~/"); ok {
			at, name = home, below
		}
		if at == "" {
			continue
		}
		if _, err := os.Lstat(filepath.Join(at, filepath.FromSlash(name))); err != nil {
			continue
		}
		for _, first := range guidance.Rules[:max(slices.Index(guidance.Rules, s.Path), 0)] {
			if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(first))); err == nil {
				s.Use, s.How = Ignored, first+" is there, too; @"+s.Path+" in that reads both"
				break
			}
		}
		out = append(out, s)
	}
	return out
}
