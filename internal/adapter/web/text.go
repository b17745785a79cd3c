package web

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// decode returns a body as valid UTF-8. name is the charset in the header, "" for none;
// an HTML page may then name one in a <meta>. The encodings are those of browsers; text
// in an unknown one is read as UTF-8, with U+FFFD for invalid bytes.
func decode(body []byte, name string, isHTML bool) string {
	for _, mark := range []struct{ bytes, name string }{{"\xef\xbb\xbf", "utf-8"}, {"\xff\xfe", "utf-16le"}, {"\xfe\xff", "utf-16be"}} {
		if rest, ok := bytes.CutPrefix(body, []byte(mark.bytes)); ok {
			return convert(rest, mark.name)
		}
	}
	if name == "" && isHTML {
		name = metaCharset(body)
	}
	return convert(body, name)
}

func convert(body []byte, label string) string {
	enc, name := charset.Lookup(label)
	switch {
	case enc == nil, name == "utf-8", name == "replacement":
	case (name == "windows-1252" || name == "iso-8859-15") && utf8.Valid(body): // a server's default, and wrong
	default:
		if out, err := enc.NewDecoder().Bytes(body); err == nil {
			// A limit may have cut the last character: that is not an error of the page.
			return string(bytes.TrimSuffix(out, []byte("\uFFFD")))
		}
	}
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

// metaCharset returns the encoding that a page itself names in its first 1,024 bytes, as
// browsers do. Without one, DetermineEncoding returns UTF-8 for text that is UTF-8 beyond
// ASCII, and Windows-1252 for other text. Invalid bytes are replaced first, so that one
// broken byte does not change the result.
func metaCharset(body []byte) string {
	head := "\uFFFD" + strings.ToValidUTF8(string(body[:min(len(body), 1024)]), "\uFFFD")
	_, name, _ := charset.DetermineEncoding([]byte(head), "")
	return name
}

// visible returns a text with invisible characters shown as <U+200B>: format characters,
// direction marks, tags, fillers and control characters. Line ends become \n; newlines,
// tabs and emoji joined by U+200D stay; soft hyphens are removed. More than three equal
// ones are counted: <U+0000 x 512>.
func visible(s string) string {
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
			before = 0 // so that an equal one that follows is shown too
			continue
		}
		before = r
	}
	flush()
	return out.String()
}

// after returns the rune that follows the first one of s.
func after(s string) rune {
	_, n := utf8.DecodeRuneInString(s)
	r, _ := utf8.DecodeRuneInString(s[n:])
	return r
}

// pictured reports whether a rune is a symbol used in emoji.
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
