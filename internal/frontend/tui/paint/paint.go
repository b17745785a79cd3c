// Package paint writes to the terminal: finished lines, which then belong to
// the terminal's scrollback and are never touched again, and below them a live
// area of a few rows.
//
// It promises that a frame is one write, that a row that did not change is not
// written again, that nothing is written where nothing changed, and that it
// never clears the screen or its scrollback. A finished line is not broken: one
// that is longer than the terminal is wide is wrapped by the terminal, so that
// what is copied is whole. It assumes that what it wrote is still there and asks
// the terminal nothing. A frame is made for a width: where the writer is Sized, one
// that the window has outrun is not written, but made again.
//
// Text comes rendered: colours and links are the only sequences in it.
package paint

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Caret is the position of the terminal's cursor in the live area.
type Caret struct {
	Row, Column int
	Hidden      bool
}

// Sized is a writer to a terminal whose width may change at any moment.
type Sized interface {
	// WriteFor writes a frame that was made for a terminal of that width, and returns the
	// terminal's width. If it is another one, nothing is written.
	WriteFor(width int, p []byte) (now int, err error)
}

// Painter writes frames.
type Painter struct {
	// Sync: the terminal supports synchronized output (mode 2026).
	Sync bool
	// Reflows: when the terminal gets narrower, it wraps the rows that no longer
	// fit, as nearly all do. xterm and the console cut them.
	Reflows bool

	w         io.Writer
	err       error
	width     int
	rows      []string // of the live area, as they were written
	caret     Caret
	resized   bool // since the last frame: the rows are elsewhere
	rowsAbove int  // then: the rows of the live area above the cursor's
	modalRows []string
	modalOpen bool // the alternate screen is shown
	deferred  []string

	buf       bytes.Buffer
	cursorRow int // the row of the cursor while a frame is made
}

// New makes a Painter for a terminal of that width whose cursor is at the
// beginning of a row.
func New(w io.Writer, width int) *Painter { return &Painter{w: w, width: max(1, width), Reflows: true} }

// Err returns the first error of a write.
func (p *Painter) Err() error { return p.err }

// Resize sets the window's width, after it changed.
func (p *Painter) Resize(width int) {
	width = max(1, width)
	if width == p.width {
		return
	}
	p.width = width
	p.resized, p.rowsAbove = true, p.caret.Row
	p.modalRows = nil
	if !p.Reflows {
		return
	}
	_, p.rowsAbove = rewrap(p.row(p.caret.Row), width, p.caret.Column)
	for _, r := range p.rows[:min(p.caret.Row, len(p.rows))] {
		rows, _ := rewrap(r, width, 0)
		p.rowsAbove += rows
	}
}

func (p *Painter) row(i int) string {
	if i >= len(p.rows) {
		return ""
	}
	return p.rows[i]
}

// rewrap returns how many rows a text takes after the terminal has wrapped it, and in which
// of them the cursor is that was in a column: it stays with its character, and right of the
// last one. A wide character is not broken at the margin, so the text's width does not say it.
func rewrap(text string, width, column int) (rows, cursor int) {
	rows = 1
	col, at := 0, 0
	for text = ansi.Strip(text); text != ""; {
		cluster, w := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		text = text[len(cluster):]
		if col+w > width {
			rows, col = rows+1, 0
		}
		if at <= column {
			cursor = rows - 1
		}
		col, at = col+w, at+w
	}
	return rows, cursor
}

// Frame writes finished lines above the live area, and what changed in the live area.
// While a modal view is shown, it keeps the finished lines until then.
func (p *Painter) Frame(done, live []string, caret Caret) {
	if p.modalOpen {
		p.deferred = append(p.deferred, done...)
		return
	}
	if len(p.deferred) > 0 {
		done = append(p.deferred, done...)
		p.deferred = nil
	}
	for range retries {
		if p.frame(done, live, caret, false) {
			return
		}
	}
	p.frame(done, live, caret, true)
}

// retries is how often a frame is made again for a window whose width changes.
const retries = 5

