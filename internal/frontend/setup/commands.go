package setup

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/catalog"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/guidance"
)

// textFolders returns the folders of skills or of commands (what), in order of
// precedence. Untrusted folders are included: like rules, their content is only text.
func (e *Environment) textFolders(dir string, p settings.Paths, what string, plugins []Plugin) []skills.Folder {
	var out []skills.Folder
	for _, at := range guidance.Texts {
		out = append(out, skills.Folder{Root: dir, Path: path.Join(at, what), Here: true})
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
	home := e.Env("HOME")
	if home == "" || filepath.Clean(home) == dir { // then the folder's own, listed above, are the same
		return out
	}
	for _, at := range guidance.Texts[1:] {
		out = append(out, skills.Folder{Root: home, Path: path.Join(at, what)})
	}
	return out
}

// commandsIn reads the commands that the user and the project define in files, and adds
// the skills that a user may invoke. A skill wins over a command of the same name.
func (e *Environment) commandsIn(dir string, p settings.Paths, plugins []Plugin, known []skills.Skill) (out []slash.Custom, read []frontFile, warnings []string) {
	var all []skills.Command
	for _, s := range known {
		if !s.NoPerson && !slash.Builtin(s.Name) { // the model can still use it
			all = append(all, s.Command())
		}
	}
	files, warnings := skills.LoadCommands(e.textFolders(dir, p, "commands", plugins)...)
	for _, c := range files {
		read = append(read, frontFile{c.File, c.Keys})
		if slash.Builtin(c.Name) {
			warnings = append(warnings, fmt.Sprintf("%s cannot be used: pawl has a built-in command /%s; rename the file", c.File, c.Name))
		}
		if !slices.ContainsFunc(all, func(k skills.Command) bool { return k.Name == c.Name }) {
			all = append(all, c)
		}
	}
	for _, c := range all {
		isSkill := slices.ContainsFunc(known, func(s skills.Skill) bool { return s.Name == c.Name })
		custom := slash.Custom{Skill: isSkill, Name: c.Name, Args: c.Hint, Doc: c.Description, Model: c.Model, Effort: c.Effort, Bad: c.Tools.Bad}
		if c.Effort != "" && !slices.Contains(catalog.Efforts(), c.Effort) && custom.Bad == nil {
			custom.Bad = fmt.Errorf("%s: the effort %.20q is not one of %s", c.File, c.Effort, strings.Join(catalog.Efforts(), ", "))
		}
		custom.Prompt = func(args string) string {
			text, _ := c.Prompt(args)
			return text
		}
		custom.Lines = func(args string) []string {
			_, lines := c.Prompt(args)
			return lines
		}
		custom.Narrowed = c.Tools.Narrowed("the command /"+c.Name, c.File)
		out = append(out, custom)
	}
	return out, read, warnings
}

// Commands reads the commands before a session is open. Problems with them are reported
// when it opens.
func (e *Environment) Commands(opt *Options) []slash.Custom {
	dir, err := e.RealDir(opt.Dir)
	if err != nil {
		return nil
	}
	paths, err := settings.PathsFrom(e.Env)
	if err != nil {
		return nil
	}
	plugins, _ := e.Plugins(paths, dir, opt.plugins()...)
	known, _ := skills.Load(e.textFolders(dir, paths, "skills", plugins)...)
	out, _, _ := e.commandsIn(dir, paths, plugins, known)
	return out
}
