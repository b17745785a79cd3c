package cli

import (
	"fmt"
	"path"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// textFolders returns the folders of skills or commands, in the order of
// precedence. They are only text, like rules, so they are read in untrusted
// folders too.
func (a *App) textFolders(dir string, p settings.Paths, what string, plugins []usedPlugin) []skills.Folder {
	var out []skills.Folder
	for _, at := range []string{".pawl", ".agents", ".claude"} {
		out = append(out, skills.Folder{Root: dir, Path: path.Join(at, what)})
	}
	out = append(out, skills.Folder{Root: p.Config, Path: what})
	for _, p := range plugins {
		paths := p.Skills
		if what == "commands" {
			paths = p.Commands
		}
		for _, at := range paths {
			out = append(out, skills.Folder{Root: p.Root, Path: at, Prefix: p.Name + ":"})
		}
	}
	home := a.Env("HOME")
	if home == "" || filepath.Clean(home) == dir { // then they are the folder's own
		return out
	}
	for _, at := range []string{".agents", ".claude"} {
		out = append(out, skills.Folder{Root: home, Path: path.Join(at, what)})
	}
	return out
}

// readCommands reads the custom commands of a conversation.
func (o *opened) readCommands(folders []skills.Folder) {
	all, warnings := skills.LoadCommands(folders...)
	o.warnings = append(o.warnings, warnings...)
	for _, c := range all {
		if slash.Builtin(c.Name) {
			o.warnings = append(o.warnings, fmt.Sprintf("%s can not be used: pawl has a command /%s of its own; give the file another name", c.File, c.Name))
		}
		custom := slash.Custom{Name: c.Name, Args: c.Hint, Doc: c.Description, Prompt: c.Prompt, Bad: c.Tools.Bad}
		if c.Tools.Limited {
			custom.Narrowed = &event.Narrowed{By: "the command /" + c.Name, Rules: c.Tools.Rules, File: c.File}
		}
		o.custom = append(o.custom, custom)
	}
}
