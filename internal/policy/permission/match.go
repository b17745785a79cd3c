package permission

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// callee is the tool of a call, as rules may name it.
type callee struct {
	tool    string
	family  string   // see tool.Facts
	aliases []string // see tool.Facts
}

func (c Call) callee() callee { return callee{c.Tool, c.Family, c.Aliases} }

// names reports whether a rule's tool is the call's tool or its family.
func (r Rule) names(c callee) bool {
	switch {
	case r.namesOnly(c), c.family != "" && r.family() == c.family:
		return true
	case strings.HasPrefix(r.Tool, "mcp__"):
		return globMatch(r.Tool, c.tool) || strings.HasPrefix(c.tool, strings.TrimSuffix(r.Tool, "*")+"__")
	}
	return false
}

// namesOnly reports whether a rule's tool is the call's tool, by its own name or
// one that other agents have for it.
func (r Rule) namesOnly(c callee) bool {
	return r.Tool == c.tool || r.plain == tool.PlainName(c.tool) || slices.Contains(c.aliases, r.plain)
}

// namesFiles is namesOnly for what a call reads or writes: files of a command
// line are covered by rules of their own.
func (r Rule) namesFiles(c callee) bool {
	return r.family() != tool.CommandFamily && c.family != tool.CommandFamily && r.namesOnly(c)
}

// family returns the family that a rule covers, "" for a rule of a single tool.
func (r Rule) family() string {
	switch r.Tool {
	case tool.ReadFamily, tool.EditFamily, tool.CommandFamily, tool.WebFamily:
		return r.Tool
	}
	return ""
}

// IsFamily reports whether rules with this name cover more than one tool.
func IsFamily(name string) bool {
	return Rule{Tool: name}.family() != "" || name == unconfined || name == network
}

// coversKind reports whether a rule's tool covers parts of that kind.
func (r Rule) coversKind(u part) bool {
	switch u.kind {
	case commandPart:
		return r.family() == tool.CommandFamily || r.Tool == unconfined && (r.List == Allows || u.unconfined)
	case writePart:
		return r.family() == tool.EditFamily || r.namesFiles(u.by)
	case readPart:
		return r.family() == tool.ReadFamily || r.namesFiles(u.by)
	case hostPart:
		if u.shell {
			return r.Tool == network || r.family() == tool.WebFamily && r.List != Allows
		}
		return r.family() == tool.WebFamily || r.namesOnly(u.by)
	default:
		return r.names(u.by)
	}
}

// specific ranks rules by the literal characters of the pattern; an exact
// pattern ranks above one with a wildcard.
func (r Rule) specific() int {
	if r.Bare {
		return 0
	}
	n := 2 * (1 + len(r.Pattern) - strings.Count(r.Pattern, "*"))
	if !strings.Contains(r.Pattern, "*") {
		n++
	}
	return n
}

// denies matches as widely as a person could mean the rule: for deny and ask rules.
func (p *Policy) denies(r Rule, u part) bool {
	if !r.coversKind(u) {
		return false
	}
	if r.Bare {
		// A bare rule for reads or edits is about the tools, and about what a shell is
		// known to do.
		return true
	}
	switch u.kind {
	case commandPart:
		return denyCommand(r.words, u.cmd)
	case readPart, writePart:
		return !u.held && u.path != "" && (p.pathMatch(r.Pattern, u.path, true) || u.glob && p.pathMatch(r.Pattern, path.Dir(u.path)+"/"+simple(path.Base(u.path)), true))
	case hostPart:
		return hostMatch(hostOf(r.Pattern), hostOf(u.host))
	}
	// Brackets that name nothing which is known of the call could mean this call.
	return u.subject == "" || globMatch(fold(r.Pattern), fold(u.subject)) || tool.PlainName(r.Pattern) == tool.PlainName(u.subject)
}

// mayBeDenied reports whether a deny rule may name the part: its path is not
// fully known, or it is a folder that is changed with everything in it.
func (p *Policy) mayBeDenied(u part) bool {
	if u.kind == commandPart && (u.cmd.Code || len(u.cmd.Words) > 0 && !u.cmd.Words[0].Known) {
		// Any program may run here.
		return slices.ContainsFunc(p.rules, func(r Rule) bool { return r.List == Denies && r.family() == tool.CommandFamily })
	}
	if u.kind != readPart && u.kind != writePart || u.held { // the sandbox knows
		return false
	}
	unknown := u.path == ""
	return slices.ContainsFunc(p.rules, func(r Rule) bool {
		if r.List != Denies || r.Bare || !r.coversKind(u) {
			return false
		}
		if unknown {
			return true
		}
		// For a pattern of the shell against a pattern of the rule, compare
		// their literal beginnings.
		if u.glob {
			lit := u.path[:strings.IndexAny(u.path+"*", "*?[")]
			rule := p.literal(r.Pattern)
			return rule == "" && p.inside(u.path) || rule != "" && (strings.HasPrefix(lit, rule) || strings.HasPrefix(rule, lit))
		}
		rule := p.literal(r.Pattern)
		return u.kind == writePart && u.derived && rule != "" && under(fold2(rule), fold2(u.path))
	})
}

