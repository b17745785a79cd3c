package workspace

import (
	"slices"
	"strings"
)

// rules are the patterns of one ignore file, with git's meaning. base is the
// file's folder relative to the walk's root; for a file above the root, down is
// the root relative to the file's folder. Each is "" or ends in a slash.
//
// go-git's package does the same but needs go-billy, gcfg and x/net, and tries
// every pattern component by component; this is one page.
type rules struct {
	base           string
	down           string
	patterns       []ignorePattern
	differsFromGit bool // a set has a slash in it, which is split here and not by git
}

type ignorePattern struct {
	whole    string
	segments []string // of whole
	suffix   string   // whole is * and this
	negate   bool
	dirOnly  bool
	name     bool // no slash in it: matches a name at any depth
	plain    bool // no wildcard in it
}

func parseIgnore(base, text string) rules {
	r := rules{base: base}
	text = strings.TrimPrefix(text, "\ufeff")
	for line := range strings.SplitSeq(text, "\n") {
		if p, ok := parseIgnoreLine(strings.TrimSuffix(line, "\r")); ok {
			r.patterns = append(r.patterns, p)
			r.differsFromGit = r.differsFromGit || slices.ContainsFunc(p.segments[:len(p.segments)-1], openSet)
		}
	}
	return r
}

func parseIgnoreLine(line string) (p ignorePattern, ok bool) {
	if line == "" || line[0] == '#' {
		return p, false
	}
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if strings.HasPrefix(line, "!") {
		p.negate, line = true, line[1:]
	}
	if rest, found := strings.CutSuffix(line, "/"); found {
		p.dirOnly, line = true, rest
	}
	p.name = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	p.whole, p.segments = line, strings.Split(line, "/")
	p.plain = !strings.ContainsAny(line, `*?[\`)
	if rest, ok := strings.CutPrefix(line, "*"); ok && !strings.ContainsAny(rest, `*?[\`) {
		p.suffix = rest
	}
	return p, true
}

// openSet reports whether a part of a pattern has a set that does not end in it.
func openSet(part string) bool {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			i++
		case '[':
			n, closed := setEnd(part[i:])
			if !closed {
				return true
			}
			i += n - 1
		}
	}
	return false
}

// Ignore is the ignore rules in force in a folder. The zero value ignores nothing.
type Ignore struct{ chain []rules }

// IgnoreMax is the size limit of an ignore file, in bytes.
const IgnoreMax = 1 << 20

// With adds the text of an ignore file. base is the file's folder relative to
// the walk's root; for a file above the root, down is the root relative to the
// file's folder. Each is "" or ends in a slash.
func (i Ignore) With(base, down, text string) Ignore {
	r := parseIgnore(base, text)
	if len(r.patterns) == 0 {
		return i
	}
	r.down = down
	return Ignore{append(slices.Clip(i.chain), r)}
}

// Match reports whether a path, relative to the walk's root, is ignored by the
// ignore files above it, the nearest last. The folders above it are not ignored:
// a walk does not enter ignored folders.
func (i Ignore) Match(rel string, dir bool) bool {
	for k := len(i.chain) - 1; k >= 0; k-- {
		r := &i.chain[k]
		inner, ok := strings.CutPrefix(rel, r.base)
		if !ok {
			continue
		}
		if r.down != "" {
			inner = r.down + inner
		}
		for n := len(r.patterns) - 1; n >= 0; n-- {
			if r.patterns[n].match(inner, dir) {
				return !r.patterns[n].negate
			}
		}
	}
	return false
}

// differsFromGit reports whether a rule means something else to git than here.
func (i Ignore) differsFromGit() bool {
	return slices.ContainsFunc(i.chain, func(r rules) bool { return r.differsFromGit })
}

func (p *ignorePattern) match(rel string, dir bool) bool {
	if p.dirOnly && !dir {
		return false
	}
	if !p.name {
		if p.plain {
			return rel == p.whole
		}
		return matchSegments(p.segments, rel)
	}
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	switch {
	case p.plain:
		return name == p.whole
	case p.suffix != "":
		return strings.HasSuffix(name, p.suffix)
	}
	return matchSegment(p.whole, name)
}

// matchSegments matches a path part by part. ** matches any number of parts, at
// the end at least one. Backtracking only to the last ** keeps it quadratic at
// worst.
func matchSegments(pat []string, path string) bool {
	i, j := 0, 0 // j: where the next part of path begins, beyond its end after the last
	star, mark := -1, 0
	after := func(j int) (part string, next int) {
		if k := strings.IndexByte(path[j:], '/'); k >= 0 {
			return path[j : j+k], j + k + 1
		}
		return path[j:], len(path) + 1
	}
	for j <= len(path) {
		part, next := after(j)
		switch {
		case i < len(pat) && pat[i] == "**":
			if i == len(pat)-1 {
				return true
			}
			star, mark = i, j
			i++
		case i < len(pat) && matchSegment(pat[i], part):
			i++
			j = next
		case star >= 0:
			_, mark = after(mark)
			i, j = star+1, mark
		default:
			return false
		}
	}
	return i == len(pat)
}

// matchSegment matches one name with * ? [set] and \ escapes, backtracking only
// to the last *.
func matchSegment(pat, s string) bool {
	i, j := 0, 0
	star, mark := -1, 0
	for j < len(s) {
		if i < len(pat) && pat[i] == '*' {
			star, mark = i, j
			i++
			continue
		}
		if n, ok := matchByte(pat[min(i, len(pat)):], s[j]); ok {
			i += n
			j++
			continue
		}
		if star < 0 {
			return false
		}
		mark++
		i, j = star+1, mark
	}
	for i < len(pat) && pat[i] == '*' {
		i++
	}
	return i == len(pat)
}

// matchByte matches the first element of pat against c and returns its length.
func matchByte(pat string, c byte) (int, bool) {
	if pat == "" {
		return 0, false
	}
	switch pat[0] {
	case '?':
		return 1, true
	case '\\':
		return 2, len(pat) > 1 && pat[1] == c
	case '[':
		return matchSet(pat, c)
	}
	return 1, pat[0] == c
}

func matchSet(pat string, c byte) (int, bool) {
	i, hit, not := 1, false, false
	if i < len(pat) && (pat[i] == '!' || pat[i] == '^') {
		not = true
		i++
	}
	for first := true; i < len(pat); first = false {
		if pat[i] == ']' && !first {
			return i + 1, hit != not
		}
		if strings.HasPrefix(pat[i:], "[:") {
			if end := strings.Index(pat[i:], ":]"); end > 0 {
				hit = hit || inClass(pat[i+2:i+end], c)
				i += end + 2
				continue
			}
		}
		lo, n := setByte(pat[i:])
		i += n
		hi := lo
		if i+1 < len(pat) && pat[i] == '-' && pat[i+1] != ']' {
			hi, n = setByte(pat[i+1:])
			i += 1 + n
		}
		hit = hit || lo <= c && c <= hi
	}
	return 0, false // no closing bracket: matches nothing
}

// setEnd returns the length of a set as matchSet reads it.
func setEnd(pat string) (int, bool) {
	i := 1
	if i < len(pat) && (pat[i] == '!' || pat[i] == '^') {
		i++
	}
	for first := true; i < len(pat); first = false {
		if pat[i] == ']' && !first {
			return i + 1, true
		}
		if strings.HasPrefix(pat[i:], "[:") {
			if end := strings.Index(pat[i:], ":]"); end > 0 {
				i += end + 2
				continue
			}
		}
		_, n := setByte(pat[i:])
		i += n
	}
	return len(pat), false
}

func setByte(s string) (byte, int) {
	if s[0] == '\\' && len(s) > 1 {
		return s[1], 2
	}
	return s[0], 1
}

func inClass(name string, c byte) bool {
	lower, upper, digit := c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9'
	switch name {
	case "alpha":
		return lower || upper
	case "digit":
		return digit
	case "alnum":
		return lower || upper || digit
	case "lower":
		return lower
	case "upper":
		return upper
	case "space":
		return c == ' ' || c >= '\t' && c <= '\r'
	case "blank":
		return c == ' ' || c == '\t'
	case "xdigit":
		return digit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	case "punct":
		return c > ' ' && c < 0x7f && !lower && !upper && !digit
	case "cntrl":
		return c < ' ' || c == 0x7f
	case "graph":
		return c > ' ' && c < 0x7f
	case "print":
		return c >= ' ' && c < 0x7f
	}
	return false
}
