// Package styled is text with roles instead of colours: what a frontend draws before it
// knows the terminal. A theme turns it into bytes.
//
// It promises that a terminal interprets nothing in the text of a line (package plain
// sanitised it before), that every line ends in the terminal's default style, and that
// measured widths are those on a terminal. It knows nothing about the content.
package styled

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Role is the role of a piece of text; a theme chooses its colour.
type Role uint8

// The roles.
const (
	Text Role = iota
	Dim       // less important: timers, counts, folded things
	Accent
	Heading
	Code
	Link
	Quote
	Person // the person's text
	Good
	Bad
	Warn
	Added
	Removed
	Hunk
	Keyword
	String
	Number
	Comment
	Type
	Function
	roles
)

// Attr are further ways to emphasise text, each visible without colours.
type Attr uint8

// The attributes.
const (
	Bold Attr = 1 << iota
	Italic
	Underline
	Strike
	Reverse
)

// Style is how a piece of text looks.
type Style struct {
	Role Role
	Attr Attr
}

// Span is text of one style. Link, if set, is the address that it links to.
type Span struct {
	Text string
	Style
	Link string
}

// Line is one line of text: no span contains a newline.
type Line []Span

// Of returns a line with one role.
func Of(role Role, text string) Line {
	if text == "" {
		return nil
	}
	return Line{{Text: text, Style: Style{Role: role}}}
}

// Lines returns the lines of a text, all with one role.
func Lines(role Role, text string) []Line {
	var out []Line
	for l := range strings.Lines(text) {
		out = append(out, Of(role, strings.TrimSuffix(l, "\n")))
	}
	return out
}

// Add returns the line with text of a role appended.
func (l Line) Add(role Role, text string) Line {
	if text == "" {
		return l
	}
	return append(l, Span{Text: text, Style: Style{Role: role}})
}

// String returns the line's text without styles.
func (l Line) String() string {
	if len(l) == 1 {
		return l[0].Text
	}
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Width returns the line's width in columns.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// Width returns a text's width in columns, on a terminal that draws combined characters
// as one, as modern ones do. Tabs must be replaced by blanks before.
func Width(s string) int {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return ansi.StringWidth(s)
		}
	}
	return len(s)
}

// next returns the size, with its combining characters, and the width of a text's first
// character.
func next(s string) (size, columns int) {
	if c := s[0]; c < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1
	}
	cluster, columns := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return len(cluster), columns
}

// Tabs replaces a text's tabs by blanks, as a terminal's tab stops would.
func Tabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", 4-Width(b.String())%4))
		}
		b.WriteString(part)
	}
	return b.String()
}

// Cut shortens a line to this many columns; a shortened line ends in "…".
func (l Line) Cut(columns int) Line {
	if l.Width() <= columns {
		return l
	}
	if columns <= 0 {
		return nil
	}
	out, left := Line(nil), columns-1
	for _, s := range l {
		at := 0
		for at < len(s.Text) {
			size, w := next(s.Text[at:])
			if w > left {
				break
			}
			at, left = at+size, left-w
		}
		part := s
		part.Text = s.Text[:at]
		if at > 0 {
			out = append(out, part)
		}
		if at < len(s.Text) {
			part.Text, part.Link = "…", ""
			return append(out, part)
		}
	}
	return out
}

// Pad extends a line with blanks to this many columns.
func (l Line) Pad(columns int) Line {
	return l.Add(Text, strings.Repeat(" ", max(0, columns-l.Width())))
}

// append adds text to the last span if it has the same style and link.
func (l Line) append(text string, like Span) Line {
	if n := len(l); n > 0 && l[n-1].Style == like.Style && l[n-1].Link == like.Link {
		l[n-1].Text += text
		return l
	}
	like.Text = text
	return append(l, like)
}
