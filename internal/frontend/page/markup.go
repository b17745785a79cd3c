package page

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/markdown"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// node is a part of a rendered text. Lists and quotes contain nodes.
type node struct {
	Kind  string // p, h, pre, table, hr, list, entry, quote
	Level int    // of a heading, as HTML counts them
	Info  string
	Sign  string
	Lines []row
	Head  []row
	Rows  [][]row
	Parts []node
}

// row is a line, or a cell of a table.
type row struct {
	Spans []span
	Right bool
}

type span struct {
	Text, Link, Class  string
	Code, Bold, Italic bool
}

// rendered returns the nodes of a text in Markdown, which must be sanitised.
func rendered(text string) []node { return nest(markdown.Blocks(text), 0, 0) }

// nest puts blocks into the quotes and list entries around them. quote and list are the
// numbers of quotes and entries that the caller has opened.
func nest(bs []markdown.Block, quote, list int) []node {
	var out []node
	for i := 0; i < len(bs); {
		if b := bs[i]; b.Quote == quote && b.List == list {
			out = append(out, leaf(b))
			i++
			continue
		}
		n := 1
		switch b := bs[i]; {
		case b.Quote > quote:
			for i+n < len(bs) && bs[i+n].Quote > quote {
				n++
			}
			out = append(out, node{Kind: "quote", Parts: nest(bs[i:i+n], quote+1, 0)})
		default:
			for i+n < len(bs) && bs[i+n].Quote == quote && bs[i+n].List > list {
				n++
			}
			out = append(out, node{Kind: "list", Parts: entriesOf(bs[i:i+n], quote, list+1)})
		}
		i += n
	}
	return out
}

// entriesOf returns the entries of a list: each begins at a block that has a marker and
// is not in an inner list.
func entriesOf(bs []markdown.Block, quote, list int) []node {
	var out []node
	for i := 0; i < len(bs); {
		n := 1
		for i+n < len(bs) && (bs[i+n].List > list || bs[i+n].Sign == "") {
			n++
		}
		e := node{Kind: "entry"}
		if bs[i].List == list {
			e.Sign = bs[i].Sign
		}
		e.Parts = nest(bs[i:i+n], quote, list)
		out = append(out, e)
		i += n
	}
	return out
}

func leaf(b markdown.Block) node {
	n := node{Info: b.Info}
	switch b.Kind {
	case markdown.Heading:
		n.Kind, n.Level = "h", min(b.Level+2, 6)
	case markdown.Code:
		n.Kind = "pre"
	case markdown.Rule:
		n.Kind = "hr"
	case markdown.Table:
		n.Kind = "table"
		for i, cells := range b.Rows {
			row := rowsOf(cells, false)
			for j := range row {
				row[j].Right = j < len(b.Align) && strings.HasSuffix(b.Align[j], ":") && !strings.HasPrefix(b.Align[j], ":")
			}
			if i == 0 {
				n.Head = row
			} else {
				n.Rows = append(n.Rows, row)
			}
		}
		return n
	default:
		n.Kind = "p"
	}
	n.Lines = rowsOf(b.Lines, b.Kind == markdown.Heading || b.Kind == markdown.Code)
	return n
}

// rowsOf makes rows of lines; plainly drops the styles that the surrounding element
// already has.
func rowsOf(ls []styled.Line, plainly bool) []row {
	out := make([]row, len(ls))
	for i, l := range ls {
		for _, s := range l {
			sp := span{Text: s.Text, Link: s.Link, Class: classes[s.Role]}
			if !plainly {
				sp.Code = s.Role == styled.Code
				sp.Bold, sp.Italic = s.Attr&styled.Bold != 0, s.Attr&styled.Italic != 0
			}
			if s.Attr&styled.Strike != 0 {
				sp.Class = "strike"
			}
			out[i].Spans = append(out[i].Spans, sp)
		}
	}
	return out
}

// classes are the classes in the style sheet, by role.
var classes = map[styled.Role]string{
	styled.Dim: "dim", styled.Keyword: "kw", styled.String: "st", styled.Number: "nu", styled.Comment: "co",
	styled.Type: "ty", styled.Function: "fn", styled.Added: "add", styled.Removed: "del", styled.Hunk: "hunk",
}
