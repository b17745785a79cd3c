// Package markdown turns a model's Markdown into lines while it streams.
//
// It promises that a returned line never changes, that the lines depend only on the
// text and not on how it is split into pieces, that no word of the text is lost, and
// that its work is linear in the text, however hostile. It supports what models write:
// headings, paragraphs, lists and task lists, quotes, fenced code, tables whose rows
// begin with a bar, rules, emphasis, code, links, addresses.
//
// It does not support syntax that needs the whole text before a line is certain:
// underlined headings, tables without a leading bar, reference links. These are shown
// unchanged, and so is HTML. Text must be sanitised before (package plain).
package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/syntax"
)

// Options define how lines are made.
type Options struct {
	Width int  // columns; 0: lines are not broken
	Links bool // the terminal supports links: an address need not be shown
}

// Stream parses a text that arrives in pieces.
type Stream struct {
	opt     Options
	partial string // a line whose kind is not certain yet
	inside  bool   // a line of certain kind, part of a text, is arriving

	quote int
	items []item
	text  *paragraph
	fence *fence
	table [][]string
	lead  styled.Line // of the next row: a list marker

	out    []styled.Line
	blocks *[]Block // if not nil, blocks are made instead of rows
	gap    bool     // a blank line must precede the next line
	begun  bool
}

// item is an open entry of a list.
type item struct {
	column int // column at which its text begins in the source
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
	shownRows    = 12       // of a table that is arriving
	longestLine  = 64 << 10 // of code, or of a table, in bytes: a longer one is broken
	longestStart = 4 << 10  // bytes of a line until its kind is certain
	deepest      = 12       // how deep lists may be nested
)

func New(opt Options) *Stream { return &Stream{opt: opt} }

// Lines returns the lines of a whole text.
func Lines(text string, opt Options) []styled.Line {
	s := New(opt)
	return append(s.Write(text), s.Close()...)
}

// Resize sets the width of the following lines.
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

// Close returns the remaining lines. Nothing may be written after it.
func (s *Stream) Close() []styled.Line {
	if s.inside || s.partial != "" {
		s.newline()
	}
	s.endText()
	s.endTable()
	s.endFence()
	return s.take()
}

// Pending returns the lines that would follow if the text ended here. Of a long table
// it returns the head and the last rows.
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

// feed handles a part of a line.
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

// emit adds a line, with a blank line before it if one is needed.
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

// prefix puts the bars of quotes and the indentation of lists before a line.
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

// first returns the margin of a row that may have a list marker.
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
