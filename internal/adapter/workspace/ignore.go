package workspace

import (
	"path"
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
	differsFromGit bool // path.Match reads a pattern differently
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
			r.differsFromGit = r.differsFromGit || slices.ContainsFunc(p.segments, differs)
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
	line = latin1(line)
	p.whole, p.segments = line, strings.Split(negatedAsGo(line), "/")
	p.plain = !strings.ContainsAny(line, `*?[\`)
	if rest, ok := strings.CutPrefix(line, "*"); ok && !strings.ContainsAny(rest, `*?[\`) {
		p.suffix = rest
	}
	return p, true
}

// negatedAsGo returns a pattern whose negated sets begin with [^, as path.Match wants them,
// and not with git's [!.
func negatedAsGo(pat string) string {
	b := []byte(pat)
	set := false
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\':
			i++
		case set:
			set = b[i] != ']'
		case b[i] == '[':
			if set = true; i+1 < len(b) && b[i+1] == '!' {
				b[i+1] = '^'
			}
		}
	}
	return string(b)
}

// differs reports whether path.Match does not read a part of a pattern as git does.
func differs(part string) bool {
	_, err := path.Match(part, "")
	return err != nil || strings.Contains(part, "[:")
}

// Ignore is the ignore rules in force in a folder. The zero value ignores nothing.
type Ignore struct{ chain []rules }

// IgnoreMax is the size limit of an ignore file, in bytes.
const IgnoreMax = 1 << 20

// With adds the text of an ignore file. base is the file's folder relative to
// the walk's root; for a file above the root, down is the root relative to the
// file's folder. Each is "" or ends in a slash.
func (i Ignore) With(base, down, text string) Ignore {
	r := parseIgnore(latin1(base), text)
	if len(r.patterns) == 0 {
		return i
	}
	r.down = latin1(down)
	return Ignore{append(slices.Clip(i.chain), r)}
}

// Match reports whether a path, relative to the walk's root, is ignored by the
// ignore files above it, the nearest last. The folders above it are not ignored:
// a walk does not enter ignored folders.
func (i Ignore) Match(rel string, dir bool) bool {
	if len(i.chain) == 0 {
		return false
	}
	rel = latin1(rel)
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
	return matchSegment(p.segments[0], name)
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

// matchSegment matches one name with * ? [set] and \ escapes.
func matchSegment(pat, name string) bool {
	ok, err := path.Match(pat, name)
	return ok && err == nil
}

// latin1 returns a text with a character for each byte: git compares bytes.
func latin1(s string) string {
	if isASCII(s) {
		return s
	}
	out := make([]rune, len(s))
	for i := range len(s) {
		out[i] = rune(s[i])
	}
	return string(out)
}
