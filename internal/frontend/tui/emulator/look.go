package emulator

import "strings"

// Resize changes the window's size, as a terminal does: with its lines wrapped
// anew or cut, and the cursor where it was in the text.
func (t *Terminal) Resize(width, height int) {
	if t.main != nil {
		t.width, t.height = width, height
		t.lines, t.top, t.row, t.col = []line{{}}, 0, 0, 0 // a program draws it anew
		return
	}
	if width != t.width {
		if t.Cuts {
			for i := range t.lines[t.top:] {
				l := &t.lines[t.top+i]
				l.cells = l.cells[:min(len(l.cells), width)]
				l.wrapped = false
			}
			t.col = min(t.col, width-1)
		} else {
			t.reflow(width)
		}
	}
	t.width, t.height = width, height
	for len(t.lines) > t.row+1 && len(t.lines)-1-t.top >= height && t.lines[len(t.lines)-1].empty() {
		t.lines = t.lines[:len(t.lines)-1]
	}
	// The cursor stays on the screen; a higher one shows scrollback again.
	t.top = max(0, min(max(t.row-height+1, len(t.lines)-height), t.row))
}

func (l line) empty() bool { return len(l.cells) == 0 }

func (t *Terminal) reflow(width int) {
	var out []line
	row, col := 0, 0
	for i := 0; i < len(t.lines); {
		var cells []cell
		cursor := -1
		for {
			l := t.lines[i]
			if i == t.row {
				cursor = len(cells) + t.col
			}
			cells = append(cells, l.cells...)
			i++
			if !l.wrapped || i == len(t.lines) {
				break
			}
		}
		if cursor >= len(cells) && cursor > 0 { // after the last character of a row it stays right of it
			cursor = max(len(cells), 1) - 1
		}
		for {
			n := min(width, len(cells))
			if n < len(cells) && n > 0 && cells[n].text == "" { // not within a wide one
				n--
			}
			switch {
			case cursor < 0:
			case cursor < n || n == len(cells): // it stays with its character
				row, col, cursor = len(out), cursor, -1
			default:
				cursor -= n
			}
			out = append(out, line{cells: append([]cell(nil), cells[:n]...), wrapped: n < len(cells)})
			cells = cells[n:]
			if len(cells) == 0 {
				break
			}
		}
	}
	t.lines, t.row, t.col = out, row, col
}

// Text returns all lines, scrollback and screen, with wrapped ones whole.
func (t *Terminal) Text() string {
	var b strings.Builder
	for _, l := range t.lines {
		b.WriteString(l.text())
		if !l.wrapped {
			b.WriteByte('\n')
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Screen returns what is seen, a row a line.
func (t *Terminal) Screen() string {
	var b strings.Builder
	for _, l := range t.lines[t.top:] {
		b.WriteString(strings.TrimRight(l.text(), " ") + "\n")
	}
	return b.String()
}

// Scrollback returns how many lines have left the screen.
func (t *Terminal) Scrollback() int { return t.top }

func (l line) text() string {
	var b strings.Builder
	for _, c := range l.cells {
		b.WriteString(c.text)
	}
	return b.String()
}

// Styled is Screen with its styles: {1;92}green{}, and links as {-> address}.
func (t *Terminal) Styled() string {
	var b strings.Builder
	for _, l := range t.lines[t.top:] {
		style, link := "", ""
		for _, c := range l.cells {
			if c.link != link {
				b.WriteString("{-> " + c.link + "}")
				link = c.link
			}
			if c.style != style {
				b.WriteString("{" + c.style + "}")
				style = c.style
			}
			b.WriteString(c.text)
		}
		if style != "" {
			b.WriteString("{}")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Run is text of one style in a row, and the column where it begins.
type Run struct {
	Column, Width int
	Text, Style   string
}

// Runs returns the screen, row by row; blanks that look like nothing are left out.
func (t *Terminal) Runs() [][]Run {
	var out [][]Run
	for _, l := range t.lines[t.top:] {
		var row []Run
		for i, c := range l.cells {
			if n := len(row); n > 0 && row[n-1].Style == c.style {
				row[n-1].Text += c.text
				row[n-1].Width = i + 1 - row[n-1].Column
				continue
			}
			row = append(row, Run{Column: i, Width: 1, Text: c.text, Style: c.style})
		}
		for n := len(row); n > 0 && row[n-1].Style == "" && strings.TrimSpace(row[n-1].Text) == ""; n = len(row) {
			row = row[:n-1]
		}
		out = append(out, row)
	}
	return out
}
