package editor

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// row is a part of the text that is one row on the screen.
type row struct {
	from, to int // in the text
}

// rows breaks the text where it is wider than columns.
func (e *Editor) rows(columns int) []row {
	columns = max(columns, 2)
	var out []row
	from, width := 0, 0
	for i := 0; i < len(e.text); {
		if e.text[i] == '\n' {
			out = append(out, row{from, i})
			i++
			from, width = i, 0
			continue
		}
		size, w := e.cell(i)
		if width+w > columns && i > from {
			if at := strings.LastIndexByte(e.text[from:i], ' '); at > 0 && e.text[i] != ' ' {
				at += from + 1
				out = append(out, row{from, at})
				from = at
				width = styled.Width(e.shown(e.text[from:i]))
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

// cell is the size and the width of the character at a place.
func (e *Editor) cell(i int) (size, width int) {
	c, w := ansi.FirstGraphemeCluster(e.text[i:], ansi.GraphemeWidth)
	if shown := e.shown(c); shown != c {
		return len(c), styled.Width(shown)
	}
	return len(c), w
}

// shown is a part of the text as it is shown.
func (e *Editor) shown(text string) string {
	if strings.IndexFunc(text, isPasted) < 0 {
		return plain.Line(strings.ReplaceAll(text, "\t", "    "))
	}
	var b strings.Builder
	for _, r := range text {
		if isPasted(r) && int(r-firstPasted) < len(e.pasted) {
			b.WriteString("[" + e.pasted[r-firstPasted].Name + "]")
		} else {
			b.WriteRune(r)
		}
	}
	return plain.Line(strings.ReplaceAll(b.String(), "\t", "    "))
}

// Shown is the text in rows of that many columns, at most that many of them
// around the caret, and where the caret is.
func (e *Editor) Shown(columns, most int) (lines []styled.Line, caretRow, caretColumn int) {
	rows := e.rows(columns)
	at := e.rowOf(rows)
	for _, r := range rows {
		lines = append(lines, e.lookAt(r))
	}
	caretColumn = min(styled.Width(e.shown(e.text[rows[at].from:e.caret])), columns)
	if len(lines) > most {
		first := min(max(0, at-most+1), len(lines)-most)
		lines, at = lines[first:first+most], at-first
	}
	return lines, at, caretColumn
}

// lookAt is how a row looks: what is selected of it is reversed, an end of a line
// as a blank.
func (e *Editor) lookAt(r row) styled.Line {
	from, to := max(r.from, e.selected.from), min(r.to, e.selected.to)
	if from > to || e.selected.from == e.selected.to {
		return e.look(e.text[r.from:r.to])
	}
	marked := e.look(e.text[from:to])
	if to == r.to && e.selected.to > r.to && e.ends(r.to) {
		marked = marked.Add(styled.Text, " ")
	}
	for i := range marked {
		marked[i].Attr |= styled.Reverse
	}
	out := append(e.look(e.text[r.from:from]), marked...)
	return append(out, e.look(e.text[to:r.to])...)
}

func (e *Editor) look(text string) styled.Line {
	var out styled.Line
	for text != "" {
		i := strings.IndexFunc(text, isPasted)
		switch {
		case i < 0:
			return out.Add(styled.Text, e.shown(text))
		case i > 0:
			out = out.Add(styled.Text, e.shown(text[:i]))
			text = text[i:]
		}
		n := len(string(firstPasted))
		out = out.Add(styled.Accent, e.shown(text[:n]))
		text = text[n:]
	}
	return out
}

// rowOf is the row that the caret is in: at the end of one that was broken it is
// in the next one.
func (e *Editor) rowOf(rows []row) int {
	for i := len(rows) - 1; i > 0; i-- {
		if e.caret >= rows[i].from {
			return i
		}
	}
	return 0
}

// Up and Down go by a row, in that many columns, and report false at the ends.
func (e *Editor) Up(columns int) bool { return e.vertical(columns, -1) }

// Down is the other way.
func (e *Editor) Down(columns int) bool { return e.vertical(columns, 1) }

func (e *Editor) vertical(columns, by int) bool {
	rows := e.rows(columns)
	at := e.rowOf(rows)
	if at+by < 0 || at+by >= len(rows) {
		return false
	}
	goal := e.goal
	if goal < 0 {
		goal = styled.Width(e.shown(e.text[rows[at].from:e.caret]))
	}
	r := rows[at+by]
	to, width := r.from, 0
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
	e.caret, e.goal = to, goal
	return true
}
