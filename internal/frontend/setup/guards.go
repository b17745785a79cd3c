package setup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file keeps the guards that a folder, or another agent's settings, have
// (SPEC 16.17): before anything runs each is in force, is named, or stops the start.

// keepGuards stops the start for a guard of the folder that cannot be kept, and names
// what is not used.
func (s *opening) keepGuards() error {
	if len(s.conf.Unkept) > 0 {
		return Usage("this folder forbids something that pawl cannot enforce, so it does not start:\n  %s\ncorrect or remove it; pawl doctor lists every key", strings.Join(s.conf.Unkept, "\n  "))
	}
	for _, g := range s.conf.Guards {
		if g.File.Given {
			for _, idle := range g.Idle() {
				s.o.warn(g.File.Name + ": " + idle)
			}
			continue
		}
		var named []string
		for _, f := range g.Named() {
			named = append(named, f.Key+": "+f.Note)
		}
		if g.File.Own { // another program's settings, which the person may be unable to change
			named = append(named, g.Problems...)
		}
		for _, n := range named {
			line := "not enforced: " + g.File.Name + ": " + strings.TrimPrefix(n, g.File.Name+": ")
			if g.File.Own {
				s.tellOnce(n, line)
			} else {
				s.o.warn(line)
			}
		}
		if !g.Foreign || !g.File.Own { // what a person has for another agent is for pawl doctor
			s.tellOnce(g.File.Name, g.Summary())
		}
	}
	return nil
}

// tellOnce warns of something about the folder that the person was not told before.
func (s *opening) tellOnce(about, line string) {
	if line != "" && (s.opt.NoSession || (settings.Told{Path: s.paths.Told()}).First(s.session.Dir+" "+about, line)) {
		s.o.warn(line)
	}
}

// givenSettings reads settings in Claude Code's form that were handed over for this run.
// They count like a folder's: what they forbid holds, and what they permit is left out.
func (s *opening) givenSettings() (out []claudecode.Settings, err error) {
	files := slices.Clone(s.opt.Driver.Settings)
	for _, text := range s.opt.Settings {
		f := claudecode.File{Name: "--settings", Text: []byte(text), Given: true}
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			if f.Text, err = os.ReadFile(s.Path(text)); err != nil {
				return nil, Usage("--settings: cannot read the file: %w", err)
			}
		}
		files = append(files, f)
	}
	for _, f := range files {
		f.Root = filepath.ToSlash(s.session.Dir)
		read := claudecode.Read(f)
		if err := read.Err(); err != nil {
			return nil, Usage("%w", err)
		}
		out = append(out, read)
	}
	return out, nil
}

// narrowMode returns the mode in which a session begins: the guards can make it narrower
// than the configuration does, but not than the person says now.
func (s *opening) narrowMode(mode permission.Mode) (permission.Mode, error) {
	guards, chosen := s.conf.Guards, s.opt.Mode != ""
	refused := claudecode.RefusedBy(guards)
	if by := refused[mode]; by != "" && chosen {
		return "", Usage("the mode %s is refused by %s; choose another --permission-mode", mode, by)
	} else if by != "" {
		s.o.warn(fmt.Sprintf("the mode is %s: %s is refused by %s", permission.Default(false), mode, by))
		mode = permission.Default(false)
	}
	if wanted := claudecode.Join(guards).Mode; !chosen && wanted != "" && mode.Wider(wanted) {
		s.o.warn(fmt.Sprintf("the mode is %s, as .claude/settings.json says; --permission-mode changes it", wanted))
		mode = wanted
	}
	return mode, nil
}

// keepSandbox compares what the guards want of a sandbox with what there is.
func (s *opening) keepSandbox() error {
	wants := claudecode.Join(s.conf.Guards)
	switch {
	case !wants.Sandbox || s.o.Confinement.Confined():
	case wants.Must:
		return Usage("sandbox.failIfUnavailable in the folder's settings requires a sandbox, and commands would run without one; leave out --sandbox off, or see pawl doctor")
	default:
		s.o.warn("sandbox.enabled in the folder's settings requires a sandbox, and commands run without one: see pawl doctor")
	}
	return nil
}

// withoutDenied leaves out the MCP servers that the guards name.
func withoutDenied(list []mcp.Server, guards []claudecode.Settings) []mcp.Server {
	denied := claudecode.Join(guards).Servers
	return slices.DeleteFunc(list, func(s mcp.Server) bool {
		return slices.ContainsFunc(denied, func(n string) bool { return strings.EqualFold(n, s.Name) })
	})
}

// nameless returns an error for a rule that denies or asks about a tool which neither
// pawl nor another agent has: the rule would guard nothing.
func nameless(rules []permission.Rule) error {
	var every tool.Set // made where a rule needs it
	for _, r := range rules {
		name := tool.PlainName(r.Tool)
		if r.List == permission.Allows || strings.HasPrefix(r.Tool, "mcp_") || permission.IsFamily(r.Tool) || claudecode.Absent(r.Tool) || name == "skill" {
			continue
		}
		if every == nil {
			every = everyTool()
		}
		if _, known := every.Resolve(r.Tool); !known {
			return Usage("the rule %s %s is about a tool that pawl does not know; doc/safety.md lists what rules are about", r.List, r.Text)
		}
	}
	return nil
}
