package tools

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// mapped is a text computed from another one, with the origin of each byte.
type mapped struct {
	text []byte
	from []int // per byte of text, and one for the end
}

func (m *mapped) add(s string, at int) {
	for i := range len(s) {
		m.text = append(m.text, s[i])
		m.from = append(m.from, at)
	}
}

// marks replaces typographic characters by the ASCII ones that they resemble.
var marks = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(
		"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`,
		"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-", "\u00a0", " ", "\u202f", " ", "\u2007", " ", "\u2009", " ", "\u3000", " ", "\u2026", "...",
	)
})

const noteMarks = "quotes, dashes or spaces of old were typographically different from the file's (“” ’ – and the like)"

// foldMarks returns a text with plain marks.
func foldMarks(s string) mapped {
	var m mapped
	fold := marks()
	for i, n := 0, 0; i < len(s); i += n {
		_, n = utf8.DecodeRuneInString(s[i:])
		m.add(fold.Replace(s[i:i+n]), i)
	}
	m.from = append(m.from, len(s))
	return m
}

// sharedMarks returns the cut that replaces old by text. old is at byte at of m, which
// has plain marks. The common beginning and end of both stay as in the file.
func sharedMarks(m *mapped, at int, old, text string) cut {
	fold := marks()
	pre, post := common(old, text)
	skip, spare := len(fold.Replace(old[:pre])), len(fold.Replace(old[len(old)-post:]))
	return cut{m.from[at+skip], m.from[at+len(fold.Replace(old))-spare], text[pre : len(text)-post]}
}

// byMarks finds old without distinguishing typographic quotes and dashes from plain ones.
// The common parts of old and new stay as in the file.
func (e *edit) byMarks() (r replaced, m *miss, found bool) {
	plain := marks().Replace(e.old)
	if ascii(e.in.plain) && plain == e.old {
		return r, nil, false
	}
	f := foldMarks(e.in.plain)
	spots := occurrences(string(f.text), plain)
	switch {
	case len(spots) == 0:
		return r, nil, false
	case len(spots) > 1:
		for i, at := range spots {
			spots[i] = f.from[at]
		}
		m = ambiguous(e.in.plain, spots)
		m.many = false
		return r, m, true
	case changesPart(string(f.text), spots[0], plain, marks().Replace(e.text)):
		at := lineAt(e.in.plain, f.from[spots[0]])
		return r, doubtful(plainLines(e.in.plain), at-1, 1, unclearInside), true
	}
	c := sharedMarks(&f, spots[0], e.old, e.text)
	if c.text == e.in.plain[c.from:c.to] {
		return e.alreadyAt(lineAt(e.in.plain, c.from)), nil, true
	}
	return e.in.splice([]cut{c}, noteMarks), nil, true
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// common returns the lengths of the common beginning and end of two texts,
// without splitting a rune and without overlap.
func common(a, b string) (pre, post int) {
	n := min(len(a), len(b))
	for pre < n && a[pre] == b[pre] {
		pre++
	}
	for pre > 0 && (pre < len(a) && a[pre]&0xC0 == 0x80 || pre < len(b) && b[pre]&0xC0 == 0x80) {
		pre--
	}
	for post < n-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
	}
	for post > 0 && a[len(a)-post]&0xC0 == 0x80 {
		post--
	}
	return pre, post
}
