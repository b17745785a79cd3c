package permission

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// commandUnits splits one simple command into units: itself, and the paths in
// its words and redirections.
func (p *Policy) commandUnits(c shellsyntax.Command) []unit {
	var out []unit
	for _, r := range c.Redirects {
		if r.Target.Known && command.SafeDevice(r.Target.Text) {
			continue
		}
		w := readUnit
		if r.Writes() {
			w = writeUnit
		}
		out = append(out, p.wordUnits(w, c, r.Target, "redirects to")...)
	}
	eff := command.Effects(c)
	for _, set := range []struct {
		w     unitKind
		words []shellsyntax.Word
	}{{readUnit, eff.Reads}, {writeUnit, eff.Writes}, {writeUnit, eff.Removes}} {
		for _, word := range set.words {
			for _, u := range p.wordUnits(set.w, c, word, "names") {
				u.derived = true
				if u.guard == outsideGuard && u.path != "" && set.w == readUnit && command.OnlyThere(c) {
					u.guard, u.readOnly = noGuard, true
				}
				out = append(out, u)
			}
		}
	}
	u := unit{kind: commandUnit, cmd: c, why: "it runs `" + shorten(c.String()) + "`"}
	switch {
	case eff.Kind == command.Reads && len(eff.Reads) == 0 && command.ReadsFolder(c):
		// A reader without paths reads its own folder.
		for _, d := range p.wordUnits(readUnit, c, shellsyntax.Word{Text: ".", Known: true}, "reads") {
			d.derived = true
			out = append(out, d)
		}
		u.readOnly = true
	case eff.Kind == command.Reads:
		u.readOnly = true
	case eff.Kind == command.Writes:
		u.class = command.Classify(c, eff, p.isCheck)
	default:
		u.class = command.Classify(c, eff, p.isCheck)
		out = append(out, p.outsidePaths(c)...)
		if u.class == command.Unsafe && eff.Why != "" && !strings.HasSuffix(eff.Why, "not known to be harmless") {
			u.why += ": " + eff.Why
		}
	}
	if len(c.Words) > 0 || len(c.Assigns) > 0 {
		u.sensitive = command.Sensitive(c) || slices.ContainsFunc(out, func(o unit) bool { return o.sensitive && o.kind == writeUnit })
		u.pattern = proposal(c, eff.Kind != command.Other || u.class != command.Unsafe || command.Again(c))
		if _, _, ok := strings.Cut(u.pattern, "\n"); ok {
			u.pattern = ""
		}
		out = append(out, u)
	}
	return out
}

// wordUnits judges a word as a path, in every folder in which its command may run.
func (p *Policy) wordUnits(w unitKind, c shellsyntax.Command, word shellsyntax.Word, how string) []unit {
	paths, ok := c.Paths(word)
	if !ok {
		rule := "read("
		if w == writeUnit {
			rule = "edit("
		}
		return []unit{{kind: w, guard: outsideGuard, sensitive: true, pattern: rule + anywhere + ")", why: "it " + how + " " + shorten(word.Text) + ", which cannot be known before it runs"}}
	}
	var out []unit
	for _, abs := range paths {
		if command.SafeDevice(abs) || w == readUnit && command.SafeSource(abs) {
			continue
		}
		if !word.Known {
			abs = path.Dir(abs) + "/" // only its folder is known, not the name below it
			if full := word.Blank; path.IsAbs(full) {
				abs = path.Clean(full)
			} else {
				abs = path.Join(abs, strings.TrimPrefix(full, word.Prefix[:strings.LastIndexByte(word.Prefix, '/')+1]))
			}
		}
		u := p.pathUnit(w, abs, !word.Known)
		if !word.Known && u.guard == noGuard && secretGlob(abs) {
			u.guard, u.sensitive, u.readOnly = secretGuard, true, false
			u.why = "it reads " + p.shown(abs) + ", which may be files of secrets"
		}
		out = append(out, u)
	}
	return out
}

