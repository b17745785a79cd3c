// Package syntax colours code, a line at a time.
//
// It knows the words, strings, comments and numbers of the languages in languages.go,
// but not their grammar. So it is right in most cases, and fast enough to run while
// text streams: its work is linear in any text, and it loads nothing at start. It
// promises that a line's text is unchanged. It does not colour unknown languages.
package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// Highlighter colours the lines of one text, in order.
type Highlighter struct {
	lang *language // nil: unknown
	ends string    // the end delimiter of the open comment or string
	role styled.Role
}

// New returns a Highlighter for the name of a language, as it follows a fence, or for a
// file name's extension.
func New(name string) *Highlighter {
	return &Highlighter{lang: find(strings.ToLower(strings.TrimPrefix(name, ".")))}
}

// Line returns the next line in colours.
func (h *Highlighter) Line(text string) styled.Line {
	if h.lang == nil {
		return styled.Of(styled.Text, text)
	}
	if h.lang.byLine != nil {
		return styled.Of(h.lang.byLine(text), text)
	}
	var out styled.Line
	plain := 0
	put := func(from, to int, role styled.Role) {
		if plain < from {
			out = out.Add(styled.Text, text[plain:from])
		}
		out = out.Add(role, text[from:to])
		plain = to
	}
	i := 0
	if h.ends != "" {
		i = h.until(text, 0)
		put(0, i, h.role)
	}
	for i < len(text) {
		rest := text[i:]
		switch c := text[i]; {
		case h.lang.comment(rest, i == 0 || text[i-1] == ' '):
			put(i, len(text), styled.Comment)
			i = len(text)
		case h.opens(rest):
			to := h.until(text, i+len(h.lang.opened(rest)))
			put(i, to, h.role)
			i = to
		case strings.IndexByte(h.lang.quotes, c) >= 0:
			to := i + quoted(rest)
			role := styled.String
			if h.lang.keys && strings.HasPrefix(strings.TrimLeft(text[to:], " "), ":") {
				role = styled.Function
			}
			put(i, to, role)
			i = to
		case c >= '0' && c <= '9':
			to := i + number(rest)
			put(i, to, styled.Number)
			i = to
		case wordly(c):
			to := i + word(rest)
			if role := h.lang.word(text[i:to], text[to:]); role != styled.Text {
				put(i, to, role)
			}
			i = to
		default:
			i++
		}
	}
	if plain < len(text) {
		out = out.Add(styled.Text, text[plain:])
	}
	return out
}

// opens reports whether a block begins that may span several lines.
func (h *Highlighter) opens(rest string) bool {
	begin := h.lang.opened(rest)
	if begin == "" {
		return false
	}
	for _, b := range h.lang.blocks {
		if b.begin == begin {
			h.ends, h.role = b.end, b.role
		}
	}
	return true
}

// until returns the position of the block's end, or of the line's end.
func (h *Highlighter) until(text string, from int) int {
	at := strings.Index(text[from:], h.ends)
	if at < 0 {
		return len(text)
	}
	at += from + len(h.ends)
	h.ends = ""
	return at
}

// quoted returns the length of a string with its quotes; an unclosed string extends to
// the end of the line.
func quoted(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return len(s)
}

func number(s string) int {
	i := 1
	for i < len(s) && (wordly(s[i]) || s[i] >= '0' && s[i] <= '9' || s[i] == '.' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9') {
		i++
	}
	return i
}

func wordly(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func word(s string) int {
	i := 0
	for i < len(s) && (wordly(s[i]) || s[i] >= '0' && s[i] <= '9') {
		i++
	}
	return i
}

// word returns the role of a word, which depends on the word and on the text after it.
func (l *language) word(w, rest string) styled.Role {
	key := w
	if l.fold {
		key = strings.ToLower(w)
	}
	if role, ok := l.words()[key]; ok {
		return role
	}
	if r, _ := utf8.DecodeRuneInString(w); l.types && unicode.IsUpper(r) && len(w) > 1 && strings.ToUpper(w) != w && !strings.HasPrefix(rest, "(") {
		return styled.Type
	}
	if l.calls && strings.HasPrefix(rest, "(") {
		return styled.Function
	}
	return styled.Text
}