// frame makes a frame and writes it. It reports false if the window has another width and
// nothing was written; anyway writes even then.
func (p *Painter) frame(done, live []string, caret Caret, anyway bool) bool {
	p.buf.Reset()
	p.cursorRow = p.caret.Row
	old, live := p.rows, p.cut(live)
	if p.resized {
		p.moveUp(p.rowsAbove)
		p.buf.WriteString("\r\x1b[J")
		old, p.cursorRow = nil, 0
	}
	p.draw(old, done, live)
	p.placeCaret(len(done), caret)
	if now := p.flush(caret, anyway); now != p.width {
		p.Resize(now)
		return false
	}
	p.resized = false
	p.rows = append(p.rows[:0:0], live...)
	return true
}

// cut cuts rows that were made for a wider window.
func (p *Painter) cut(rows []string) []string {
	out := rows
	for i, r := range rows {
		if p.mayOverflow(r) && ansi.StringWidth(r) > p.width {
			if &out[0] == &rows[0] { // the caller's rows stay
				out = append([]string(nil), rows...)
			}
			out[i] = ansi.Truncate(r, p.width, "")
		}
	}
	return out
}

// draw writes the rows that differ from old.
func (p *Painter) draw(old, done, live []string) {
	gone, bare := false, false // the old rows were erased; rows are cut at the margin
	for i := range len(done) + len(live) {
		ours := i >= len(done) // it must take one row
		row := ""
		if ours {
			row = live[i-len(done)]
		} else {
			row = done[i]
		}
		wraps := !ours && p.mayOverflow(row)
		if !gone && i < len(old) && !wraps && row == old[i] {
			continue
		}
		if ours && !bare && p.mayOverflow(row) {
			bare = true
			p.buf.WriteString("\x1b[?7l")
		}
		switch {
		case !gone && i < len(old) && !wraps:
			p.moveTo(i)
			p.overwrite(old[i], row)
			continue
		case !gone && i < len(old):
			p.moveTo(i)
			p.buf.WriteString("\x1b[J")
		case !gone && i > 0:
			p.moveTo(i - 1)
			fallthrough
		case gone:
			p.buf.WriteString("\r\n")
			p.cursorRow++
		}
		gone = true
		p.buf.WriteString(row)
	}
	if n := len(done) + len(live); !gone && n < len(old) {
		p.moveTo(n)
		p.buf.WriteString("\x1b[J")
	}
	if bare {
		p.buf.WriteString("\x1b[?7h")
	}
}

// mayOverflow reports whether a row may be wider than the terminal.
func (p *Painter) mayOverflow(row string) bool {
	most := 0
	for i := 0; i < len(row) && most <= p.width; i++ {
		switch c := row[i]; {
		case c == 0x1b: // colours and links have no width
			end := strings.IndexByte(row[i:], 'm')
			if strings.HasPrefix(row[i:], "\x1b]") {
				end = strings.Index(row[i:], "\x1b\\") + 1
			}
			i += max(end, 0)
		case c >= 0x80:
			most += 2 // for each byte: an upper bound
		default:
			most++
		}
	}
	return most > p.width
}

// overwrite writes row over old: only the part after their common beginning.
func (p *Painter) overwrite(old, row string) {
	at := commonColumns(old, row)
	if at > 0 {
		fmt.Fprintf(&p.buf, "\x1b[%dC", at)
	}
	p.buf.WriteString(row[at:])
	if n := ansi.StringWidth(row); n < ansi.StringWidth(old) && n < p.width {
		p.buf.WriteString("\x1b[K")
	}
}

// commonColumns returns how many columns at the beginning of two rows are the same. It
// counts only ASCII, and not a character that a combining one may follow.
func commonColumns(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] >= ' ' && a[n] < 0x7f {
		n++
	}
	if n < len(a) && a[n] >= 0x80 || n < len(b) && b[n] >= 0x80 {
		n = max(0, n-1)
	}
	return n
}

