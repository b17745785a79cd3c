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
	// WriteFor writes what was made for a terminal of that width, and returns the
	// width that the terminal has. If it is another one, nothing is written.
	WriteFor(width int, p []byte) (now int, err error)
}

// Painter writes frames.
type Painter struct {
	// Sync: the terminal takes synchronized frames (mode 2026).
	Sync bool
	// Reflows: when the terminal gets narrower, it wraps the rows that no longer
	// fit, as nearly all do. xterm and the console cut them.
	Reflows bool

	w      io.Writer
	err    error
	width  int
	rows   []string // of the live area, as they stand
	caret  Caret
	moved  bool // the window changed its size: the rows stand elsewhere
	above  int  // then: how many rows there are above the cursor's
	modal  []string
	inside bool // the alternate screen is shown
	late   []string

	b bytes.Buffer
	y int // the row of the cursor while a frame is made
}

// New makes a Painter for a terminal of that width whose cursor is at the
// beginning of a row.
func New(w io.Writer, width int) *Painter { return &Painter{w: w, width: max(1, width), Reflows: true} }

// Err is the first error of the terminal's.
func (p *Painter) Err() error { return p.err }

// Resize sets the window's width, after it changed.
func (p *Painter) Resize(width int) {
	width = max(1, width)
	if width == p.width {
		return
	}
	p.width = width
	p.moved, p.above = true, p.caret.Row
	p.modal = nil
	if !p.Reflows {
		return
	}
	if at := min(p.caret.Column, p.columns(p.caret.Row)); at > 0 {
		p.above = (at - 1) / width // after the last character of a row it stays right of it
		if at < p.columns(p.caret.Row) {
			p.above = at / width
		}
	} else {
		p.above = 0
	}
	for _, r := range p.rows[:min(p.caret.Row, len(p.rows))] {
		p.above += max(1, (ansi.StringWidth(r)+width-1)/width)
	}
}

func (p *Painter) columns(row int) int {
	if row >= len(p.rows) {
		return 0
	}
	return ansi.StringWidth(p.rows[row])
}

// Frame writes finished lines above the live area, and what changed in it.
func (p *Painter) Frame(done, live []string, caret Caret) {
	if p.inside {
		p.late = append(p.late, done...)
		return
	}
	if len(p.late) > 0 {
		done = append(p.late, done...)
		p.late = nil
	}
	for range retries {
		if p.frame(done, live, caret, false) {
			return
		}
	}
	p.frame(done, live, caret, true)
}

// retries is how often a frame is made for a window whose width is changing.
const retries = 5

// frame makes a frame and writes it, unless the window has another width; anyway
// writes it in any case.
func (p *Painter) frame(done, live []string, caret Caret, anyway bool) bool {
	p.b.Reset()
	p.y = p.caret.Row
	old, live := p.rows, p.cut(live)
	if p.moved {
		p.up(p.above)
		p.b.WriteString("\r\x1b[J")
		old, p.y = nil, 0
	}
	p.draw(old, done, live)
	p.place(len(done), caret)
	if now := p.flush(caret, anyway); now != p.width {
		p.Resize(now)
		return false
	}
	p.moved = false
	p.rows = append(p.rows[:0:0], live...)
	return true
}

// cut returns rows that fit: those of a frame that was made for a wider window
// are cut until the next one.
func (p *Painter) cut(rows []string) []string {
	out := rows
	for i, r := range rows {
		if p.uncertain(r) && ansi.StringWidth(r) > p.width {
			if &out[0] == &rows[0] { // they are the caller's
				out = append([]string(nil), rows...)
			}
			out[i] = ansi.Truncate(r, p.width, "")
		}
	}
	return out
}

// draw writes all rows that are not there yet.
func (p *Painter) draw(old, done, live []string) {
	gone, bare := false, false // the old rows were erased; rows are cut at the margin
	for i := range len(done) + len(live) {
		ours := i >= len(done) // it must take one row, however wide the terminal finds it
		row := ""
		if ours {
			row = live[i-len(done)]
		} else {
			row = done[i]
		}
		wraps := !ours && p.uncertain(row)
		if !gone && i < len(old) && !wraps && row == old[i] {
			continue
		}
		if ours && !bare && p.uncertain(row) {
			bare = true
			p.b.WriteString("\x1b[?7l")
		}
		switch {
		case !gone && i < len(old) && !wraps:
			p.to(i)
			p.over(old[i], row)
			continue
		case !gone && i < len(old):
			p.to(i)
			p.b.WriteString("\x1b[J")
		case !gone && i > 0:
			p.to(i - 1)
			fallthrough
		case gone:
			p.b.WriteString("\r\n")
			p.y++
		}
		gone = true
		p.b.WriteString(row)
	}
	if n := len(done) + len(live); !gone && n < len(old) {
		p.to(n)
		p.b.WriteString("\x1b[J")
	}
	if bare {
		p.b.WriteString("\x1b[?7h")
	}
}

