package confine

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// Protected are the names of files and folders that configure what runs, at any depth
// of the workspace (SPEC 16.3), besides .git. The permissions ask about the same ones.
// A name is here only if it is known that a program runs something of it when a person
// opens the folder, or starts or uses the program there; files that are run as the
// project's own code are not. HEAD, which would make a folder a bare git repository, is
// judged apart.
var Protected = slices.Concat(guidance.Names(), []string{
	// git: submodule.NAME.update = !command.
	".gitmodules",
	// The shell that enters the folder: direnv; mise runs [hooks], _.source and
	// exec(), and trusts a path, not a content.
	".envrc", "mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".mise",
	// Other agents: MCP servers (.cursor/mcp.json, .gemini/settings.json,
	// .codex/config.toml, opencode.json) and hooks (.cursor/hooks.json,
	// .windsurf/hooks.json) are started, .opencode/plugins is loaded, lint-cmd runs
	// after each edit of aider.
	".cursor", ".gemini", ".codex", ".opencode", "opencode.json", "opencode.jsonc", ".windsurf", ".aider.conf.yml",
	// Editors: tasks of a folder that is opened, file watchers and startup tasks,
	// initializeCommand on the host, commands of language servers, exrc.
	".vscode", ".idea", ".devcontainer", ".devcontainer.json", ".zed", ".helix", ".exrc", ".nvimrc", ".nvim.lua",
})
