package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/engine/prompt"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// instructions decides what the model is told about the project and the person, and where
// its notes are stored. It returns the skills that the model is offered.
func (s *opening) instructions(ctx context.Context) (offered []skills.Skill, err error) {
	o, dir, mask, own := s.o, s.session.Dir, s.session.Mask.String, !s.fr.ReadOnly
	book, memory := &rulebook{o: s.Rules(dir, s.paths), mask: mask}, s.Memory(s.paths, dir, mask)
	s.session.Rules = notesOf(book, memory)
	o.GitUses = book.uses(o.GitUses)
	if boxes := o.Confinement.boxes; boxes != nil {
		boxes.Keep(book.Files)
	}
	text := "" // what all sessions here are told
	if own {
		rules, warnings, err := book.start(ctx)
		if err != nil {
			return nil, err
		}
		known, more := memory.prompt()
		text = known + rules // rules come last: they are the closest to the task
		o.warn(append(warnings, more...)...)
	}
	memory.rules = text
	if own && s.conf.User.Agents.Levels() > 0 {
		kinds, warnings := s.Environment.kinds(dir, s.paths, s.plugins, mask)
		s.kinds = agents.Before(s.opt.Driver.Agents, kinds)
		for i := range s.kinds {
			s.kinds[i].Remember(s.Env("HOME"), dir)
		}
		o.warn(warnings...)
	}
	system, commands := s.opt.SystemPrompt, s.fr.Commands || s.fr.Person
	var known []skills.Skill
	if own && (system == "" || commands) {
		var warnings []string
		known, warnings = skills.Load(s.textFolders(dir, s.paths, "skills", s.plugins)...)
		o.warn(warnings...)
	}
	var read []frontFile
	if own && commands {
		var warnings []string
		o.Custom, read, warnings = s.commandsIn(dir, s.paths, s.plugins, known)
		o.warn(warnings...)
	}
	s.tellOnce("skills", unusedKeys(dir, s.Env("HOME"), read, known, s.kinds).Summary())
	if system == "" {
		offered = s.opt.Driver.Offered(known)
		system = prompt.System(s.facts()) + s.style()
	}
	system += text
	if s.opt.AppendPrompt != "" {
		system = strings.TrimRight(system, "\n") + "\n\n" + s.opt.AppendPrompt + "\n"
	}
	s.session.System = system
	if s.opt.NoSession || s.fr.WorkerTree {
		return offered, nil
	}
	s.nodes, s.session.Notes, s.session.Prefer = memory.Turns, memory, memory.prefer
	if s.conf.User.QueryCache {
		s.session.Answers = memory
	}
	return offered, nil
}

// style returns the output style that the settings for Claude Code choose, as a part of
// the system prompt. Like rules it is only text, so it needs no trust.
func (s *opening) style() string {
	name := claudecode.Join(s.conf.Guards).Style
	if name == "" || s.fr.ReadOnly {
		return ""
	}
	style, warnings, ok := s.findStyle(s.session.Dir, name)
	s.o.warn(warnings...)
	if !ok {
		s.o.warn(fmt.Sprintf("the output style %.64q is not used: %s", name, noStyle))
		return ""
	}
	return "\n\n# How to answer (output style " + style.Name + ")\n\n" + s.session.Mask.String(style.Text) + "\n"
}

const (
	stylesAt = ".claude/output-styles"
	noStyle  = "there is no such file in " + stylesAt + " here or in your home"
)

func (e *Environment) findStyle(dir, name string) (skills.Style, []string, bool) {
	folders := []skills.Folder{{Root: dir, Path: stylesAt}}
	if home := e.Env("HOME"); home != "" {
		folders = append(folders, skills.Folder{Root: home, Path: stylesAt})
	}
	return skills.FindStyle(name, folders...)
}

// JudgeStyles corrects what the settings for Claude Code say of their output styles: one is
// used, if its file exists.
func (e *Environment) JudgeStyles(dir string, guards []claudecode.Settings) {
	name := claudecode.Join(guards).Style
	if name == "" {
		return
	}
	_, _, ok := e.findStyle(dir, name)
	for _, g := range guards {
		for i, f := range g.Findings {
			switch {
			case f.Key != "outputStyle" || f.Use != claudecode.Differently:
			case g.Style != name:
				g.Findings[i].Use, g.Findings[i].Note = claudecode.Unused, fmt.Sprintf("another file chooses %.64q", name)
			case !ok:
				g.Findings[i].Use, g.Findings[i].Note = claudecode.Unused, noStyle
			}
		}
	}
}
