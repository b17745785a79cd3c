package tools

import (
	"slices"
	"strings"
)

// This file indents new lines if the file's indentation differs from old's, but only if
// the right depth is certain.

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// depths returns the indentations of the new lines, by the first of these rules that
// applies: unchanged, if old is indented as in the file; all shifted by the same amount;
// mapped one to one, if each depth is known; shifted, ignoring lines inside brackets; the
// first line as in the file and the rest shifted.
func (f *fitting) depths() ([]string, bool) {
	given, file := make([]string, len(f.old.lines)), make([]string, len(f.old.lines))
	same := true
	for j, o := range f.old.lines {
		given[j], file[j] = indentOf(o), indentOf(f.file(j))
		same = same && given[j] == file[j]
	}
	out := make([]string, len(f.new.lines))
	for t, l := range f.new.lines {
		out[t] = indentOf(l)
	}
	if same || f.onlyKept() {
		return out, same || f.steady(given, file)
	}
	if f.flattened() {
		return nil, false
	}
	if f.sameBase() {
		all := make([]bool, len(given))
		if s, ok := shiftOf(given, file, all); ok {
			if len(given) == 1 && !f.flat(given[0]) {
				return nil, false
			}
			return f.shifted(s, out, file)
		}
		if mapped, ok := f.oneForOne(given, file, out); ok {
			return mapped, true
		}
		if aside, ok := inBrackets(f.old.lines); ok {
			if s, ok := shiftOf(given, file, aside); ok && f.outsideBrackets() {
				return f.shifted(s, out, file)
			}
		}
	}
	return f.firstLost(given, file, out)
}

// onlyKept reports whether every new line is also in old.
func (f *fitting) onlyKept() bool {
	return !slices.ContainsFunc(f.pairs, func(j int) bool { return j < 0 })
}

// steady reports whether each depth in old corresponds to one depth in the file.
func (f *fitting) steady(given, file []string) bool {
	if _, ok := shiftOf(given, file, make([]bool, len(given))); ok {
		return true
	}
	_, ok := depthMap(given, file)
	return ok
}

// sameBase reports whether new is certainly indented like old: they have a common line,
// or begin at the same depth.
func (f *fitting) sameBase() bool {
	for _, j := range f.pairs {
		if j >= 0 {
			return true
		}
	}
	return len(f.new.lines) == 0 || indentOf(f.new.lines[0]) == indentOf(f.old.lines[0])
}

// outsideBrackets reports whether no new line begins inside brackets, where the shift of
// the other lines does not apply.
func (f *fitting) outsideBrackets() bool {
	inside, _ := inBrackets(f.new.lines)
	for t, j := range f.pairs {
		if j < 0 && (inside == nil || inside[t]) {
			return false
		}
	}
	return true
}

// flattened reports whether new lost its indentation: all lines have the same depth,
// although one of them opens a block.
func (f *fitting) flattened() bool {
	opens := false
	for t, l := range f.new.lines {
		if indentOf(l) != indentOf(f.new.lines[0]) {
			return false
		}
		end := strings.TrimRight(l, " \t")
		if t+1 < len(f.new.lines) && strings.ContainsAny(end[len(end)-1:], "{([:") && !strings.ContainsAny(strip(f.new.lines[t+1])[:1], "})]") {
			opens = true
		}
	}
	return opens
}

// flat reports whether all new lines have the given depth. One line of old is not enough
// evidence: the rest of new may have been copied with the file's indentation.
func (f *fitting) flat(depth string) bool {
	return !slices.ContainsFunc(f.new.lines, func(l string) bool { return indentOf(l) != depth })
}

// shift is a change of indentation: the prefix drop, which only old has, is replaced by
// add, which only the file has.
type shift struct{ add, drop string }

func (s shift) of(depth string) (string, bool) {
	rest, ok := strings.CutPrefix(depth, s.drop)
	return s.add + rest, ok
}

// shiftOf returns the common shift of all lines that are not in aside.
func shiftOf(given, file []string, aside []bool) (s shift, ok bool) {
	for j := range given {
		if aside[j] {
			continue
		}
		var one shift
		if add, more := strings.CutSuffix(file[j], given[j]); more {
			one.add = add
		} else if drop, less := strings.CutSuffix(given[j], file[j]); less {
			one.drop = drop
		} else {
			return s, false
		}
		if ok && one != s {
			return s, false
		}
		s, ok = one, true
	}
	return s, ok
}

