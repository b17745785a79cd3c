package setup

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/core/sorting"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// frontFile is a skill, a command or an agent, with what becomes of its keys.
type frontFile struct {
	path string
	keys []claudecode.Finding
}

// unusedKeys returns the keys of such files that are not used, each once, with the files
// that have it.
func unusedKeys(dir, home string, read []frontFile, known []skills.Skill, kinds []agents.Kind) claudecode.Settings {
	for _, s := range known {
		read = append(read, frontFile{s.File, s.Keys})
	}
	for _, k := range kinds {
		read = append(read, frontFile{k.File, k.Keys})
	}
	out := claudecode.Settings{File: claudecode.File{Name: "skills, commands and agents"}}
	files := map[claudecode.Finding][]string{}
	for _, f := range read {
		for _, k := range f.keys {
			if k.Use != claudecode.Unused && k.Use != claudecode.Unknown {
				continue
			}
			if files[k] == nil {
				out.Findings = append(out.Findings, k)
			}
			files[k] = append(files[k], f.path)
		}
	}
	sorting.By(out.Findings, func(a, b claudecode.Finding) int { return strings.Compare(a.Key, b.Key) })
	for i, k := range out.Findings {
		at := files[k][0]
		if rel, err := filepath.Rel(dir, at); err == nil && filepath.IsLocal(rel) {
			at = rel
		} else if rel, err := filepath.Rel(home, at); err == nil && filepath.IsLocal(rel) && home != "" {
			at = filepath.Join("~", rel)
		}
		out.Findings[i].Key += " of " + filepath.ToSlash(at)
		if n := len(files[k]) - 1; n > 0 {
			out.Findings[i].Key += fmt.Sprintf(" and %d more", n)
		}
	}
	return out
}

// UnusedKeys is unusedKeys for the files of a folder, of the person and of the plugins.
// Its problems are the files that are not used.
func (e *Environment) UnusedKeys(dir string, paths settings.Paths) claudecode.Settings {
	plugins, _ := e.Plugins(paths, dir)
	known, bad := skills.Load(e.textFolders(dir, paths, "skills", plugins)...)
	all, read, commands := e.commandsIn(dir, paths, plugins, known)
	kinds, agents := e.AgentKinds(dir, paths)
	out := unusedKeys(dir, e.Env("HOME"), read, known, kinds)
	out.File.Own = true // none of them stops a session
	out.Problems = slices.Concat(bad, commands, agents)
	for _, c := range all {
		if c.Bad != nil {
			out.Problems = append(out.Problems, "/"+c.Name+" is not used: "+c.Bad.Error())
		}
	}
	return out
}
