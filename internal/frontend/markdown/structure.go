package markdown

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// Kind is the kind of a Block.
type Kind uint8

// The kinds.
const (
	Paragraph Kind = iota
	Heading
	Code
	Table
	Rule
)

// Block is a part of a text for frontends that do not draw terminal rows. Quotes and
// lists are not blocks: a block records its depth in them.
type Block struct {
	Kind  Kind
	Level int    // of a heading, 1 to 6
	Info  string // after the fence of code, usually a language
	Quote int    // number of quotes around it
	List  int    // number of list entries around it
	Sign  string // marker of the innermost entry, if it begins here: "•", "1.", "☑"
	// Lines is the text. In a paragraph, a line ends only at a hard break.
	Lines []styled.Line
	// Rows are the cells of a table, the head first. Align is the row below the head in
	// its source form, such as ":--".
	Rows  [][]styled.Line
	Align []string
}

// Blocks returns the parts of a whole text. Like Lines, it loses no word.
func Blocks(text string) []Block {
	var out []Block
	s := New(Options{Links: true})
	s.blocks = &out
	s.Write(text)
	s.Close()
	return out
}

// start begins a block if blocks are requested; emit adds its lines.
func (s *Stream) start(b Block) {
	if s.blocks == nil {
		return
	}
	b.Quote, b.List = s.quote, len(s.items)
	b.Sign, s.lead = strings.TrimSpace(s.lead.String()), nil
	*s.blocks = append(*s.blocks, b)
	s.gap = false
}

// goesOn reports whether indented code continues the block before it.
func (s *Stream) goesOn() bool {
	if s.blocks == nil || len(*s.blocks) == 0 || s.gap || s.lead != nil {
		return false
	}
	last := (*s.blocks)[len(*s.blocks)-1]
	return last.Kind == Code && last.Quote == s.quote && last.List == len(s.items)
}
