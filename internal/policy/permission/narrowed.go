package permission

import (
	"cmp"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file limits a turn to the allowed-tools of a command or a skill (SPEC 17.4):
// until the turn ends, calls that none of the list's rules covers are denied. It only
// restricts: a call that a rule covers is judged as without the list. If there are
// several lists, each must cover the call, so a second list never restores what the
// first removed. Their disallowed-tools are deny rules until then.

// ParseTools reads a list of allowed tools: permission rules, separated by commas
// or spaces. all reports whether it names every tool (*). An empty list is valid.
func ParseTools(text string) (rules []string, all bool, err error) {
	for _, one := range splitRules(text) {
		if one = strings.Trim(one, `"'`); one == "*" {
			all = true
			continue
		}
		if _, err := ParseRule(Allows, Flag, one); err != nil {
			return nil, false, err
		}
		rules = append(rules, one)
	}
	return rules, all, nil
}

// limit is one list in effect.
type limit struct {
	event.Narrowed
	rules []Rule
}

// limits are lists that apply together. The zero value limits nothing.
type limits []limit

// limit applies a list to the turn. With a rule of a newer version, which cannot be read,
// no tool is left.
func (p *Policy) limit(n event.Narrowed) {
	for _, text := range n.Not {
		r, err := ParseRule(Denies, Project, text)
		if err != nil {
			n.Rules, n.Not, n.Hooks = nil, nil, ""
			break
		}
		r.turn, r.Origin = true, "disallowed-tools of "+n.By
		p.rules = append(p.rules, r)
	}
	if len(n.Rules) > 0 || len(n.Not) == 0 && n.Hooks == "" {
		p.limits = p.limits.with(n)
	}
}

func ofTurn(r Rule) bool { return r.turn }

// beyondTurn returns the policy without the lists of the running turn.
func (p *Policy) beyondTurn() *Policy {
	q := *p
	q.limits, q.parentLimits, q.rules = nil, nil, slices.DeleteFunc(slices.Clone(p.rules), ofTurn)
	return &q
}

// with returns the limits with one more list. An unreadable rule, from a newer version,
// covers nothing.
func (ls limits) with(n event.Narrowed) limits {
	if slices.ContainsFunc(ls, func(l limit) bool { return l.By == n.By && l.File == n.File && slices.Equal(l.Rules, n.Rules) }) {
		return ls
	}
	l := limit{Narrowed: n}
	for _, text := range n.Rules {
		if r, err := ParseRule(Allows, Granted, text); err == nil {
			l.rules = append(l.rules, r)
		}
	}
	return append(slices.Clip(ls), l)
}

// withinTools denies a call that is outside a list of the running turn. A call that
// only asks the person is never outside, so the model can say what it lacks.
func (p *Policy) withinTools(c Call, d Decision) Decision {
	if d.Verdict == Deny || c.Footprint.AsksPerson {
		return d
	}
	named := c.Tool
	if c.Footprint.Shell != "" {
		named += "(" + shorten(c.Footprint.Shell) + ")"
	}
	for _, l := range append(slices.Clip(p.parentLimits), p.limits...) {
		if !p.covers(l, c) {
			return Decision{Verdict: Deny, By: event.ByAllowedTools, Reason: l.describe() + ", and " + named + " is none of them", Instead: "Say what is needed", Confine: d.Confine}
		}
	}
	return d
}

// describe returns the list as the beginning of a sentence.
func (l limit) describe() string {
	tools := shorten(strings.Join(l.Rules, ", "))
	tools = cmp.Or(tools, "no tools")
	out := "until this turn ends " + l.By + " allows only " + tools
	if l.File != "" {
		out += " (allowed-tools in " + l.File + ")"
	}
	return out
}

// covers reports whether the rules of a list cover every part of a call.
func (p *Policy) covers(l limit, c Call) bool {
	for _, r := range l.rules {
		if r.Bare && r.names(c.callee()) || c.ListsTools && strings.HasPrefix(r.Tool, "mcp__") {
			return true
		}
	}
	cmds, err := p.commands(c.Footprint)
	if err != nil {
		return false
	}
	if c.Footprint.Shell != "" || len(cmds) > 0 {
		return len(cmds) > 0 && !slices.ContainsFunc(cmds, func(cmd shellsyntax.Command) bool { return !p.coversCommand(l, cmd) })
	}
	some := false
	for _, u := range p.parts(c, nil) {
		if u.kind == readPart && c.Family == tool.EditFamily {
			continue // what it changes
		}
		if !slices.ContainsFunc(l.rules, func(r Rule) bool { return p.allows(r, u) }) {
			return false
		}
		some = true
	}
	return some
}

// coversCommand reports whether the rules cover a command and the files that its
// redirections write. The paths in its words belong to the command.
func (p *Policy) coversCommand(l limit, cmd shellsyntax.Command) bool {
	if !slices.ContainsFunc(l.rules, func(r Rule) bool {
		return r.Tool == tool.CommandFamily && !r.Bare && allowCommand(p.expandHome(r.words), cmd)
	}) {
		return false
	}
	for _, u := range p.written(cmd, false) {
		if !slices.ContainsFunc(l.rules, func(r Rule) bool {
			return r.family() == tool.EditFamily && (r.Bare || p.allows(r, u))
		}) {
			return false
		}
	}
	return true
}
