package web

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// decode turns a body into valid UTF-8. charset is what the header named; for
// HTML a <meta> may name one. UTF-8, UTF-16 and the Latin family are known;
// others come out with U+FFFD where they are not ASCII.
func decode(body []byte, charset string, isHTML bool) string {
	switch {
	case bytes.HasPrefix(body, []byte("\xef\xbb\xbf")):
		return strings.ToValidUTF8(string(body[3:]), "\uFFFD")
	case bytes.HasPrefix(body, []byte("\xff\xfe")):
		return fromUTF16(body[2:], binary.LittleEndian)
	case bytes.HasPrefix(body, []byte("\xfe\xff")):
		return fromUTF16(body[2:], binary.BigEndian)
	}
	if charset == "" && isHTML {
		charset = metaCharset(body)
	}
	switch strings.ToLower(strings.TrimSpace(charset)) {
	case "iso-8859-1", "latin1", "windows-1252", "cp1252", "us-ascii", "ascii", "iso-8859-15":
		if !utf8.Valid(body) {
			return fromLatin(body)
		}
	case "utf-16le", "utf-16":
		return fromUTF16(body, binary.LittleEndian)
	case "utf-16be":
		return fromUTF16(body, binary.BigEndian)
	}
	// A limit may have cut the last rune: that is no error of the page.
	for n := 1; n < utf8.UTFMax && n <= len(body); n++ {
		if c := body[len(body)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(body[len(body)-n:]) {
				body = body[:len(body)-n]
			}
			break
		}
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}

// metaCharset looks where a browser looks: in the first 1,024 bytes.
func metaCharset(body []byte) string {
	head := strings.ToLower(string(body[:min(len(body), 1024)]))
	_, rest, ok := strings.Cut(head, "charset")
	rest = strings.TrimLeft(rest, " \t\r\n")
	if !ok || !strings.HasPrefix(rest, "=") {
		return ""
	}
	rest = strings.TrimLeft(rest[1:], " \t\r\n\"'")
	if i := strings.IndexAny(rest, " \t\r\n\"'>;/"); i >= 0 {
		return rest[:i]
	}
	return ""
}

func fromUTF16(b []byte, order binary.ByteOrder) string {
	u := make([]uint16, len(b)/2)
	for i := range u {
		u[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(u))
}

// latin is what windows-1252 has where Latin-1 has control characters.
const latin = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"

func fromLatin(b []byte) string {
	high := []rune(latin)
	var out strings.Builder
	for _, c := range b {
		if c >= 0x80 && c < 0xa0 {
			out.WriteRune(high[c-0x80])
		} else {
			out.WriteRune(rune(c))
		}
	}
	return out.String()
}

// Visible shows what a reader could not see as <U+200B>: format characters,
// direction marks, tags, fillers and control characters. Line ends become \n;
// newline and tab stay, and so do emoji joined by U+200D. Many of one in a row
// are counted: <U+0000 x 512>.
func Visible(s string) string {
	clean := true
	for _, r := range s {
		if r < ' ' && r != '\n' && r != '\t' || r > '~' && hidden(r) || r == '\u00a0' {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var out strings.Builder
	var before, last rune
	run := 0 // of the hidden rune last
	flush := func() {
		switch {
		case run > 3:
			fmt.Fprintf(&out, "<U+%04X x %d>", last, run)
		case run > 0:
			out.WriteString(strings.Repeat(fmt.Sprintf("<U+%04X>", last), run))
		}
		run = 0
	}
	for i, r := range s {
		if run > 0 && r != last {
			flush()
		}
		switch {
		case r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085':
			out.WriteByte('\n')
		case r == '\u00a0':
			out.WriteByte(' ')
		case r == '\u00ad': // only ever a hint for line breaking
		case r == '\ufe0f' && pictured(before), r == '\u200d' && pictured(before) && pictured(after(s[i:])):
			out.WriteRune(r)
		case r == '\n' || r == '\t' || !hidden(r):
			out.WriteRune(r)
		default:
			last = r
			run++
			before = 0 // so that the next of its kind is hidden too
			continue
		}
		before = r
	}
	flush()
	return out.String()
}

// after is the rune that follows the first one of s.
func after(s string) rune {
	_, n := utf8.DecodeRuneInString(s)
	r, _ := utf8.DecodeRuneInString(s[n:])
	return r
}

// pictured: a symbol that emoji are made of.
func pictured(r rune) bool {
	return unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || r == '\ufe0f' || r == '\u2194' || r == '\u2695'
}

func hidden(r rune) bool {
	switch r {
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u3164', '\uffa0', '\u2800', '\u2028', '\u2029':
		return true
	}
	if r >= 0x600 && r <= 0x605 || r == 0x6dd || r == 0x8e2 { // Arabic signs that are drawn
		return false
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) ||
		r >= 0x180b && r <= 0x180f || r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0000 && r <= 0xe0fff
}
