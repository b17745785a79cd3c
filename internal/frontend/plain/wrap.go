package plain

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// This file breaks lines between words, for a terminal that would cut them at
// its margin. Programs get unbroken lines: a width of 0 or less breaks nothing.

// tab is how far a terminal's tab stops are apart.
const tab = 8

// Width is how many columns a line takes on a terminal. Colours take none.
func Width(s string) int {
	n := 0
	for s != "" {
		size, w, _ := step(s)
		if s[0] == '\t' {
			w = tab - n%tab
		}
		n, s = n+w, s[size:]
	}
	return n
}

// step returns the next thing to draw: a rune or a colour, its width, and
// whether it belongs to the rune before it.
func step(s string) (size, columns int, joined bool) {
	if strings.HasPrefix(s, "\x1b[") {
		if i := strings.IndexFunc(s[2:], func(r rune) bool { return r >= 0x40 && r < 0x7f }); i >= 0 {
			return i + 3, 0, true
		}
	}
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case r < ' ':
		return size, 0, false
	case r < 0x7f:
		return size, 1, false
	case r == 0x200d || r == 0xfe0f || unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) || r >= 0x1f3fb && r <= 0x1f3ff:
		return size, 0, true
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return size, 2, false
	}
	return size, 1, false
}

// Wrap breaks the lines of a text at words so that each fits into columns,
// except for a longer word and for an indentation that leaves no room: both
// stay. Continuation lines are indented like their line or, with hang and a row
// of a table (its last column begins after two blanks), to that column.
func Wrap(text string, columns int, hang bool) string {
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		if Width(body) <= columns {
			b.WriteString(line)
			continue
		}
		w := Wrapper{}
		if hang {
			w.lead = lastColumn(body, columns)
		}
		b.WriteString(w.Add(body, columns))
		b.WriteString(w.Flush(columns))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// lastColumn returns the indentation of continuation lines in the last column
// of a row; if too little room is left, slightly more than the row's own.
func lastColumn(row string, columns int) string {
	own := len(row) - len(strings.TrimLeft(row, " "))
	at := strings.LastIndex(strings.TrimRight(row, " "), "  ") + 2
	if at <= own+2 {
		return strings.Repeat(" ", own)
	}
	if n := Width(row[:at]); n <= columns/2 {
		return strings.Repeat(" ", n)
	}
	return strings.Repeat(" ", min(own+4, columns/4))
}

// Wrapper breaks a text that arrives in pieces. It holds back the last word of
// each piece, which may continue. The zero Wrapper is ready; everything that it
// returns must be printed.
type Wrapper struct {
	col    int    // where the cursor is
	lead   string // what a line that goes on begins with
	inside bool   // the line has more than blanks
	blanks string // before word, not printed yet
	word   string
	joins  bool // word ends in a joiner: the next rune is part of it
}

// Add returns what of the text so far can be printed.
func (w *Wrapper) Add(piece string, columns int) string {
	if columns <= 0 {
		return w.Flush(columns) + piece
	}
	var b strings.Builder
	for piece != "" {
		size, wide, joined := step(piece)
		s := piece[:size]
		piece = piece[size:]
		switch {
		case s == "\n":
			w.put(&b, columns)
			b.WriteString("\n")
			*w = Wrapper{}
		case s == "\r":
			w.put(&b, columns)
			b.WriteString("\r")
			*w = Wrapper{}
		case s == " " || s == "\t":
			if w.word != "" {
				w.put(&b, columns)
			}
			w.blanks += s
		case wide == 2 && !w.joins: // such a text has no blanks: it breaks anywhere
			w.put(&b, columns)
			w.word = s
		case wide != 2 && !joined && wideEnd(w.word):
			w.put(&b, columns)
			w.word = s
		default:
			w.word += s
		}
		w.joins = s == "\u200d"
	}
	return b.String()
}

// early is how much room must remain after a word that is printed before its
// end, and the longest such word.
const early = 20

// Early returns the part of the word held back by Add that can be printed now:
// a reader does not wait for a word that will fit. Words that look like the
// beginning of an address or a path wait, and so do words near the margin.
func (w *Wrapper) Early(columns int) string {
	n := Width(w.word)
	letters := !strings.ContainsFunc(w.word, func(r rune) bool { return r > 0x7f || !unicode.IsLetter(r) && !unicode.IsPunct(r) })
	switch {
	case n == 0 || n > early || !letters || strings.ContainsAny(w.word, "/\\._@:") || strings.HasPrefix("https", w.word):
		return ""
	case w.col+Width(w.blanks)+n+early > columns || strings.Contains(w.blanks, "\t"):
		return ""
	}
	return w.Flush(columns)
}

func wideEnd(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	_, wide, _ := step(string(r))
	return word != "" && wide == 2
}

// Flush returns the word that was held back, after the end of the text.
func (w *Wrapper) Flush(columns int) string {
	var b strings.Builder
	blanks := w.blanks
	if w.word != "" {
		w.put(&b, columns)
	} else if blanks != "" {
		b.WriteString(blanks)
		w.col += len(blanks)
		w.blanks = ""
	}
	return b.String()
}

// put writes blanks and word, on a new line where they do not fit.
func (w *Wrapper) put(b *strings.Builder, columns int) {
	if w.word == "" {
		return
	}
	gap := 0
	for _, r := range w.blanks {
		if r == '\t' {
			gap += tab - (w.col+gap)%tab
		} else {
			gap++
		}
	}
	n := Width(w.word)
	switch {
	case !w.inside:
		if w.lead == "" {
			w.lead = strings.Repeat(" ", min(w.col+gap, columns/2))
		}
		b.WriteString(w.blanks)
		w.col += gap
	case w.col+gap+n > columns:
		b.WriteString("\n" + w.lead)
		w.col = len(w.lead)
	default:
		b.WriteString(w.blanks)
		w.col += gap
	}
	b.WriteString(w.word)
	w.col += n
	if w.col > columns { // longer than a line: the terminal cuts it
		w.col = (w.col-1)%columns + 1
	}
	w.inside, w.blanks, w.word = true, "", ""
}

// Wrapped wraps each text that is written, as whole lines. It calls columns
// each time, since a window may change its size.
func Wrapped(w io.Writer, columns func() int, hang bool) io.Writer {
	return &wrapped{w: w, columns: columns, hang: hang}
}

type wrapped struct {
	w       io.Writer
	columns func() int
	hang    bool
}

// Write implements io.Writer. It reports that all of p was written unless the
// writer below fails.
func (w *wrapped) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, Wrap(string(p), w.columns(), w.hang)); err != nil {
		return 0, err
	}
	return len(p), nil
}
