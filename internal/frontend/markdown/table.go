package markdown

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// cells splits a row of a table at its bars.
func cells(row string) []string {
	row = strings.TrimPrefix(strings.TrimSpace(row), "|")
	var out []string
	var b strings.Builder
	for i := 0; i < len(row); i++ {
		switch c := row[i]; {
		case c == '\\' && i+1 < len(row) && row[i+1] == '|':
			b.WriteByte('|')
			i++
		case c == '`':
			n := runOf(row[i:], '`')
			end := closing(row[i+n:], n)
			if end < 0 || strings.Contains(row[i:i+n+end], "|") { // bars separate cells even within code
				b.WriteString(row[i : i+n])
				i += n - 1
				continue
			}
			b.WriteString(row[i : i+n+end+n])
			i += n + end + n - 1
		case c == '|':
			out = append(out, strings.TrimSpace(b.String()))
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	if rest := strings.TrimSpace(b.String()); rest != "" {
		out = append(out, rest)
	}
	return out
}

// isDelimiter reports whether a row is the delimiter below a table's head.
func isDelimiter(row []string) bool {
	for _, c := range row {
		if strings.Trim(c, ":-") != "" || !strings.Contains(c, "-") {
			return false
		}
	}
	return len(row) > 0
}

// endTable draws a table after its last row.
func (s *Stream) endTable() {
	rows := s.table
	s.table = nil
	if len(rows) == 0 {
		return
	}
	if len(rows) < 2 || !isDelimiter(rows[1]) { // not a table, but text with bars
		s.start(Block{})
		for _, r := range rows {
			line, _ := s.inline("| " + strings.Join(r, " | ") + " |")
			for _, l := range append(s.first(), line...).Wrap(s.opt.Width, s.margin()) {
				s.emit(l)
			}
		}
		return
	}
	head, align, body := rows[0], rows[1], rows[2:]
	t := table{columns: make([]int, len(head)), align: align}
	t.add(s, head, styled.Bold)
	for _, r := range body {
		t.add(s, r, 0)
	}
	if s.blocks != nil {
		s.start(Block{Kind: Table, Rows: t.rows, Align: align})
		return
	}
	s.gap = s.gap || s.begun && s.lead == nil
	first, margin := s.first(), s.margin()
	for i, l := range t.lines(s.opt.Width - margin.Width()) {
		if i == 0 {
			s.emit(append(first, l...))
		} else {
			s.emit(append(append(styled.Line(nil), margin...), l...))
		}
	}
	s.gap = true
}

type table struct {
	columns []int // width of each column
	align   []string
	rows    [][]styled.Line
}

func (t *table) add(s *Stream, row []string, attr styled.Attr) {
	out := make([]styled.Line, len(t.columns))
	for i := range out {
		if i >= len(row) {
			continue
		}
		line, _ := s.inline(row[i])
		for j := range line {
			line[j].Attr |= attr
		}
		out[i] = line
		t.columns[i] = max(t.columns[i], line.Width())
	}
	for i := len(out); i < len(row); i++ { // no word is lost
		line, _ := s.inline(" " + row[i])
		out[len(out)-1] = append(out[len(out)-1], line...)
		t.columns[len(out)-1] = max(t.columns[len(out)-1], out[len(out)-1].Width())
	}
	t.rows = append(t.rows, out)
}

const (
	between  = " │ "
	narrow   = 6 // a narrower column is not readable
	crossing = "─┼─"
)

// lines draws the table within a width. If its columns do not fit, each row becomes a
// list of its cells.
func (t *table) lines(width int) []styled.Line {
	if width > 0 && !t.fit(width-styled.Width(between)*(len(t.columns)-1)) {
		return t.list(width)
	}
	var out []styled.Line
	for i, r := range t.rows {
		out = append(out, t.row(r)...)
		if i == 0 {
			var l styled.Line
			for j, n := range t.columns {
				if j > 0 {
					l = l.Add(styled.Dim, crossing)
				}
				l = l.Add(styled.Dim, strings.Repeat("─", n))
			}
			out = append(out, l)
		}
	}
	return out
}

// fit narrows the widest columns until the table fits.
func (t *table) fit(room int) bool {
	sum := 0
	for _, n := range t.columns {
		sum += n
	}
	for sum > room {
		widest := 0
		for i, n := range t.columns {
			if n > t.columns[widest] {
				widest = i
			}
		}
		if t.columns[widest] <= narrow {
			return false
		}
		t.columns[widest]--
		sum--
	}
	return true
}

func (t *table) row(r []styled.Line) []styled.Line {
	parts, height := make([][]styled.Line, len(r)), 1
	for i, c := range r {
		parts[i] = c.Wrap(t.columns[i], nil)
		height = max(height, len(parts[i]))
	}
	out := make([]styled.Line, height)
	for k := range out {
		var l styled.Line
		for i, n := range t.columns {
			if i > 0 {
				l = l.Add(styled.Dim, between)
			}
			var c styled.Line
			if k < len(parts[i]) {
				c = parts[i][k]
			}
			pad := n - c.Width()
			before := 0
			if i < len(t.align) && strings.HasSuffix(t.align[i], ":") {
				if before = pad; strings.HasPrefix(t.align[i], ":") {
					before = pad / 2
				}
			}
			l = append(l.Add(styled.Text, strings.Repeat(" ", max(0, before))), c...)
			if i < len(t.columns)-1 {
				l = l.Add(styled.Text, strings.Repeat(" ", max(0, pad-before)))
			}
		}
		out[k] = l
	}
	return out
}

func (t *table) list(width int) []styled.Line {
	var out []styled.Line
	for i, r := range t.rows[1:] {
		if i > 0 {
			out = append(out, nil)
		}
		for j, c := range r {
			l := append(styled.Line(nil), t.rows[0][j]...)
			l = append(l.Add(styled.Text, ": "), c...)
			out = append(out, l.Wrap(width, styled.Of(styled.Text, "  "))...)
		}
	}
	return out
}
