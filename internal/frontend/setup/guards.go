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
		return Usage("this folder forbids something that pawl cannot keep to, so it does not start:\n  %s\ncorrect or remove it; pawl doctor lists every key", strings.Join(c.conf.Unkept, "\n  "))
	}
	told := settings.Told{Path: c.paths.Told()}
	once := func(about, line string) {
		if opt.NoSession || told.First(c.dir+" "+about, line) {
			o.warn(line)
		}
	}
	for _, g := range c.conf.Guards {
		if g.File.Given {
			for _, idle := range g.Idle() {
				o.warn(g.File.Name + ": " + idle)
			}
			continue
		}
		var named []string
		for _, f := range g.Named() {
			named = append(named, f.String())
		}
		if g.File.Own { // another program's settings, which the person may be unable to change
			named = append(named, g.Problems...)
		}
		for _, n := range named {
			line := "not kept: " + g.File.Name + ": " + strings.TrimPrefix(n, g.File.Name+": ")
			if g.File.Own {
				once(n, line)
			} else {
				o.warn(line)
			}
		}
		if line := g.Summary(); line != "" {
			once(g.File.Name, line)
		}
	}
	return nil
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
		o.warn(fmt.Sprintf("the mode is %s and not %s, which is refused by %s", permission.Default(false), mode, by))
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
		return Usage("sandbox.failIfUnavailable in the folder's settings wants a sandbox, and commands would run without one; see pawl sandbox, and leave out --sandbox off")
	default:
		o.warn("sandbox.enabled in the folder's settings wants a sandbox, and commands run without one: see pawl sandbox")
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
	every := everyTool()
	for _, r := range rules {
		name := tool.PlainName(r.Tool)
		if r.List == permission.Allows || strings.HasPrefix(r.Tool, "mcp_") || permission.IsFamily(r.Tool) || claudecode.Absent(r.Tool) || name == "skill" {
			continue
		}
		if _, known := every.Resolve(r.Tool); !known {
			return Usage("the rule %s %s is about a tool that pawl does not know, so it would guard nothing; doc/safety.md lists what rules are about", r.List, r.Text)
		}
	}
	return nil
}
