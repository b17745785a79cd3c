package editor

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// row is the part of the text in one row of the screen.
type row struct {
	from, to int // in the text
}

// rows wraps the text for a number of columns.
func (e *Editor) rows(columns int) []row {
	columns = max(columns, 2)
	var out []row
	from, width := 0, e.Indent
	for i := 0; i < len(e.text); {
		if e.text[i] == '\n' {
			out = append(out, row{from, i})
			i++
			from, width = i, 0
			continue
		}
		size, w := e.cell(i)
		if width+w > columns && width > 0 {
			if at := strings.LastIndexByte(e.text[from:i], ' '); at > 0 && e.text[i] != ' ' {
				at += from + 1
				out = append(out, row{from, at})
				from = at
				width = styled.Width(e.displayText(e.text[from:i]))
			} else {
				out = append(out, row{from, i})
				from, width = i, 0
			}
		}
		width += w
		i += size
	}
	return append(out, row{from, len(e.text)})
}

// cell returns the size in bytes and the width in columns of the character at i.
func (e *Editor) cell(i int) (size, width int) {
	c, w := ansi.FirstGraphemeCluster(e.text[i:], ansi.GraphemeWidth)
	if shown := e.displayText(c); shown != c {
		return len(c), styled.Width(shown)
	}
	return len(c), w
}

// displayText returns a part of the text as it is shown.
func (e *Editor) displayText(text string) string {
	if strings.IndexFunc(text, isPlaceholder) < 0 {
		return plain.Line(strings.ReplaceAll(text, "\t", "    "))
	}
	var b strings.Builder
	for _, r := range text {
		if p := e.paste(r); p != nil {
			b.WriteString("[" + p.Name + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return plain.Line(strings.ReplaceAll(b.String(), "\t", "    "))
}

// Render returns the text in rows of that many columns, at most most of them around the
// caret, and the caret's place in them.
func (e *Editor) Render(columns, most int) (lines []styled.Line, caretRow, caretColumn int) {
	rows := e.rows(columns)
	at := e.rowOf(rows)
	for _, r := range rows {
		lines = append(lines, e.renderText(e.text[r.from:r.to]))
	}
	caretColumn = min(e.column(rows, at), columns)
	if len(lines) > most {
		first := min(max(0, at-most+1), len(lines)-most)
		lines, at = lines[first:first+most], at-first
	}
	return lines, at, caretColumn
}

func (e *Editor) renderText(text string) styled.Line {
	var out styled.Line
	for text != "" {
		i := strings.IndexFunc(text, isPlaceholder)
		switch {
		case i < 0:
			return out.Add(styled.Text, e.displayText(text))
		case i > 0:
			out = out.Add(styled.Text, e.displayText(text[:i]))
			text = text[i:]
		}
		n := len(string(firstPlaceholder))
		out = out.Add(styled.Accent, e.displayText(text[:n]))
		text = text[n:]
	}
	return out
}

// rowOf returns the index of the caret's row. Between two rows of a wrapped line it is the
// second one.
func (e *Editor) rowOf(rows []row) int {
	for i := len(rows) - 1; i > 0; i-- {
		if e.caret >= rows[i].from {
			return i
		}
	}
	return 0
}

// indent returns how many columns of the row at that index are not the text's.
func (e *Editor) indent(at int) int {
	if at > 0 {
		return 0
	}
	return e.Indent
}

// column returns the caret's column in its row.
func (e *Editor) column(rows []row, at int) int {
	return e.indent(at) + styled.Width(e.displayText(e.text[rows[at].from:e.caret]))
}

// Up moves the caret by a row of that many columns, and reports whether there is one.
func (e *Editor) Up(columns int) bool { return e.vertical(columns, -1) }

// Down moves the caret by a row of that many columns, and reports whether there is one.
func (e *Editor) Down(columns int) bool { return e.vertical(columns, 1) }

func (e *Editor) vertical(columns, by int) bool {
	rows := e.rows(columns)
	at := e.rowOf(rows)
	if at+by < 0 || at+by >= len(rows) {
		return false
	}
	goal := e.goalColumn
	if goal < 0 {
		goal = e.column(rows, at)
	}
	r := rows[at+by]
	to, width := r.from, e.indent(at+by)
	for to < r.to {
		size, w := e.cell(to)
		if width+w > goal {
			break
		}
		to, width = to+size, width+w
	}
	if to == r.to && at+by < len(rows)-1 && to == rows[at+by+1].from && to > r.from { // it would be in the next row
		to = e.before(to)
	}
	e.moved()
	e.caret, e.goalColumn = to, goal
	return true
}
