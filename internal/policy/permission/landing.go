package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file handles what the words of a command do not show: where its paths lead (SPEC
// 16.3, 16.8), whether it may change something that a deny rule names, and what it
// destroys permanently (SPEC 4.15).

// landUnit judges the place where a path of a command leads. If that place is
// not guarded, the decision about the command covers it.
func (p *Policy) landUnit(l tool.ResolvedPath) []unit {
	w := readUnit
	if l.Write {
		w = writeUnit
	}
	if l.Path == "" {
		verb := "reads "
		if l.Write {
			verb = "changes "
		}
		return []unit{{kind: w, guard: outsideGuard, derived: true, sensitive: true, maybe: l.Maybe, why: "it " + verb + p.shownPath(l.Named) + ", and where that leads cannot be known before it runs: " + l.Why}}
	}
	u := p.pathUnit(w, l.Path, false)
	if l.Maybe && u.git {
		return nil // what git runs is often run by hand, too
	}
	u.derived, u.maybe = true, l.Maybe
	if l.Name && u.guard == secretGuard {
		u.guard, u.sensitive, u.readOnly = noGuard, false, true
	}
	if l.Maybe && (p.deniesPath(u) || p.mayBeDenied(u)) {
		u.guard, u.why = deniedGuard, "it is given "+p.landsAt(l)
	}
	if at := p.landsAt(l); at != p.shown(l.Path) && u.guard != noGuard {
		u.why += " (" + p.shownPath(l.Named) + " leads there)"
	}
	return []unit{u}
}

// landsAt describes a place and the path that leads to it.
func (p *Policy) landsAt(l tool.ResolvedPath) string {
	if named := p.shownPath(l.Named); named != p.shown(l.Path) && l.Named != "" {
		return p.shown(l.Path) + ", where " + named + " leads"
	}
	return p.shown(l.Path)
}

func (p *Policy) shownPath(named string) string {
	if path.IsAbs(named) {
		return shorten(p.shown(path.Clean(named)))
	}
	return shorten(named)
}

// mentions returns the paths among the words of a command whose changes are not
// known, if a deny rule may name them.
func (p *Policy) mentions(c shellsyntax.Command) []unit {
	if len(c.Words) < 2 || !slices.ContainsFunc(p.rules, func(r Rule) bool {
		return r.List == Denies && !r.Bare && r.family() == tool.EditFamily
	}) {
		return nil
	}
	if command.Effects(c).Kind != command.Other || command.Reader(base(c)) {
		return nil
	}
	var out []unit
	for _, w := range c.Words[1:] {
		if !w.Known && !w.Glob && !strings.HasPrefix(w.Prefix, "-") {
			if u, ok := p.unknownWord(c, w); ok {
				out = append(out, u)
			}
			continue
		}
		for _, s := range candidates(w) {
			for _, abs := range forms(c, shellsyntax.Word{Text: s, Known: true}) {
				u := unit{kind: writeUnit, path: abs, glob: !w.Known, derived: true, maybe: true, why: "it is given " + p.shown(abs)}
				if p.deniesPath(u) || p.mayBeDenied(u) {
					u.guard = deniedGuard
					out = append(out, u)
				}
			}
		}
	}
	return out
}

// searched returns the folders that a command searches recursively, if a deny
// rule on reading may name something in them.
func (p *Policy) searched(c shellsyntax.Command) []unit {
	s, ok := command.SearchOf(base(c), c, nil)
	if !ok {
		return nil
	}
	if len(s.Dirs) == 0 {
		s.Dirs = []shellsyntax.Word{{Text: ".", Known: true}}
	}
	var out []unit
	for _, w := range s.Dirs {
		for _, abs := range forms(c, w) {
			if slices.ContainsFunc(p.rules, func(r Rule) bool {
				lit := p.literal(r.Pattern)
				return r.List == Denies && !r.Bare && r.family() == tool.ReadFamily && lit != "" && under(fold2(lit), fold2(abs))
			}) {
				out = append(out, unit{kind: readUnit, path: abs, derived: true, guard: deniedGuard, why: "it searches " + p.shown(abs)})
			}
		}
	}
	return out
}

// unknownWord returns a unit for a word that is known only at run time, if a
// deny rule may name it. It may not if the word's known beginning leads
// elsewhere.
func (p *Policy) unknownWord(c shellsyntax.Command, w shellsyntax.Word) (unit, bool) {
	u := unit{kind: writeUnit, derived: true, maybe: true, guard: deniedGuard, why: "it is given " + shorten(w.Text) + ", which cannot be known before it runs"}
	if w.Prefix == "" {
		return u, true
	}
	for _, abs := range forms(c, shellsyntax.Word{Text: w.Prefix, Known: true}) {
		if p.mayBeDenied(unit{kind: writeUnit, path: abs + "*", glob: true}) {
			return u, true
		}
	}
	return u, false
}

func (p *Policy) deniesPath(u unit) bool {
	return slices.ContainsFunc(p.rules, func(r Rule) bool { return r.List == Denies && !r.Bare && p.denies(r, u) })
}

// destroying marks the units of a call whose effect cannot be reversed: removals
// outside the workspace, of which no copy is stored, and what git or a program discards
// permanently. The same words would destroy something else the next time, so no
// standing grant covers them.
func (p *Policy) destroying(units []unit) {
	removed := map[string]bool{}
	for _, u := range units {
		if u.kind != commandUnit {
			continue
		}
		for _, w := range command.Effects(u.cmd).Removes {
			paths, ok := u.cmd.Paths(w)
			if !ok {
				removed[""] = true
			}
			for _, abs := range paths {
				removed[abs] = true
			}
		}
	}
	for i := range units {
		u := &units[i]
		switch u.kind {
		case commandUnit:
			u.once = command.Final(base(u.cmd), u.cmd) || p.removesOutside(u.cmd)
		case writeUnit:
			u.once = u.guard == outsideGuard && removed[u.path]
		}
	}
}

// removesOutside reports whether a command removes something outside the
// workspace, or something unknown.
func (p *Policy) removesOutside(c shellsyntax.Command) bool {
	for _, w := range command.Deletes(base(c), c) {
		if w.Known && strings.HasPrefix(w.Text, "-") {
			continue
		}
		all := forms(c, w)
		if len(all) == 0 || slices.ContainsFunc(all, func(abs string) bool { return !p.inside(abs) && !p.scratch(abs) }) {
			return true
		}
	}
	return false
}
