package line

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
)

// drawing is an entry as it stands on the terminal. What did not change is not written
// again, so that a screen reader reads out what is typed and no more.
type drawing struct {
	out         io.Writer
	sign        string // before the text
	columns     int    // of the terminal when it was drawn
	rows        []string
	row, column int // of the cursor
}

// size returns the size of the terminal in characters, or the usual size if it is not known.
func size(out io.Writer) (width, height int) {
	if f, ok := out.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			return width, height
		}
	}
	return 80, 24
}

// draw shows e. Of a text that is longer than the terminal it shows what is around the caret.
func (d *drawing) draw(e *editor.Editor) {
	columns, height := size(d.out)
	if d.columns != columns && d.rows != nil { // the terminal has moved what stood there
		d.write("\r\n")
		d.rows = nil
	}
	if d.columns = columns; d.rows == nil {
		d.rows, d.row, d.column = []string{""}, 0, 0
	}
	sign := d.sign
	if words, found, on := e.Searching(); on {
		sign = map[bool]string{true: "search: ", false: "not found: "}[found] + words + " → "
	}
	e.Indent = styled.Width(sign)
	lines, row, column := e.Render(columns-1, math.MaxInt)
	rows := []string{sign + lines[0].String()}
	for _, l := range lines[1:] {
		rows = append(rows, l.String())
	}
	if more := len(rows) - max(1, height-1); more > 0 {
		first := min(max(0, row-height+2), more)
		rows, row = rows[first:len(rows)-more+first], row-first
	}
	d.replace(rows)
	d.move(row, column)
}

// replace writes rows from where they differ from what stands there.
func (d *drawing) replace(rows []string) {
	at := 0
	for at < min(len(rows), len(d.rows))-1 && rows[at] == d.rows[at] {
		at++
	}
	same := common(rows[at], d.rows[at])
	if gone := len(d.rows) > at+1 || same < len(d.rows[at]); gone || len(rows) > at+1 || same < len(rows[at]) {
		d.move(at, styled.Width(rows[at][:same]))
		if gone {
			d.write("\x1b[J")
		}
		d.write(strings.Join(append([]string{rows[at][same:]}, rows[at+1:]...), "\r\n"))
		d.row, d.column = len(rows)-1, styled.Width(rows[len(rows)-1])
	}
	d.rows = slices.Clone(rows)
}

// common returns the length of what two texts begin with, in whole characters.
func common(a, b string) (n int) {
	for n < len(a) && n < len(b) {
		next, _ := ansi.FirstGraphemeCluster(a[n:], ansi.GraphemeWidth)
		other, _ := ansi.FirstGraphemeCluster(b[n:], ansi.GraphemeWidth)
		if next != other {
			break
		}
		n += len(next)
	}
	return n
}

func (d *drawing) move(row, column int) {
	if row < d.row {
		d.write(fmt.Sprintf("\x1b[%dA", d.row-row))
	} else if row > d.row {
		d.write(fmt.Sprintf("\x1b[%dB", row-d.row))
	}
	if column < d.column {
		d.write("\r")
		d.column = 0
	}
	if column > d.column {
		d.write(fmt.Sprintf("\x1b[%dC", column-d.column))
	}
	d.row, d.column = row, column
}

// leave shows e for the last time, and goes to the line below it.
func (d *drawing) leave(e *editor.Editor) {
	d.draw(e)
	d.write(strings.Repeat("\n", len(d.rows)-d.row))
	d.write("\r")
}

func (d *drawing) write(text string) {
	_, _ = io.WriteString(d.out, text) // a terminal that is gone ends the read
}