// literal returns the absolute folder at the beginning of a path pattern, ""
// for a pattern that matches at any depth.
func (p *Policy) literal(pattern string) string {
	if pattern = p.absPattern(pattern); strings.HasPrefix(pattern, p.cfg.Root+"/**") {
		return ""
	}
	if i := strings.IndexAny(pattern, "*?"); i >= 0 {
		pattern = pattern[:i]
	}
	return strings.TrimSuffix(pattern, "/")
}

// allows matches narrowly: a guarded part needs a rule that names it, and
// unknown parts are not covered.
func (p *Policy) allows(r Rule, u part) bool {
	if !r.coversKind(u) {
		return false
	}
	switch u.kind {
	case commandPart:
		switch {
		case u.unconfined && r.Tool != unconfined:
			return false
		case r.Bare:
			return !u.unparsed
		}
		return allowCommand(p.expandHome(r.words), u.cmd)
	case readPart, writePart:
		if r.Bare {
			return u.guard == noGuard && u.path != ""
		}
		if u.path == "" && u.guard != protectedGuard && r.Pattern == anywhere {
			return true
		}
		if u.path == "" || u.glob && !strings.HasSuffix(r.Pattern, "**") {
			return false
		}
		if u.guard == protectedGuard && !namesProtected(r.Pattern, u) {
			return false
		}
		if u.guard == outsideGuard && !strings.HasPrefix(r.Pattern, "/") && !strings.HasPrefix(r.Pattern, "~") {
			return false
		}
		if u.guard == secretGuard && strings.HasSuffix(r.Pattern, "*") {
			return false
		}
		return p.pathMatch(r.Pattern, u.path, false)
	case hostPart:
		return r.Bare || hostMatch(r.Pattern, u.host)
	}
	return r.Bare
}

// expandHome replaces ~ in a pattern's program by the home folder.
func (p *Policy) expandHome(words []string) []string {
	if rest, ok := strings.CutPrefix(words[0], "~/"); ok && p.cfg.Home != "" {
		return append([]string{path.Join(p.cfg.Home, rest)}, words[1:]...)
	}
	return words
}

// anywhere is the pattern of a rule about any path, known or not.
const anywhere = "//**"

// namesProtected reports whether the rule itself contains the protected name.
func namesProtected(pattern string, u part) bool {
	name := u.name
	if name == "" {
		name = protectedBy(u.path, u.glob)
	}
	return slices.ContainsFunc(strings.Split(pattern, "/"), func(c string) bool {
		return fold(c) == name
	})
}

func hostMatch(pattern, host string) bool {
	pattern = strings.TrimSuffix(pattern, ".")
	if rest, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+rest)
	}
	return host == pattern
}

// allowCommand matches an allow pattern with the arguments of one command (SPEC 16.5).
func allowCommand(pat []string, c shellsyntax.Command) bool {
	if c.Code && !slices.Contains(pat, "-c") || len(c.Words) == 0 && len(c.Assigns) == 0 {
		return false
	}
	words := c.Words
	if named(pat, c) {
		words = append(slices.Clone(c.Via), c.Words...)
	} else if !command.Transparent(c) {
		return false
	}
	// NAME=value at the beginning of a pattern covers that assignment.
	var sets []string
	for len(pat) > 0 && command.Assignment(pat[0]) {
		sets, pat = append(sets, pat[0]), pat[1:]
	}
	for _, a := range c.Assigns {
		name, _, _ := strings.Cut(a, "=")
		if !command.SafeVariable(name) && !slices.ContainsFunc(sets, func(s string) bool { return globMatch(s, a) }) && !coversAssign(pat, words, a) {
			return false
		}
	}
	star := slices.ContainsFunc(pat, func(s string) bool { return strings.Contains(s, "*") })
	if star {
		for _, need := range command.Executing(c) {
			if !slices.ContainsFunc(pat, func(t string) bool { return t == need || strings.HasPrefix(t, need+"=") }) {
				return false
			}
		}
		for _, w := range words {
			if !w.Known && (w.Prefix == "" || w.Prefix[0] == '-') && !w.Glob {
				return false // it may be any option
			}
		}
	}
	return matchWords(pat, words)
}

// coversAssign reports whether the pattern of the whole line, with env, has the
// assignment as one of its words.
func coversAssign(pat []string, words []shellsyntax.Word, a string) bool {
	return slices.Contains(pat, a) && slices.ContainsFunc(words, func(w shellsyntax.Word) bool { return w.Text == a })
}

// named reports whether a pattern begins with the command's first wrapper.
func named(pat []string, c shellsyntax.Command) bool {
	return len(c.Wrappers) > 0 && pat[0] == c.Wrappers[0]
}

