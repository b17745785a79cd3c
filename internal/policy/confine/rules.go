package confine

import (
	"slices"
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// This file decides what a person's rules about paths say of a file: for pawl's own tools
// before they touch it, for a command when it opens or changes it.

// Ruling is what rules say of a file.
type Ruling int

const (
	Unruled Ruling = iota // no rule denies it or asks about it
	Asks
	Denies
)

// Ruled returns what the rules say of a file that is read or changed, and the rule that
// decides. path is real. A deny rule wins; of the others the most specific one.
func (p Policy) Ruled(file string, write bool) (Ruling, process.PathRule) {
	if len(p.Rules) == 0 {
		return Unruled, process.PathRule{}
	}
	var asks, allows process.PathRule
	parts, folded := strings.Split(file, "/"), []string(nil)
	for _, r := range p.Rules {
		if r.Write != write {
			continue
		}
		if r.List == process.AllowsPath {
			if r.Rank > allows.Rank && matches(r.Pattern, parts, false) {
				allows = r
			}
			continue
		}
		if folded == nil {
			folded = strings.Split(FoldPath(file), "/")
		}
		switch {
		case !matches(FoldPath(r.Pattern), folded, true):
		case r.List == process.DeniesPath:
			return Denies, r
		case r.Rank > asks.Rank:
			asks = r
		}
	}
	if asks.Rank > 0 && asks.Rank >= allows.Rank {
		return Asks, asks
	}
	return Unruled, process.PathRule{}
}

// RulesReads reports whether a rule denies or asks about reading.
func (p Policy) RulesReads() bool {
	return slices.ContainsFunc(p.Rules, func(r process.PathRule) bool { return !r.Write && r.List != process.AllowsPath })
}

// Escapes reports whether something at or below a path would leave a rule if it moved: what
// the rule covers there, it would not cover in the new place.
func (p Policy) Escapes(from, to string) bool {
	if len(p.Rules) == 0 {
		return false
	}
	a, b := strings.Split(FoldPath(from), "/"), strings.Split(FoldPath(to), "/")
	return slices.ContainsFunc(p.Rules, func(r process.PathRule) bool {
		if r.List == process.AllowsPath {
			return false
		}
		pattern := strings.Split(FoldPath(strings.TrimSuffix(r.Pattern, "/")), "/")
		there := reach(pattern, b, true)
		for i, ok := range reach(pattern, a, true) {
			if ok && !there[i] && !there[len(pattern)] {
				return true
			}
		}
		return false
	})
}

// Without returns the policy without a rule, to which a person said yes.
func (p Policy) Without(rule string) Policy {
	p.Rules = slices.DeleteFunc(slices.Clone(p.Rules), func(r process.PathRule) bool { return r.List == process.AsksPath && r.Text == rule })
	return p
}

// MatchPath reports whether an absolute pattern covers an absolute path: "*" and "?" match
// within one part, "**" matches any number of parts, and one that names a folder covers
// everything in it. wide matches as a person who denies something means it: case is ignored,
// and a match of a wildcard covers everything below it.
func MatchPath(pattern, file string, wide bool) bool {
	if wide {
		pattern, file = FoldPath(pattern), FoldPath(file)
	}
	return matches(pattern, strings.Split(file, "/"), wide)
}

func matches(pattern string, parts []string, wide bool) bool {
	pat := strings.Split(strings.TrimSuffix(pattern, "/"), "/")
	return reach(pat, parts, wide)[len(pat)]
}

// reach returns how far a pattern is matched by a path: at[i] says that the path matches the
// first i parts of it. At the end it stays, for what is below.
func reach(pat, parts []string, wide bool) []bool {
	at, next := make([]bool, len(pat)+1), make([]bool, len(pat)+1)
	at[0] = true
	skip := func(at []bool) { // "**" also matches no part
		for i, p := range pat {
			if at[i] && p == "**" {
				at[i+1] = true
			}
		}
	}
	below := wide || !strings.ContainsAny(pat[len(pat)-1], "*?")
	skip(at)
	for _, part := range parts {
		clear(next)
		for i, ok := range at {
			switch {
			case !ok:
			case i == len(pat):
				next[i] = next[i] || below
			case pat[i] == "**":
				next[i] = true
			case Glob(pat[i], part):
				next[i+1] = true
			}
		}
		skip(next)
		at, next = next, at
	}
	return at
}

// QuotedStar stands for a star in a pattern that is literal.
const QuotedStar = '\x01'

// Glob matches one word against a pattern of "*" and "?".
func Glob(pat, s string) bool {
	pi, si, starP, starS := 0, 0, -1, 0
	for si < len(s) {
		switch {
		case pi < len(pat) && pat[pi] == '*':
			starP, starS = pi, si
			pi++
		case pi < len(pat) && (pat[pi] == s[si] || pat[pi] == '?' || pat[pi] == QuotedStar && s[si] == '*'):
			pi++
			si++
		case starP >= 0:
			starS++
			pi, si = starP+1, starS
		default:
			return false
		}
	}
	for pi < len(pat) && pat[pi] == '*' {
		pi++
	}
	return pi == len(pat)
}

// FoldName makes names equal that some file system treats as equal: case, ignored
// characters, trailing dots and blanks.
func FoldName(s string) string {
	if plainName(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x206F, r == 0xFEFF, r == 0x00AD:
			return -1
		case r == 0x212A: // the Kelvin sign
			return 'k'
		case r == 0x017F: // the long s
			return 's'
		}
		return unicode.ToLower(r)
	}, s)
	s, _, _ = strings.Cut(s, "::$") // a stream of NTFS
	if t := strings.TrimRight(s, ". "); t != "" {
		return t
	}
	return s
}

// plainName reports whether a name is as FoldName leaves it; most are.
func plainName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || c >= 'A' && c <= 'Z' || c == ':' {
			return false
		}
	}
	return s == "" || s[len(s)-1] != '.' && s[len(s)-1] != ' '
}

func FoldPath(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = FoldName(parts[i])
	}
	return strings.Join(parts, "/")
}
