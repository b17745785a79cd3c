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
func (e *Environment) keepGuards(opt *Options, c choices, o *Opened) error {
	if len(c.conf.Unkept) > 0 {
		return Usage("this folder forbids something that pawl cannot enforce, so it does not start:\n  %s\ncorrect or remove it; pawl doctor lists every key", strings.Join(c.conf.Unkept, "\n  "))
	}
	once := func(about, line string) { e.tellOnce(opt, c, about, line, o) }
	for _, g := range c.conf.Guards {
		if g.File.Given {
			for _, idle := range g.Idle() {
				o.warn(g.File.Name + ": " + idle)
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
				once(n, line)
			} else {
				o.warn(line)
			}
		}
		if !g.Foreign || !g.File.Own { // what a person has for another agent is for pawl doctor
			once(g.File.Name, g.Summary())
		}
	}
	return nil
}

// tellOnce warns of something about the folder that the person was not told before.
func (e *Environment) tellOnce(opt *Options, c choices, about, line string, o *Opened) {
	if line != "" && (opt.NoSession || (settings.Told{Path: c.paths.Told()}).First(c.dir+" "+about, line)) {
		o.warn(line)
	}
}

// givenSettings reads settings in Claude Code's form that were handed over for this run.
// They count like a folder's: what they forbid holds, and what they permit is left out.
func (e *Environment) givenSettings(opt *Options, dir string) (out []claudecode.Settings, err error) {
	files := slices.Clone(opt.Driver.Settings)
	for _, text := range opt.Settings {
		f := claudecode.File{Name: "--settings", Text: []byte(text), Given: true}
		if !strings.HasPrefix(strings.TrimSpace(text), "{") {
			if f.Text, err = os.ReadFile(e.Path(text)); err != nil {
				return nil, Usage("--settings: cannot read the file: %w", err)
			}
		}
		files = append(files, f)
	}
	for _, f := range files {
		f.Root = filepath.ToSlash(dir)
		s := claudecode.Read(f)
		if err := s.Err(); err != nil {
			return nil, Usage("%w", err)
		}
		out = append(out, s)
	}
	return out, nil
}

// narrowMode returns the mode in which a session begins: the guards can make it narrower
// than the configuration does, but not than the person says now.
func narrowMode(opt *Options, mode permission.Mode, guards []claudecode.Settings, o *Opened) (permission.Mode, error) {
	refused := claudecode.RefusedBy(guards)
	if by := refused[mode]; by != "" && opt.Mode != "" {
		return "", Usage("the mode %s is refused by %s; choose another --permission-mode", mode, by)
	} else if by != "" {
		o.warn(fmt.Sprintf("the mode is %s: %s is refused by %s", permission.Default(false), mode, by))
		mode = permission.Default(false)
	}
	if wanted := claudecode.Join(guards).Mode; opt.Mode == "" && wanted != "" && mode.Wider(wanted) {
		o.warn(fmt.Sprintf("the mode is %s, as .claude/settings.json says; --permission-mode changes it", wanted))
		mode = wanted
	}
	return mode, nil
}

// keepSandbox compares what the guards want of a sandbox with what there is.
func keepSandbox(c choices, o *Opened) error {
	wants := claudecode.Join(c.conf.Guards)
	switch {
	case !wants.Sandbox || c.by.Confined():
	case wants.Must:
		return Usage("sandbox.failIfUnavailable in the folder's settings requires a sandbox, and commands would run without one; leave out --sandbox off, or see pawl doctor")
	default:
		o.warn("sandbox.enabled in the folder's settings requires a sandbox, and commands run without one: see pawl doctor")
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
