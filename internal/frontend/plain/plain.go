// Package plain makes text safe to print on a terminal.
//
// It is the one sanitiser for all text from outside: replies, files, diffs,
// names, errors (SPEC 16.11). It promises that its output is valid UTF-8 and
// contains no control character except newline and tab, no escape sequence, no
// character that changes the direction of text and no invisible one, but a joiner
// that shapes letters of a script that has such. Text stays in logical order: what
// is written from right to left is turned by the terminal, if at all. Known
// terminal sequences (a colour, a title, a link) are removed completely;
// anything else that is hidden is shown as \x1b or \u{202E}. The caller adds
// colours afterwards.
package plain

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text makes text of several lines safe: newlines and tabs stay.
func Text(s string) string {
	if clean(s) {
		return s
	}
	var c cleaner
	return c.feed(s, true)
}

// Line makes text safe on one line: a newline is shown as a blank, a tab too.
func Line(s string) string {
	s = Text(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.TrimRight(strings.NewReplacer("\n", " ", "\t", " ").Replace(s), " ")
}

// clean reports whether text is ASCII that needs nothing, the common case.
func clean(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// state of a cleaner: where in a sequence it is.
type state byte

const (
	ground  state = iota
	escape        // after ESC
	between       // ESC and an intermediate byte: one more ends it
	control       // CSI: parameters, to a final byte
	command       // OSC, DCS, SOS, PM, APC: to BEL or ST
	ending        // an ESC inside a command: "\" ends it
)

// longest is how much text a sequence may swallow: a longer one was text, and a
// text that opens a title and never closes it must not disappear.
const longest = 4096

// cleaner processes text in pieces.
type cleaner struct {
	at      state
	skipped int
	partial []byte // of a rune at the end of a piece
	prev    rune   // shown last
	cr      bool   // a carriage return may be the first half of a line's end
}

// feed cleans one piece; last reports that none follows.
func (c *cleaner) feed(s string, last bool) string {
	if len(c.partial) > 0 {
		s = string(c.partial) + s
		c.partial = nil
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && !last && !utf8.FullRuneInString(s[i:]) {
			c.partial = []byte(s[i:])
			break
		}
		c.rune(&b, r, n)
		i += n
	}
	if last && c.cr {
		c.cr = false
	}
	return b.String()
}

func (c *cleaner) rune(b *strings.Builder, r rune, n int) {
	if c.at != ground {
		if c.skipped++; c.skipped > longest {
			c.at = ground
		}
	}
	switch c.at {
	case escape:
		c.afterEscape(b, r, n)
		return
	case between:
		c.at = ground
		if r >= 0x30 && r < 0x7f {
			return
		}
	case control:
		switch {
		case r >= 0x20 && r < 0x40:
			return
		case r >= 0x40 && r < 0x7f:
			c.at = ground
			return
		}
		c.at = ground // broken off
	case command:
		switch r {
		case 0x07, 0x9c, 0x18, 0x1a:
			c.at = ground
			return
		case 0x1b:
			c.at = ending
			return
		case '\n':
			// Nothing that belongs on a screen has a title of two lines.
			c.at = ground
		default:
			return
		}
	case ending:
		if r == '\\' {
			c.at = ground
			return
		}
		c.at = escape
		c.afterEscape(b, r, n)
		return
	}
	c.plain(b, r, n)
}

func (c *cleaner) afterEscape(b *strings.Builder, r rune, n int) {
	c.at, c.skipped = ground, 0
	switch {
	case r == '[':
		c.at = control
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_' || r == 'k':
		c.at = command
	case r >= 0x20 && r < 0x30:
		c.at = between
	case r == 0x1b:
		c.at = escape
	case r >= 0x30 && r < 0x7f:
	default:
		c.plain(b, r, n)
	}
}

func (c *cleaner) plain(b *strings.Builder, r rune, n int) {
	if c.cr {
		c.cr = false
		if r != '\n' {
			// A lone carriage return would let the following text hide the line.
			b.WriteByte('\n')
		}
	}
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		b.WriteByte(byte(r))
	case r == '\r':
		c.cr = true
	case r == 0x1b:
		c.at, c.skipped = escape, 0
	case r == 0x9b:
		c.at, c.skipped = control, 0
	case r == 0x9d || r == 0x90 || r == 0x98 || r == 0x9e || r == 0x9f:
		c.at, c.skipped = command, 0
	case r < ' ' || r >= 0x7f && r < 0xa0:
		b.WriteString(`\x`)
		b.WriteByte("0123456789abcdef"[r>>4&15])
		b.WriteByte("0123456789abcdef"[r&15])
	case r == utf8.RuneError && n == 1:
		b.WriteRune(utf8.RuneError)
	case hidden(r) && !(r == 0x200d && picture(c.prev)) && !((r == 0x200c || r == 0x200d) && shaped(c.prev)):
		writeEscape(b, r)
	default:
		b.WriteRune(r)
	}
	c.prev = r
}

// picture reports whether a rune may be joined with others into one symbol.
func picture(r rune) bool {
	return r >= 0x1f000 && r < 0x20000 || r >= 0x2600 && r < 0x27c0 || r == 0xfe0f
}

// shaped reports whether a joiner after a rune is a part of the spelling, as in Persian
// and Hindi. A joiner after another joiner is not.
func shaped(r rune) bool {
	return r >= 0x600 && r < 0x1000 && unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala) &&
		(unicode.IsLetter(r) || unicode.IsMark(r))
}

// hidden reports whether a rune changes the direction of text, joins it, hides
// it, or is invisible.
func hidden(r rune) bool {
	switch {
	case r < 0xa0:
		return false
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800,
		r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f,
		r == 0xfeff, r >= 0xfe00 && r <= 0xfe0d, r >= 0xfff9 && r <= 0xfffb, r >= 0xe0000 && r <= 0xe0fff, r == 0x034f, r == 0x17b4, r == 0x17b5:
		return true
	case r >= 0xe000 && r <= 0xf8ff:
		return false // symbols of programmers' fonts
	}
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Cs, r)
}

func writeEscape(b *strings.Builder, r rune) {
	const hex = "0123456789ABCDEF"
	b.WriteString(`\u{`)
	digits := 4
	if r > 0xffff {
		digits = 5
	}
	if r > 0xfffff {
		digits = 6
	}
	for i := digits - 1; i >= 0; i-- {
		b.WriteByte(hex[r>>(4*i)&15])
	}
	b.WriteByte('}')
}
