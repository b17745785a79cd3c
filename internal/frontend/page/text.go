package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// cleaner cleans the session's texts; no text gets into the page without it.
type cleaner struct{ mask func(string) string }

// text makes a text of several lines safe to show.
func (c cleaner) text(s string) string { return plain.Text(c.mask(s)) }

// line makes a text of one line safe, and cuts it.
func (c cleaner) line(s string) string { return cut.Runes(plain.Line(c.mask(s)), mostLine) }

// title returns the first line of a text.
func (c cleaner) title(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return cut.Runes(plain.Line(c.mask(s)), 100)
}

// passage is a text whose middle may be left out.
type passage struct {
	Head, Gap, Tail string
}

// newPassage omits the middle of a text that is longer than most bytes, at line ends if
// possible.
func newPassage(s string, most int) passage {
	s = strings.Trim(s, "\n")
	if len(s) <= most {
		return passage{Head: s}
	}
	from, to := most/2, len(s)-most/2
	if i := strings.LastIndexByte(s[:from], '\n'); i > from/2 {
		from = i + 1
	}
	if i := strings.IndexByte(s[to:], '\n'); i >= 0 && i < most/4 {
		to += i + 1
	}
	for !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	left := s[from:to]
	return passage{Head: s[:from], Gap: leftOut(len(left), strings.Count(left, "\n")), Tail: s[to:]}
}

func leftOut(bytes, lines int) string {
	if lines > 1 {
		return fmt.Sprintf("… %d lines (%d bytes) are left out here …", lines, bytes)
	}
	return fmt.Sprintf("… %d bytes are left out here …", bytes)
}
