// Package markdown turns a model's Markdown into lines while it streams.
//
// It promises that a returned line never changes, that all lines depend only on
// the text and not on its pieces, that no word of the text is lost, and that
// its work is linear in the text, however hostile. It reads what models write:
// headings, paragraphs, lists and task lists, quotes, fenced code, tables whose
// rows begin with a bar, rules, emphasis, code, links, addresses.
//
// It does not support what would need the whole text before a line is certain:
// underlined headings, tables without a bar at the beginning, links by
// reference. Those are shown unchanged, and so is HTML. Text must be sanitised
// before (package plain).
package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/syntax"
)

// Options say how lines are made.
type Options struct {
	Width int  // columns; 0 breaks no line
	Links bool // the terminal takes links: an address need not be shown
}

// Stream takes a text in pieces.
type Stream struct {
	opt     Options
	partial string // a line whose kind is not certain
	inside  bool   // a line whose kind is certain comes: it belongs to text

	quote int
	items []item
	text  *paragraph
	fence *fence
	table [][]string
	lead  styled.Line // of the next row: a list's sign

	out    []styled.Line
	blocks *[]Block // not nil: these are made, and no rows
	gap    bool     // a blank line belongs before the next line
	begun  bool
}

// item is an entry of a list that is open.
type item struct {
	column int // where its text begins in the source
	hang   int // and on the screen
}

// fence is code between two fences.
type fence struct {
	char   byte
	size   int
	indent int
	colour *syntax.Highlighter
}

const (
	shownRows    = 12       // of a table that comes
	longestLine  = 64 << 10 // of code, or of a table: a longer one is broken
	longestStart = 4 << 10  // of a line until its kind is certain
	deepest      = 12       // how many lists may stand in each other
)

// New makes a Stream.
func New(opt Options) *Stream { return &Stream{opt: opt} }

// Lines makes lines of a whole text.
func Lines(text string, opt Options) []styled.Line {
	s := New(opt)
	return append(s.Write(text), s.Close()...)
}

// Resize is for the lines to come.
func (s *Stream) Resize(width int) { s.opt.Width = width }

// Write takes the next piece and returns the lines that became certain.
func (s *Stream) Write(piece string) []styled.Line {
	for piece != "" {
		part, rest, ended := strings.Cut(piece, "\n")
		piece = rest
		s.feed(strings.ReplaceAll(part, "\t", "    "))
		if ended {
			s.newline()
		}
	}
	return s.take()
}

// Close returns what is left; nothing more comes.
func (s *Stream) Close() []styled.Line {
	if s.inside || s.partial != "" {
		s.newline()
	}
	s.endText()
	s.endTable()
	s.endFence()
	return s.take()
}

// Pending returns the lines that would follow if nothing else came. Of a long
// table it is the end.
func (s *Stream) Pending() []styled.Line {
	if s.fence != nil && s.partial == "" {
		return nil
	}
	c := *s
	c.out, c.items, c.table = nil, append([]item(nil), s.items...), append([][]string(nil), s.table...)
	if n := len(c.table); n > 2+shownRows {
		c.table = append(c.table[:2:2], c.table[n-shownRows:]...)
	}
	if c.fence != nil {
		fence, colour := *c.fence, *c.fence.colour
		fence.colour = &colour
		c.fence = &fence
	}
	if s.text != nil {
		text := *s.text
		text.s, text.rows = &c, s.text.rows.Clone()
		c.text = &text
	}
	return c.Close()
}

func (s *Stream) take() []styled.Line {
	if s.text != nil {
		for _, r := range s.text.rows.Rows() {
			s.emit(r)
		}
	}
	out := s.out
	s.out = nil
	return out
}

// feed takes a part of a line.
func (s *Stream) feed(part string) {
	if s.inside {
		s.text.add(part)
		return
	}
	most := longestStart
	if s.fence != nil || s.table != nil {
		most = longestLine
	}
	for len(s.partial)+len(part) > most {
		n := max(most-len(s.partial), 1)
		for n < len(part) && !utf8.RuneStart(part[n]) {
			n++
		}
		s.partial += part[:n]
		part = part[n:]
		if s.newline(); s.text != nil {
			s.inside = true
			s.text.add(part)
			return
		}
	}
	s.partial += part
	if s.fence == nil && s.table == nil && certain(s.partial) {
		line := s.partial
		s.partial = ""
		s.inside = s.begin(line)
	}
}

func (s *Stream) newline() {
	if s.inside {
		s.inside = false
		s.text.newline()
		return
	}
	line := s.partial
	s.partial = ""
	if s.fence != nil {
		s.code(line)
		return
	}
	if s.begin(line) {
		s.text.newline()
	}
}

// emit adds a line, after a blank one if that belongs before it.
func (s *Stream) emit(l styled.Line) {
	if s.blocks != nil {
		b := &(*s.blocks)[len(*s.blocks)-1]
		b.Lines = append(b.Lines, l)
		return
	}
	s.out = append(s.out, s.blank()...)
	s.gap, s.begun = false, true
	s.out = append(s.out, l)
}

func (s *Stream) blank() []styled.Line {
	if s.gap && s.begun {
		return []styled.Line{nil}
	}
	return nil
}

// prefix sets quotes' bars and lists' indentation before a line.
func (s *Stream) prefix(l styled.Line) styled.Line {
	return append(s.margin(), l...)
}

func (s *Stream) margin() styled.Line {
	if s.blocks != nil {
		return nil
	}
	out := styled.Of(styled.Quote, strings.Repeat("│ ", s.quote))
	if n := len(s.items); n > 0 {
		out = out.Add(styled.Text, strings.Repeat(" ", s.items[n-1].hang))
	}
	return out
}

// first returns the margin of a row that may have a list's sign.
func (s *Stream) first() styled.Line {
	if s.lead != nil {
		lead := s.lead
		s.lead = nil
		return lead
	}
	return s.margin()
}

func (s *Stream) endText() {
	if s.text == nil {
		if s.lead != nil {
			s.start(Block{})
			s.emit(s.first()) // an empty entry
		}
		return
	}
	for _, r := range s.text.end() {
		s.emit(r)
	}
	s.text = nil
}

func (s *Stream) endFence() {
	if s.fence != nil {
		s.fence, s.gap = nil, true
	}
}