// uncertain reports whether a row may take more columns than there are.
func (p *Painter) uncertain(row string) bool {
	most := 0
	for i := 0; i < len(row) && most <= p.width; i++ {
		switch c := row[i]; {
		case c == 0x1b: // a colour takes no column, nor does a link
			end := strings.IndexByte(row[i:], 'm')
			if strings.HasPrefix(row[i:], "\x1b]") {
				end = strings.Index(row[i:], "\x1b\\") + 1
			}
			i += max(end, 0)
		case c >= 0x80:
			most += 2 // for each byte: surely enough
		default:
			most++
		}
	}
	return most > p.width
}

// over writes a row over another one: only the part after their common beginning.
func (p *Painter) over(old, row string) {
	at := common(old, row)
	if at > 0 {
		fmt.Fprintf(&p.b, "\x1b[%dC", at)
	}
	p.b.WriteString(row[at:])
	if n := ansi.StringWidth(row); n < ansi.StringWidth(old) && n < p.width {
		p.b.WriteString("\x1b[K")
	}
}

// common is how many columns two rows share at the beginning that need not be
// written: plain ASCII, before anything that belongs to the character before it.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] && a[n] >= ' ' && a[n] < 0x7f {
		n++
	}
	if n < len(a) && a[n] >= 0x80 || n < len(b) && b[n] >= 0x80 {
		n = max(0, n-1)
	}
	return n
}

// to goes to the beginning of a row.
func (p *Painter) to(row int) {
	p.up(p.y - row)
	if row > p.y {
		fmt.Fprintf(&p.b, "\x1b[%dB", row-p.y)
	}
	p.b.WriteByte('\r')
	p.y = row
}

func (p *Painter) up(n int) {
	if n > 0 {
		fmt.Fprintf(&p.b, "\x1b[%dA", n)
	}
}

// place puts the cursor where it belongs.
func (p *Painter) place(row int, c Caret) {
	if p.b.Len() == 0 && row+c.Row == p.caret.Row && c.Column == p.caret.Column {
		return
	}
	p.to(row + c.Row)
	if c.Column > 0 {
		fmt.Fprintf(&p.b, "\x1b[%dC", min(c.Column, p.width-1))
	}
}

// flush writes the frame, and returns the terminal's width: if it is not that of
// the frame, nothing was written.
func (p *Painter) flush(c Caret, anyway bool) (now int) {
	was := p.caret.Hidden
	before, after := "", ""
	if p.b.Len() > 0 || c.Hidden != was {
		switch {
		case p.Sync:
			before, after = "\x1b[?2026h", "\x1b[?2026l"
		case !was:
			before = "\x1b[?25l" // it is not seen to run about
			was = true
		}
		if c.Hidden != was {
			after = map[bool]string{true: "\x1b[?25l", false: "\x1b[?25h"}[c.Hidden] + after
		}
		text := before + p.b.String() + after
		if sized, ok := p.w.(Sized); ok && !anyway {
			now, err := sized.WriteFor(p.width, []byte(text))
			if p.failed(err); err == nil && max(1, now) != p.width {
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
	p.failed(err)
}

func (p *Painter) failed(err error) {
	if p.err == nil {
		p.err = err
	}
}

// Alone shows rows on the alternate screen, which is shown until Back. What is
// finished before Back waits.
func (p *Painter) Alone(rows []string, caret Caret) {
	p.b.Reset()
	if !p.inside {
		p.inside, p.modal = true, nil
		p.b.WriteString("\x1b[?1049h")
	}
	p.b.WriteString("\x1b[?7l")
	clean := p.b.Len()
	if p.modal == nil {
		p.b.WriteString("\x1b[1;1H\x1b[J")
	}
	for i, row := range rows {
		if p.modal != nil && i < len(p.modal) && p.modal[i] == row {
			continue
		}
		fmt.Fprintf(&p.b, "\x1b[%d;1H%s\x1b[K", i+1, row)
	}
	if len(rows) < len(p.modal) {
		fmt.Fprintf(&p.b, "\x1b[%d;1H\x1b[J", len(rows)+1)
	}
	p.modal = append(make([]string, 0, len(rows)), rows...)
	if p.b.Len() == clean && !p.caret.Hidden == !caret.Hidden {
		return
	}
	hide := "\x1b[?25h"
	if caret.Hidden {
		hide = "\x1b[?25l"
	}
	fmt.Fprintf(&p.b, "\x1b[?7h\x1b[%d;%dH%s", caret.Row+1, caret.Column+1, hide)
	if p.Sync {
		p.write("\x1b[?2026h" + p.b.String() + "\x1b[?2026l")
		return
	}
	p.write(p.b.String())
}

// Back leaves the alternate screen: the live area is where it was.
func (p *Painter) Back() {
	if p.inside {
		p.inside, p.modal = false, nil
		p.caret.Hidden = false
		p.write("\x1b[?1049l\x1b[?25h")
	}
}

// Forget is for a terminal that somebody else wrote to: the cursor is at the
// beginning of a row, and nothing of the live area is there.
func (p *Painter) Forget() { p.rows, p.caret, p.moved = nil, Caret{}, false }
