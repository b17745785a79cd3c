package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/memory"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/prompt"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
)

// instructions is what the model is told about the project and the person, and where
// its notes are stored.
type instructions struct {
	system  string
	rules   func(context.Context, session.Guidance) []string
	nodes   *memory.Nodes // nil if nothing is stored
	notes   tool.Notes
	prefer  func(string) error
	answers answers.Store
	kinds   []agents.Kind // kinds of agents that the model may start
	skills  []skills.Skill
}

func (e *Environment) instructions(ctx context.Context, opt *Options, fr Frontend, c choices, w services, o *Opened) (t instructions, err error) {
	book, memory := &rulebook{o: e.Rules(c.dir, c.paths), mask: w.mask.String}, e.Memory(c.paths, c.dir, w.mask.String)
	t.rules = notesOf(book, memory)
	o.GitUses = book.uses(o.GitUses)
	if c.by.boxes != nil {
		c.by.boxes.Keep(book.Files)
	}
	text, warnings, err := book.start(ctx, fr.ReadOnly)
	if err != nil {
		return t, err
	}
	o.warn(warnings...)
	if !fr.ReadOnly {
		known, warnings := memory.prompt()
		text = known + text // rules come last: they are the closest to the task
		o.warn(warnings...)
	}
	memory.rules = text
	if !fr.ReadOnly && c.conf.User.Agents.Levels() > 0 {
		t.kinds, warnings = e.kinds(c.dir, c.paths, c.plugins, w.mask.String)
		t.kinds = agents.Before(opt.Driver.Agents, t.kinds)
		for i := range t.kinds {
			t.kinds[i].Remember(e.Env("HOME"), c.dir)
		}
		o.warn(warnings...)
	}
	t.system = opt.SystemPrompt
	commands := fr.Commands || fr.Person
	var known []skills.Skill
	if !fr.ReadOnly && (t.system == "" || commands) {
		known, warnings = skills.Load(e.textFolders(c.dir, c.paths, "skills", c.plugins)...)
		o.warn(warnings...)
	}
	var read []frontFile
	if !fr.ReadOnly && commands {
		o.Custom, read, warnings = e.commandsIn(c.dir, c.paths, c.plugins, known)
		o.warn(warnings...)
	}
	e.tellOnce(opt, c, "skills", unusedKeys(c.dir, e.Env("HOME"), read, known, t.kinds).Summary(), o)
	if t.system == "" {
		t.skills = opt.Driver.Offered(known)
		t.system = prompt.System(e.facts(fr, c, w)) + e.style(c, w.mask.String, o)
	}
	t.system += text
	if opt.AppendPrompt != "" {
		t.system = strings.TrimRight(t.system, "\n") + "\n\n" + opt.AppendPrompt + "\n"
	}
	if opt.NoSession || fr.WorkerTree {
		return t, nil
	}
	t.nodes, t.notes, t.prefer = memory.Turns, memory, memory.prefer
	if c.conf.User.QueryCache {
		t.answers = memory
	}
	return t, nil
}

// style returns the output style that the settings for Claude Code choose, as a part of
// the system prompt. Like rules it is only text, so it needs no trust.
func (e *Environment) style(c choices, mask func(string) string, o *Opened) string {
	name := claudecode.Join(c.conf.Guards).Style
	if name == "" || c.readOnly {
		return ""
	}
	s, warnings, ok := e.findStyle(c.dir, name)
	o.warn(warnings...)
	if !ok {
		o.warn(fmt.Sprintf("the output style %.64q is not used: %s", name, noStyle))
		return ""
	}
	return "\n\n# How to answer (output style " + s.Name + ")\n\n" + mask(s.Text) + "\n"
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

func shellName(posix bool) string {
	if posix {
		return "sh"
	}
	return "bash"
}