// moveTo moves the cursor to the beginning of a row.
func (p *Painter) moveTo(row int) {
	p.moveUp(p.cursorRow - row)
	if row > p.cursorRow {
		fmt.Fprintf(&p.buf, "\x1b[%dB", row-p.cursorRow)
	}
	p.buf.WriteByte('\r')
	p.cursorRow = row
}

func (p *Painter) moveUp(n int) {
	if n > 0 {
		fmt.Fprintf(&p.buf, "\x1b[%dA", n)
	}
}

// placeCaret moves the cursor to c in the live area, which begins at row.
func (p *Painter) placeCaret(row int, c Caret) {
	if p.buf.Len() == 0 && row+c.Row == p.caret.Row && c.Column == p.caret.Column {
		return
	}
	p.moveTo(row + c.Row)
	if c.Column > 0 {
		fmt.Fprintf(&p.buf, "\x1b[%dC", min(c.Column, p.width-1))
	}
}

// flush writes the frame, and returns the terminal's width: if it is not that of
// the frame, nothing was written.
func (p *Painter) flush(c Caret, anyway bool) (now int) {
	was := p.caret.Hidden
	before, after := "", ""
	if p.buf.Len() > 0 || c.Hidden != was {
		switch {
		case p.Sync:
			before, after = "\x1b[?2026h", "\x1b[?2026l"
		case !was:
			before = "\x1b[?25l" // hides the cursor's movements
			was = true
		}
		if c.Hidden != was {
			after = map[bool]string{true: "\x1b[?25l", false: "\x1b[?25h"}[c.Hidden] + after
		}
		text := before + p.buf.String() + after
		if sized, ok := p.w.(Sized); ok && !anyway {
			now, err := sized.WriteFor(p.width, []byte(text))
			if p.setErr(err); err == nil && max(1, now) != p.width {
				return max(1, now)
			}
		} else {
			p.write(text)
		}
	}
	p.caret = c
	return p.width
}

func (p *Painter) write(text string) {
	_, err := io.WriteString(p.w, text)
	p.setErr(err)
}

func (p *Painter) setErr(err error) {
	if p.err == nil {
		p.err = err
	}
}

// ShowModal shows rows on the alternate screen, until CloseModal.
func (p *Painter) ShowModal(rows []string, caret Caret) {
	p.buf.Reset()
	if !p.modalOpen {
		p.modalOpen, p.modalRows = true, nil
		p.buf.WriteString("\x1b[?1049h")
	}
	p.buf.WriteString("\x1b[?7l")
	clean := p.buf.Len()
	if p.modalRows == nil {
		p.buf.WriteString("\x1b[1;1H\x1b[J")
	}
	for i, row := range rows {
		if p.modalRows != nil && i < len(p.modalRows) && p.modalRows[i] == row {
			continue
		}
		fmt.Fprintf(&p.buf, "\x1b[%d;1H\x1b[K%s", i+1, row) // behind a row that is full, K takes its last column
	}
	if len(rows) < len(p.modalRows) {
		fmt.Fprintf(&p.buf, "\x1b[%d;1H\x1b[J", len(rows)+1)
	}
	p.modalRows = append(make([]string, 0, len(rows)), rows...)
	if p.buf.Len() == clean && !p.caret.Hidden == !caret.Hidden {
		return
	}
	hide := "\x1b[?25h"
	if caret.Hidden {
		hide = "\x1b[?25l"
	}
	fmt.Fprintf(&p.buf, "\x1b[?7h\x1b[%d;%dH%s", caret.Row+1, caret.Column+1, hide)
	if p.Sync {
		p.write("\x1b[?2026h" + p.buf.String() + "\x1b[?2026l")
		return
	}
	p.write(p.buf.String())
}

// CloseModal leaves the alternate screen, if it is shown.
func (p *Painter) CloseModal() {
	if p.modalOpen {
		p.modalOpen, p.modalRows = false, nil
		p.caret.Hidden = false
		p.write("\x1b[?1049l\x1b[?25h")
	}
}

// Reset must be called after another program wrote to the terminal: the cursor is at the
// beginning of a row, and the live area is gone.
func (p *Painter) Reset() { p.rows, p.caret, p.resized = nil, Caret{}, false }