// shifted returns the shifted indentations of the new lines. A depth that mixes tabs and
// spaces must occur in the file there.
func (f *fitting) shifted(s shift, news, file []string) ([]string, bool) {
	out := make([]string, len(news))
	for t, d := range news {
		to, ok := s.of(d)
		if f.pairs[t] < 0 && (!ok || s != shift{} && strings.Contains(to, " ") && strings.Contains(to, "\t") && !slices.Contains(file, to)) {
			return nil, false
		}
		if out[t] = to; s == (shift{}) {
			out[t] = d
		}
	}
	return out, true
}

// depthMap returns a map from old's depths to the file's. ok is false if the map is not
// one to one and in the same order.
func depthMap(given, file []string) (map[string]string, bool) {
	known := map[string]string{}
	for j, g := range given {
		if was, ok := known[g]; ok && was != file[j] {
			return nil, false
		}
		known[g] = file[j]
	}
	for a, x := range known {
		for b, y := range known {
			if a == b {
				continue
			}
			// One is a prefix of the other, in old and in the file.
			if !(strings.HasPrefix(a, b) && strings.HasPrefix(x, y) || strings.HasPrefix(b, a) && strings.HasPrefix(y, x)) || x == y {
				return nil, false
			}
		}
	}
	return known, true
}

func (f *fitting) oneForOne(given, file, news []string) ([]string, bool) {
	known, ok := depthMap(given, file)
	if !ok {
		return nil, false
	}
	// The first line may have lost its indentation, so its depth does not apply to other
	// lines.
	lost := given[0] == "" && !slices.Contains(given[1:], "")
	out := make([]string, len(news))
	for t, d := range news {
		to, ok := known[d]
		if f.pairs[t] < 0 && (!ok || lost && t > 0 && d == "") {
			return nil, false
		}
		out[t] = to
	}
	return out, true
}

// firstLost handles texts in which the first line of old and of new lost its indentation,
// while the other lines are shifted.
func (f *fitting) firstLost(given, file, news []string) ([]string, bool) {
	if len(given) < 2 || len(news) == 0 || given[0] != "" || news[0] != "" || file[0] == "" {
		return nil, false
	}
	// The rest of new is indented like the rest of old.
	tied := len(news) == 1 || news[1] == given[1]
	for t := 1; t < len(news); t++ {
		tied = tied || f.pairs[t] > 0
	}
	aside := make([]bool, len(given))
	aside[0] = true
	s, ok := shiftOf(given, file, aside)
	if !ok || !tied {
		return nil, false
	}
	for t := 1; t < len(news); t++ {
		if news[t] == "" && f.pairs[t] < 0 && s != (shift{}) {
			return nil, false // the new line may have lost its indentation as well
		}
	}
	out, ok := f.shifted(s, news, file)
	if ok {
		out[0] = file[0]
	}
	return out, ok
}

// inBrackets reports which lines begin inside round or square brackets, where indentation
// has no meaning, and whether any does. It returns nil if quotes or comments make that
// uncertain.
func inBrackets(lines []string) ([]bool, bool) {
	out := make([]bool, len(lines))
	var open []byte
	some := false
	for i, l := range lines {
		out[i] = len(open) > 0 && open[len(open)-1] != '}'
		some = some || out[i]
		quoted := strings.ContainsAny(l, "\"'`#") || strings.Contains(l, "//") || strings.Contains(l, "/*")
		if quoted && bracketed(l) {
			plain, ok := unquoted(l)
			if !ok {
				return nil, false
			}
			l = plain
		}
		for k := range len(l) {
			switch c := l[k]; c {
			case '(':
				open = append(open, ')')
			case '[':
				open = append(open, ']')
			case '{':
				open = append(open, '}')
			case ')', ']', '}':
				if len(open) == 0 || open[len(open)-1] != c {
					return nil, false
				}
				open = open[:len(open)-1]
			}
		}
	}
	return out, some
}

func bracketed(l string) bool { return strings.ContainsAny(l, "()[]{}") }

// unquoted returns a line without its quoted parts. ok is false if quotes do not match,
// or if a comment may follow.
func unquoted(l string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(l); i++ {
		c := l[i]
		switch {
		case c == '#' || c == '/' && i+1 < len(l) && (l[i+1] == '/' || l[i+1] == '*'):
			return b.String(), !bracketed(l[i:])
		case c != '"' && c != '\'' && c != '`':
			b.WriteByte(c)
			continue
		}
		if strings.HasPrefix(l[i:], strings.Repeat(string(c), 3)) {
			return "", false
		}
		k := i + 1
		for k < len(l) && l[k] != c {
			if l[k] == '\\' {
				k++
			}
			k++
		}
		if k >= len(l) {
			return "", false
		}
		i = k
	}
	return b.String(), true
}