// secretGlob reports whether the fixed parts of a pattern already look like a
// secret's name.
func secretGlob(full string) bool {
	base := path.Base(full)
	fixed := strings.NewReplacer("*", "", "?", "").Replace(full)
	return strings.HasPrefix(base, "id_") || secretInside(fixed) && !secrets.EnvFile(fixed)
}

// outsidePaths returns the paths outside the workspace among the arguments of an
// unknown program, which may do anything to them.
func (p *Policy) outsidePaths(c shellsyntax.Command) []unit {
	var out []unit
	seen := map[string]bool{}
	for i, w := range append(slices.Clone(c.Words), c.Via...) {
		for _, s := range pathsIn(w) {
			if i == 0 && strings.Contains(s, "/") && !strings.HasPrefix(s, "/") {
				continue // ./script in the workspace
			}
			paths, ok := c.Paths(shellsyntax.Word{Text: s, Known: true})
			if !ok {
				continue
			}
			for _, abs := range paths {
				if i == 0 || seen[abs] || p.inside(abs) || command.SafeDevice(abs) || p.cfg.Spill != "" && under(abs, p.cfg.Spill) {
					continue
				}
				seen[abs] = true
				u := unit{kind: writeUnit, path: abs, guard: outsideGuard, derived: true, given: true, sensitive: systemPath(abs)}
				u.why = "it is given " + abs + ", which is outside the workspace"
				out = append(out, u)
			}
		}
	}
	if name, _ := c.Program(); name != "git" && len(c.Words) > 0 {
		out = append(out, p.sensitiveWords(c)...)
	}
	// It works in a folder that is outside or unknown.
	if len(c.Words) > 0 {
		for _, u := range p.wordUnits(readUnit, c, shellsyntax.Word{Text: ".", Known: true}, "runs in") {
			if n := protected(p.shown(u.path)); n != "" && u.guard == noGuard && base(c) != "git" {
				u.kind, u.guard = writeUnit, protectedGuard
				u.derived, u.pattern = true, ""
				u.why = "it works in a folder of " + n + ", and " + whyProtected(n)
				out = append(out, u)
			} else if u.guard != noGuard || u.path != "" && !p.inside(u.path) {
				u.guard, u.readOnly, u.derived, u.pattern = max(u.guard, outsideGuard), false, true, ""
				u.why = "it runs in a folder that is outside the workspace or not known"
				out = append(out, u)
			}
		}
	}
	return out
}

// pathsIn returns the parts of a word that may be paths: the word, the part
// after "=" or "@", and the part after an option's letter.
func pathsIn(w shellsyntax.Word) []string {
	if !w.Known {
		if path.IsAbs(w.Prefix) || strings.HasPrefix(w.Prefix, "..") {
			return []string{w.Prefix}
		}
		return nil
	}
	var out []string
	add := func(s string) {
		if path.IsAbs(s) && !strings.HasPrefix(s, "//") || s == ".." || strings.HasPrefix(s, "../") || strings.Contains(s, "/../") || strings.HasSuffix(s, "/..") {
			out = append(out, s)
		}
	}
	add(w.Text)
	for i := 0; i < len(w.Text); i++ {
		if c := w.Text[i]; c == '=' || c == '@' || c == ',' {
			add(w.Text[i+1:])
		}
	}
	if len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' {
		add(w.Text[2:])
	}
	return out
}

func shorten(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > 120 {
		cut := 117
		for cut > 0 && s[cut]&0xC0 == 0x80 {
			cut--
		}
		s = s[:cut] + "…"
	}
	return s
}

