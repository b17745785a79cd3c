package shellsyntax

import (
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// braces expands {a,b} and {1..3}; nil means too many words.
func (w *walker) braces(word *syntax.Word) []*syntax.Word {
	switch deep := braceDepth(word); {
	case deep == 0:
		return []*syntax.Word{word}
	case deep > maxDepth: // also if the braces are not closed
		return nil
	}
	cp := &syntax.Word{Parts: slices.Clone(word.Parts)}
	if !syntax.SplitBraces(cp) {
		return []*syntax.Word{word}
	}
	// Bash expands braces in the text before it reads variables: $x{a,b} is $xa
	// and $xb.
	for _, p := range word.Parts {
		if v, ok := p.(*syntax.ParamExp); ok && v.Short {
			return nil
		}
		if l, ok := p.(*syntax.Lit); ok && bareDollar(l.Value) {
			return nil
		}
	}
	alts, ok := w.braceParts(cp.Parts, 0)
	if !ok || len(alts) > maxFields {
		return nil
	}
	out := make([]*syntax.Word, len(alts))
	for i, parts := range alts {
		out[i] = &syntax.Word{Parts: parts}
	}
	return out
}

// bareDollar reports whether literal text holds a "$" that is not escaped.
func bareDollar(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '$':
			return true
		}
	}
	return false
}

// braceDepth returns the deepest nesting of open braces.
func braceDepth(word *syntax.Word) int {
	open, most := 0, 0
	for _, p := range word.Parts {
		l, ok := p.(*syntax.Lit)
		for i := 0; ok && i < len(l.Value); i++ {
			switch l.Value[i] {
			case '{':
				open++
				most = max(most, open)
			case '}':
				open = max(open-1, 0)
			}
		}
	}
	return most
}

func (w *walker) braceParts(parts []syntax.WordPart, depth int) ([][]syntax.WordPart, bool) {
	if depth > maxDepth {
		return nil, false
	}
	out := [][]syntax.WordPart{nil}
	for _, p := range parts {
		br, ok := p.(*syntax.BraceExp)
		if !ok {
			for i := range out {
				out[i] = append(out[i], p) // a copy: the words of a product must not share it
			}
			continue
		}
		var alts [][]syntax.WordPart
		if br.Sequence {
			if alts, ok = sequence(br); !ok {
				return nil, false
			}
		} else {
			for _, el := range br.Elems {
				a, ok := w.braceParts(el.Parts, depth+1)
				if !ok {
					return nil, false
				}
				alts = append(alts, a...)
			}
		}
		if len(out)*len(alts) > maxFields {
			return nil, false
		}
		next := make([][]syntax.WordPart, 0, len(out)*len(alts))
		for _, a := range out {
			for _, b := range alts {
				w.spend(len(a) + len(b))
				next = append(next, slices.Concat(a, b))
			}
		}
		out = next
	}
	return out, true
}

func sequence(br *syntax.BraceExp) ([][]syntax.WordPart, bool) {
	from, to, step := br.Elems[0].Lit(), br.Elems[1].Lit(), 1
	if len(br.Elems) > 2 {
		step, _ = strconv.Atoi(br.Elems[2].Lit())
	}
	step = max(step, -step, 1)
	a, errA := strconv.Atoi(from)
	b, errB := strconv.Atoi(to)
	letters := errA != nil
	if letters {
		if len(from) != 1 || len(to) != 1 {
			return nil, false
		}
		a, b = int(from[0]), int(to[0])
	} else if errB != nil || padded(from) || padded(to) {
		return nil, false
	}
	if max(a, -a, b, -b) > 1<<40 || max(a-b, b-a)/step >= maxFields {
		return nil, false
	}
	if a > b {
		step = -step
	}
	var out [][]syntax.WordPart
	for n := a; step > 0 && n <= b || step < 0 && n >= b; n += step {
		s := strconv.Itoa(n)
		if letters {
			s = string(rune(n))
		}
		out = append(out, []syntax.WordPart{&syntax.SglQuoted{Value: s}})
	}
	return out, true
}

func padded(s string) bool {
	s = strings.TrimLeft(s, "+-")
	return len(s) > 1 && s[0] == '0'
}
