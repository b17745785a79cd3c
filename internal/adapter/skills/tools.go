package skills

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// allowedTools is the name of the field that limits the tools of a turn.
const allowedTools = "allowed-tools"

// Allowed is the list of tools, as permission rules, to which a command or a skill limits
// the turn that uses it, and of those that it forbids it. It never adds a right.
type Allowed struct {
	Limited    bool // there is a list, and it does not leave every tool
	Rules, Not []string
	Hooks      string // the file whose hooks hold as long; "": none
	// Bad explains, with file and line, why the list cannot be read; then the text must
	// not be used.
	Bad error
}

// allowed returns the list in the file's front matter.
func (s file) allowed() Allowed {
	if s.unkept != nil {
		return Allowed{Limited: true, Bad: fmt.Errorf("%s: %w", s.path, s.unkept)}
	}
	rules, all, err := s.rules(allowedTools)
	if err != nil {
		return s.bad(allowedTools, err)
	}
	_, set := s.fields[allowedTools]
	out := Allowed{Limited: set && !all, Rules: rules}
	if all {
		out.Rules = nil
	}
	for _, key := range []string{"disallowed-tools", "disallowedtools"} {
		texts, all, err := s.rules(key)
		if all {
			out.Limited, texts, out.Rules = true, nil, nil // no tool is left
		}
		for _, t := range texts {
			var not []permission.Rule
			if not, err = claudecode.Forbidden(t); err != nil {
				break
			}
			for _, r := range not {
				out.Not = append(out.Not, r.Text)
			}
		}
		if err != nil {
			return s.bad(key, err)
		}
	}
	if out.Limited && len(out.Rules) == 0 {
		out.Not = nil
		if s.hooks != "" {
			return s.bad(allowedTools, errors.New("it leaves no tool, and the file has hooks"))
		}
	}
	out.Hooks = s.hooks
	out.Limited = out.Limited || len(out.Not) > 0
	return out
}

// rules returns the rules of a field. all reports whether it names every tool.
func (s file) rules(key string) (rules []string, all bool, err error) {
	var texts []string
	switch v := s.fields[key].(type) {
	case nil:
	case string:
		texts = []string{listed(v)}
	case []any:
		for _, e := range v {
			t, ok := e.(string)
			if !ok {
				return nil, false, fmt.Errorf("%v is not a permission rule", e)
			}
			texts = append(texts, t)
		}
	default:
		return nil, false, errors.New("it must be permission rules, separated by commas, such as Read, Bash(git add:*)")
	}
	for _, t := range texts {
		some, every, err := permission.ParseTools(t)
		if err != nil {
			return nil, false, err
		}
		rules, all = append(rules, some...), all || every
	}
	return rules, all, nil
}

// told returns the list as a sentence for the model.
func (a Allowed) told() string {
	return "Until this turn ends only calls of these are run: " + event.Narrowed{Rules: a.Rules, Not: a.Not}.Left() + ". That grants nothing."
}

// Narrowed returns the event that limits a turn, nil if nothing does.
func (a Allowed) Narrowed(by, file string) *event.Narrowed {
	if !a.Limited && a.Hooks == "" {
		return nil
	}
	return &event.Narrowed{By: by, Rules: a.Rules, Not: a.Not, File: file, Hooks: a.Hooks}
}

// listed returns the items of a YAML list in a text that could not be read as YAML,
// without its marks.
func listed(s string) string {
	s = strings.TrimSpace(s)
	if in, ok := strings.CutPrefix(s, "["); ok {
		s = strings.TrimSuffix(in, "]")
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimPrefix(strings.TrimSpace(l), "- ")
	}
	return strings.Join(lines, "\n")
}

// bad returns an Allowed with the error and its line.
func (s file) bad(key string, err error) Allowed {
	n := 1
	for i, l := range strings.Split(s.raw, "\n") {
		if name, _, ok := strings.Cut(l, ":"); ok && strings.EqualFold(strings.Trim(name, ` "'`), key) {
			n = i + 1
			break
		}
	}
	return Allowed{Limited: true, Bad: fmt.Errorf("%s:%d: %s cannot be read: %w", s.path, n, key, err)}
}