// matchWords matches words. A pattern word "*" matches any number of words; a
// pattern word that ends in ":" before a final "*" also matches the beginning
// of a word.
func matchWords(pat []string, words []shellsyntax.Word) bool {
	pi, wi, starP, starW := 0, 0, -1, 0
	for wi < len(words) {
		switch {
		case pi < len(pat) && pat[pi] == "*":
			starP, starW = pi, wi
			pi++
		case pi < len(pat) && words[wi].Known && wordMatch(pat, pi, words[wi].Text):
			pi++
			wi++
		case starP >= 0:
			starW++
			pi, wi = starP+1, starW
		default:
			return false
		}
	}
	for pi < len(pat) && pat[pi] == "*" {
		pi++
	}
	return pi == len(pat)
}

func wordMatch(pat []string, i int, w string) bool {
	if globMatch(pat[i], w) {
		return true
	}
	// npm run test:* also means test:part.
	return i > 0 && i == len(pat)-2 && pat[i+1] == "*" && strings.HasPrefix(w, pat[i]+":")
}

// denyCommand matches broadly, as a person means a deny rule: the program by any path
// and in any case, after any wrapper, with unknown words matching any word.
func denyCommand(pat []string, c shellsyntax.Command) bool {
	full := append(slices.Clone(c.Via), c.Words...)
	if denyWords(pat, c.Words) || len(c.Via) > 0 && denyWords(pat, full) {
		return true
	}
	// git -C dir push is a push.
	if name, _ := c.Program(); name == "git" {
		g := command.ParseGit(c.Words[1:])
		if g.Sub != "" {
			short := append([]shellsyntax.Word{c.Words[0], {Text: g.Sub, Known: true}}, g.Args...)
			if denyWords(pat, short) {
				return true
			}
		}
	}
	// A program that runs others, by whatever option.
	words, texts := command.Spellings(c)
	return slices.ContainsFunc(words, func(ws []shellsyntax.Word) bool { return denyWords(pat, ws) }) ||
		slices.ContainsFunc(texts, func(t string) bool { return denyCode(pat, t) })
}

// denyCode reports whether the literal words at the beginning of a pattern are
// adjacent in a text, as code of a shell or of another language.
func denyCode(pat []string, text string) bool {
	var lit []string
	for _, p := range pat {
		if strings.ContainsAny(p, "*?") {
			break
		}
		lit = append(lit, fold(path.Base(p)))
	}
	if len(lit) == 0 {
		return false
	}
	words := strings.FieldsFunc(fold(text), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()<>{}'\"`!,$[]", r) })
	for i := range words {
		if i+len(lit) > len(words) {
			break
		}
		if path.Base(words[i]) == lit[0] && slices.Equal(words[i+1:i+len(lit)], lit[1:]) {
			return true
		}
	}
	return false
}

// denyWords matches the words of a command as one text, in which a star stands for any text,
// and an unknown word for any words: "curl*evil.com*" is about a word anywhere after curl.
func denyWords(pat []string, words []shellsyntax.Word) bool {
	if len(words) == 0 || !words[0].Known && !strings.HasPrefix(pat[0], "*") {
		return false
	}
	low := slices.Clone(pat)
	if low[0] = fold(low[0]); !strings.Contains(low[0], "*") { // a star may stand for other words
		low[0] = path.Base(low[0])
	}
	p := strings.Join(low, " ")
	script, last := strings.CutSuffix(p, " *") // npm run test:* also means test:part
	return denyText(p, words) || last && denyText(script+":*", words)
}

// denyText matches the words with a pattern. The work is bounded by the product of the
// lengths.
func denyText(p string, words []shellsyntax.Word) bool {
	// reach[j]: the text so far matches the first j bytes of p.
	reach, next := make([]bool, len(p)+1), make([]bool, len(p)+1)
	reach[0] = true
	skip := func(at []bool) { // a star matches nothing, a star as a word no word
		for j := range len(p) {
			word := at[j] && p[j] == ' ' && strings.HasPrefix(p[j:]+" ", " * ")
			if at[j] && p[j] == '*' {
				at[j+1] = true
				word = j == 0 && strings.HasPrefix(p, "* ")
			}
			if word {
				at[j+2] = true
			}
		}
	}
	skip(reach)
	step := func(c byte) {
		clear(next)
		for j := range len(p) {
			switch {
			case !reach[j]:
			case p[j] == '*':
				next[j] = true
			case p[j] == c || p[j] == '?' || p[j] == quotedStar && c == '*':
				next[j+1] = true
			}
		}
		skip(next)
		reach, next = next, reach
	}
	for i, w := range words {
		text := w.Text
		if i > 0 {
			step(' ')
		} else {
			text = fold(path.Base(text))
		}
		first := slices.Index(reach, true)
		switch {
		case first < 0:
			return false
		case w.Known:
			for k := range len(text) {
				step(text[k])
			}
		default: // it may be any text, and no word
			for j := max(0, first-1); j <= len(p); j++ {
				reach[j] = true
			}
		}
	}
	return reach[len(p)]
}
