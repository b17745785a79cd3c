package rules

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible returns a text in which everything is visible: invalid UTF-8 is replaced, and
// an invisible character (zero-width, direction, tags, control) is written as \u{200B}.
// hidden is the number of these. A byte order mark at the start is removed, and CR LF
// becomes LF.
func visible(s string) (text string, hidden int) {
	s = strings.TrimPrefix(s, "\ufeff")
	if plainASCII(s) {
		return s, 0
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s))
	prev := rune(0)
	for i, r := range s {
		if invisible(r) && !ofEmoji(r, prev, s[i+utf8.RuneLen(r):]) {
			fmt.Fprintf(&b, `\u{%04X}`, r)
			hidden++
		} else {
			b.WriteRune(r)
		}
		prev = r
	}
	return b.String(), hidden
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

func invisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f:
		return r < ' '
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true
	case r == 0x2028, r == 0x2029, r == 0x034f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

// ofEmoji reports whether a character has its proper function in an emoji: to select its
// look, or to join two.
func ofEmoji(r, prev rune, rest string) bool {
	symbol := func(r rune) bool {
		return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sm, r) || unicode.Is(unicode.Sk, r) && r > 0x7f
	}
	switch r {
	case 0xfe0f, 0xfe0e:
		return symbol(prev)
	case 0x200d:
		next, _ := utf8.DecodeRuneInString(rest)
		return (symbol(prev) || prev == 0xfe0f) && symbol(next)
	}
	return false
}
