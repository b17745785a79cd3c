package lsp

import (
	"cmp"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// encoding is the unit in which a server counts the characters of a line.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16" // the protocol's default if nothing is negotiated
)

// text is a document's content with the starts of its lines. As in the protocol, lines
// end with \n, \r\n or a lone \r. The content need not be valid UTF-8: an invalid byte
// counts as one character of any encoding, since it is sent as U+FFFD.
type text struct {
	s      string
	starts []int
}

func newText(s string) *text {
	t := &text{s: s, starts: []int{0}}
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\n':
			t.starts = append(t.starts, i+1)
		case '\r':
			if i+1 == len(s) || s[i+1] != '\n' {
				t.starts = append(t.starts, i+1)
			}
		}
	}
	return t
}

// lines returns the number of lines; the last one may be empty.
func (t *text) lines() int { return len(t.starts) }

// line returns the line with a 0-based number, without its end; "" if there is none.
func (t *text) line(n int) string {
	if n < 0 || n >= len(t.starts) {
		return ""
	}
	end := len(t.s)
	if n+1 < len(t.starts) {
		end = t.starts[n+1]
	}
	return strings.TrimRight(t.s[t.starts[n]:end], "\r\n")
}

// offset returns the byte offset of a position. As the protocol requires, a position
// after the end of a line or of the text means that end.
func (t *text) offset(p position, enc encoding) int {
	if p.Line < 0 {
		return 0
	}
	if p.Line >= len(t.starts) {
		return len(t.s)
	}
	return t.starts[p.Line] + unitsToBytes(t.line(p.Line), p.Character, enc)
}

// position is the inverse of offset.
func (t *text) position(offset int, enc encoding) position {
	offset = min(max(offset, 0), len(t.s))
	n, found := slices.BinarySearch(t.starts, offset)
	if !found {
		n--
	}
	line := t.line(n)
	return position{Line: n, Character: units(line[:min(offset-t.starts[n], len(line))], enc)}
}

// units returns the length of a string in an encoding's units.
func units(s string, enc encoding) int {
	if enc == utf8Units && utf8.ValidString(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		n += width(r, enc)
	}
	return n
}

// width returns how many units a rune has. An invalid byte is sent as U+FFFD, and
// counts as that.
func width(r rune, enc encoding) int {
	switch {
	case enc == utf8Units:
		return utf8.RuneLen(r)
	case r > 0xFFFF:
		return 2
	}
	return 1
}

// unitsToBytes returns the byte offset at which the nth unit of a line begins. A unit
// within a character counts as the start of the character.
func unitsToBytes(line string, n int, enc encoding) int {
	for i, r := range line {
		if n < width(r, enc) {
			return i
		}
		n -= width(r, enc)
	}
	return len(line)
}

// at converts a place in a person's count, with lines and columns from 1 and columns in
// characters, into a position of the server.
func (t *text) at(line, col int, enc encoding) position {
	p := position{Line: max(line-1, 0)}
	s := t.line(p.Line)
	for i := range s {
		if col--; col < 1 {
			s = s[:i]
			break
		}
	}
	p.Character = units(s, enc)
	return p
}

// column returns the column of a server's position, in characters from 1.
func (t *text) column(p position, enc encoding) int {
	line := t.line(p.Line)
	return utf8.RuneCountInString(line[:unitsToBytes(line, p.Character, enc)]) + 1
}

// change returns the smallest edit that turns t into to: the common beginning and end are
// not part of it. It splits neither a character nor a \r\n.
func (t *text) change(to string, enc encoding) contentEdit {
	from, begin := t.s, 0
	for begin < len(from) && begin < len(to) && from[begin] == to[begin] {
		begin++
	}
	tail := 0
	for tail < len(from)-begin && tail < len(to)-begin && from[len(from)-1-tail] == to[len(to)-1-tail] {
		tail++
	}
	begin = boundary(from, to, begin)
	for tail > 0 && !clean(from, to, len(from)-tail, len(to)-tail) {
		tail--
	}
	return contentEdit{
		Range: &textRange{Start: t.position(begin, enc), End: t.position(len(from)-tail, enc)},
		Text:  to[begin : len(to)-tail],
	}
}

// boundary moves an offset, up to which both texts are the same, back to the nearest
// place that splits neither a character nor a line ending.
func boundary(from, to string, at int) int {
	for at > 0 && !clean(from, to, at, at) {
		at--
	}
	return at
}

func clean(from, to string, i, j int) bool {
	return starts(from, i) && starts(to, j)
}

// starts reports whether a cut before byte i splits neither a character nor a line
// ending.
func starts(s string, i int) bool {
	if i <= 0 || i >= len(s) {
		return true
	}
	return utf8.RuneStart(s[i]) && !(s[i-1] == '\r' && s[i] == '\n')
}

// apply returns the text with edits applied. Their positions refer to the text before all
// edits. Overlapping edits are an error.
func (t *text) apply(edits []textEdit, enc encoding) (string, error) {
	type cut struct {
		from, to int
		text     string
	}
	cuts := make([]cut, len(edits))
	for i, e := range edits {
		cuts[i] = cut{t.offset(e.Range.Start, enc), t.offset(e.Range.End, enc), e.NewText}
		if cuts[i].from > cuts[i].to {
			return "", fmt.Errorf("an edit ends before it begins, at line %d", e.Range.Start.Line+1)
		}
	}
	// Several edits at one place are applied in the order given.
	sorting.By(cuts, func(a, b cut) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var b strings.Builder
	done := 0
	for _, c := range cuts {
		if c.from < done {
			return "", fmt.Errorf("two edits overlap, at line %d", t.position(c.from, enc).Line+1)
		}
		b.WriteString(t.s[done:c.from])
		b.WriteString(c.text)
		done = c.to
	}
	b.WriteString(t.s[done:])
	return b.String(), nil
}

// toURI returns the address of an absolute path.
func toURI(path string) string {
	p := filepath.ToSlash(path)
	if runtime.GOOS == "windows" && !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// fromURI returns the path of an address; ok is false if it is not a local file.
// Servers write the same path in several ways (%3A, upper-case drives): paths are
// compared, and never addresses.
func fromURI(uri string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" || u.Path == "" {
		return "", false
	}
	p := u.Path
	if runtime.GOOS == "windows" {
		p = strings.TrimPrefix(p, "/")
	}
	return filepath.Clean(filepath.FromSlash(p)), true
}
