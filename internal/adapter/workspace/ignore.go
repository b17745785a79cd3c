package workspace

import "strings"

// rules are the patterns of one ignore file, with git's meaning. base is the
// file's folder relative to the walk's root; for a file above the root, down is
// the root relative to the file's folder. Each is "" or ends in a slash.
//
// go-git's package does the same but needs go-billy, gcfg and x/net, and tries
// every pattern component by component; this is one page.
type rules struct {
	base     string
	down     string
	patterns []ignorePattern
}

type ignorePattern struct {
	segments []string
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
	p.segments = strings.Split(line, "/")
	p.plain = !strings.ContainsAny(line, `*?[\`)
	return p, true
}

// ignored reports whether a path (relative to the walk's root) is ignored by
// the ignore files above it, the nearest last. Folders above it are not
// ignored: the walk does not enter ignored folders.
func ignored(chain []rules, rel string, dir bool) bool {
	for i := len(chain) - 1; i >= 0; i-- {
		inner, ok := strings.CutPrefix(rel, chain[i].base)
		if !ok {
			continue
		}
		ps := chain[i].patterns
		for j := len(ps) - 1; j >= 0; j-- {
			if ps[j].match(chain[i].down+inner, dir) {
				return !ps[j].negate
			}
		}
	}
	return false
}

func (p *ignorePattern) match(rel string, dir bool) bool {
	if p.dirOnly && !dir {
		return false
	}
	if p.name {
		name := rel[strings.LastIndexByte(rel, '/')+1:]
		if p.plain {
			return name == p.segments[0]
		}
		return matchSegment(p.segments[0], name)
	}
	if p.plain {
		return rel == strings.Join(p.segments, "/")
	}
	return matchSegments(p.segments, strings.Split(rel, "/"))
}

// matchSegments matches a path part by part. ** matches any number of parts, at
// the end at least one. Backtracking only to the last ** keeps it quadratic at
// worst.
func matchSegments(pat, path []string) bool {
	i, j := 0, 0
	star, mark := -1, 0
	for j < len(path) {
		switch {
		case i < len(pat) && pat[i] == "**":
			if i == len(pat)-1 {
				return true
			}
			star, mark = i, j
			i++
		case i < len(pat) && matchSegment(pat[i], path[j]):
			i++
			j++
		case star >= 0:
			mark++
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