// proposal returns the rule that a grant adds: program, subcommand and any arguments,
// if what they do is known to be reversible or repeatable; otherwise exactly this line;
// nothing if words are unknown. The journal can undo changes of workspace files, but
// not changes of a service, of a database or of another machine.
func proposal(c shellsyntax.Command, again bool) string {
	if len(c.Words) == 0 || c.Code || !c.Words[0].Known {
		return ""
	}
	words := c.Words
	exact := !command.Transparent(c) || len(command.Executing(c)) > 0 || slices.ContainsFunc(c.Assigns, func(a string) bool {
		name, _, _ := strings.Cut(a, "=")
		return !command.SafeVariable(name)
	})
	name, _ := c.Program()
	exact = exact || !again || command.ExactOnly(name)
	if inner, _ := c.Program(); len(c.Wrappers) == 1 && slices.ContainsFunc(c.Words, command.Fed) {
		// xargs or find may insert any name there.
		if i := slices.IndexFunc(c.Words, command.Fed); (again || knownWith(c, i)) && !command.ExactOnly(inner) && i == len(c.Words)-1 {
			if rule := exactRule(append(slices.Clone(c.Via), c.Words[:i]...)); rule != "" {
				return strings.TrimSuffix(rule, ")") + " *)"
			}
		}
		return ""
	}
	if exact {
		if !command.Transparent(c) {
			words = append(slices.Clone(c.Via), c.Words...)
		} else if len(c.Assigns) > 0 && len(c.Via) == 0 {
			words = nil
			for _, a := range c.Assigns {
				words = append(words, shellsyntax.Word{Text: a, Known: true})
			}
			words = append(words, c.Words...)
		}
		return exactRule(words)
	}
	keep := 1
	for n := command.Subcommands(c); keep < len(c.Words) && keep <= n && c.Words[keep].Known && plainSub(c.Words[keep].Text); {
		keep++
	}
	var b strings.Builder
	for _, w := range c.Words[:keep] {
		if !printable(w.Text) {
			return ""
		}
		b.WriteString(quoteStar(w.Text))
		b.WriteByte(' ')
	}
	if len(c.Words) == 1 {
		return tool.CommandFamily + "(" + strings.TrimSpace(b.String()) + ")"
	}
	return tool.CommandFamily + "(" + b.String() + "*)"
}

// knownWith reports whether the effect of a command with only its first words is known.
func knownWith(c shellsyntax.Command, words int) bool {
	c.Words, c.Wrappers, c.Via = c.Words[:words], nil, nil
	return command.Effects(c).Kind != command.Other
}

func plainSub(s string) bool {
	return s != "" && s[0] != '-' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-:_") == ""
}

// exactRule returns a rule for exactly these words.
func exactRule(words []shellsyntax.Word) string {
	var parts []string
	n := 0
	for _, w := range words {
		if !w.Known || !printable(w.Text) {
			return ""
		}
		parts = append(parts, quoteStar(w.Text))
		n += len(w.Text)
	}
	if n > 300 {
		return ""
	}
	return tool.CommandFamily + "(" + strings.Join(parts, " ") + ")"
}

func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}

// quoteStar quotes a word of a pattern that would have another meaning.
func quoteStar(s string) string {
	if s == "" || strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@%+:~^{}") != "" || strings.HasSuffix(s, ":") {
		return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
	}
	return s
}

// sensitiveWords returns the protected and secret files among the words of a command
// that may do anything to them.
func (p *Policy) sensitiveWords(c shellsyntax.Command) []unit {
	var out []unit
	for _, w := range c.Words[1:] {
		for _, s := range candidates(w) {
			for _, abs := range forms(c, shellsyntax.Word{Text: s, Known: true}) {
				if !p.inside(abs) {
					continue
				}
				u := unit{kind: writeUnit, path: abs, glob: !w.Known, derived: true, sensitive: true}
				if n := protected(p.shown(abs)); n != "" {
					u.guard = protectedGuard
					u.why = "it may change " + p.shown(abs) + ", and " + whyProtected(n)
				} else if secretInside(abs) {
					u.guard = secretGuard
					u.why = "it is given " + p.shown(abs) + ", which looks like it holds secrets"
				} else {
					continue
				}
				out = append(out, u)
			}
		}
	}
	return out
}
