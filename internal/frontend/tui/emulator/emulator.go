// Package emulator is a terminal in memory, for tests: what was written to it is
// on its screen or in its scrollback.
//
// It knows the sequences that pawl writes and no other: one that it does not
// know is an error, so that a test sees whatever gets through to a terminal. It
// reflows its lines when its width changes, as most terminals do, or cuts them,
// as xterm does.
package emulator

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// cell is a character with what is drawn upon it, and its look.
type cell struct {
	text  string // "" after a wide one
	style string
	link  string
}

type line struct {
	cells   []cell
	wrapped bool // it goes on in the next one
}

// Terminal is one.
type Terminal struct {
	Cuts bool // lines that do not fit any more are cut, and not wrapped

	width, height int
	lines         []line // scrollback and screen
	top           int    // the first line of the screen
	row, col      int    // of the cursor, row from the first line of all
	style, link   string
	nowrap        bool
	hidden        bool
	sync          bool
	main          *Terminal // while the alternate screen is shown

	Bytes   int      // written
	Frames  int      // synchronized ones
	Bells   int      // rung
	Titles  []string // set
	Notices []string // OSC 9 and 777
	Copied  []string // OSC 52
	modes   map[string]bool
	rest    string
	err     error
}

// New makes one.
func New(width, height int) *Terminal {
	return &Terminal{width: width, height: height, lines: []line{{}}, modes: map[string]bool{}}
}

// Err returns the first thing that it could not understand.
func (t *Terminal) Err() error { return t.err }

// Mode reports whether a private mode is set, such as 2004.
func (t *Terminal) Mode(n string) bool { return t.modes[n] }

// Cursor returns where the cursor is on the screen.
func (t *Terminal) Cursor() (row, col int, hidden bool) { return t.row - t.top, t.col, t.hidden }

// Width returns how many columns the window has.
func (t *Terminal) Width() int { return t.width }

// Height returns how many rows it has.
func (t *Terminal) Height() int { return t.height }

// Alternate reports whether the alternate screen is shown.
func (t *Terminal) Alternate() bool { return t.main != nil }

// Write takes what a program writes.
func (t *Terminal) Write(p []byte) (int, error) {
	t.Bytes += len(p)
	s := t.rest + string(p)
	t.rest = ""
	for s != "" {
		n := t.one(s)
		if n == 0 {
			t.rest = s
			break
		}
		s = s[n:]
	}
	return len(p), nil
}

func (t *Terminal) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// one takes what comes first and returns its size, 0 where it is not whole.
func (t *Terminal) one(s string) int {
	switch c := s[0]; {
	case c == '\r':
		t.col = 0
		return 1
	case c == '\n':
		t.down()
		return 1
	case c == '\a':
		t.Bells++
		return 1
	case c == 0x1b:
		return t.escape(s)
	case c < ' ' || c == 0x7f:
		t.fail("a control character: %q", c)
		return 1
	}
	cluster, width := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	t.put(cluster, width)
	return len(cluster)
}

func (t *Terminal) escape(s string) int {
	if len(s) < 2 {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] < 0x7f {
				t.control(s[2:i], s[i])
				return i + 1
			}
		}
		return 0
	case ']':
		end, size := strings.Index(s, "\x1b\\"), 2
		if bell := strings.IndexByte(s, '\a'); bell >= 0 && (end < 0 || bell < end) {
			end, size = bell, 1
		}
		if end < 0 {
			return 0
		}
		t.command(s[2:end])
		return end + size
	}
	t.fail("an unknown sequence: %q", s[:2])
	return 2
}

func (t *Terminal) command(s string) {
	kind, rest, _ := strings.Cut(s, ";")
	switch kind {
	case "8":
		_, t.link, _ = strings.Cut(rest, ";")
	case "0", "2":
		t.Titles = append(t.Titles, rest)
	case "9", "777":
		t.Notices = append(t.Notices, rest)
	case "52":
		t.Copied = append(t.Copied, rest)
	case "11", "10":
	default:
		t.fail("an unknown command: %q", s)
	}
}

func (t *Terminal) control(args string, final byte) {
	n := 1
	if v, err := strconv.Atoi(args); err == nil && v > 0 {
		n = v
	}
	switch final {
	case 'A':
		t.row = max(t.row-n, t.top)
	case 'B':
		t.row = min(t.row+n, t.top+t.height-1)
		t.need(t.row)
	case 'C':
		t.col = min(t.col+n, t.width-1)
	case 'H':
		r, c, _ := strings.Cut(args, ";")
		row, _ := strconv.Atoi(r)
		col, _ := strconv.Atoi(c)
		if t.main == nil {
			t.fail("the cursor is set on the main screen: %q", args)
		}
		t.row, t.col = t.top+min(max(row, 1), t.height)-1, min(max(col, 1), t.width)-1
		t.need(t.row)
	case 'J':
		if args != "" && args != "0" {
			t.fail("the screen is cleared: CSI %s J", args)
		}
		t.lines = t.lines[:t.row+1]
		t.erase()
	case 'K':
		if args != "" && args != "0" {
			t.fail("CSI %s K", args)
		}
		t.erase()
	case 'm':
		t.look(args)
	case 'h', 'l':
		t.set(args, final == 'h')
	case 'c', 'n', 'q', 'p', 'u', 't': // questions, and what is answered to them
	default:
		t.fail("an unknown sequence: CSI %s %c", args, final)
	}
}

func (t *Terminal) set(mode string, on bool) {
	t.modes[strings.TrimPrefix(mode, "?")] = on
	switch mode {
	case "?7":
		t.nowrap = !on
	case "?25":
		t.hidden = !on
	case "?2026":
		if t.sync == on {
			t.fail("a synchronized frame within another, or ended twice")
		}
		t.sync = on
		if on {
			t.Frames++
		}
	case "?1049":
		t.alternate(on)
	case "?2004", "?1004", "?2027", "?1":
	default:
		t.fail("an unknown mode: %s", mode)
	}
}

func (t *Terminal) alternate(on bool) {
	if on == (t.main != nil) {
		return
	}
	if on {
		saved := *t
		t.main = &saved
		t.lines, t.top, t.row, t.col = []line{{}}, 0, 0, 0
		return
	}
	m := t.main
	t.lines, t.top, t.row, t.col, t.main = m.lines, m.top, m.row, m.col, nil
	if m.width != t.width || m.height != t.height {
		w, h := t.width, t.height
		t.width, t.height = m.width, m.height
		t.Resize(w, h)
	}
}

func (t *Terminal) look(args string) {
	if args == "" || args == "0" {
		t.style = ""
		return
	}
	if rest, ok := strings.CutPrefix(args, "0;"); ok {
		t.style, args = "", rest
	}
	t.style = strings.TrimPrefix(t.style+";"+args, ";")
}

func (t *Terminal) need(row int) {
	for len(t.lines) <= row {
		t.lines = append(t.lines, line{})
	}
}

// down goes to the next row, and scrolls on the last one.
func (t *Terminal) down() {
	t.row++
	t.need(t.row)
	if t.row-t.top >= t.height {
		t.top++
		if t.main != nil {
			t.fail("the alternate screen scrolls")
		}
	}
}

func (t *Terminal) erase() {
	l := &t.lines[t.row]
	l.cells = l.cells[:min(t.col, t.width-1, len(l.cells))] // the last column also where it was just written
	l.wrapped = false
}

func (t *Terminal) put(text string, width int) {
	if t.col+width > t.width {
		if t.nowrap {
			t.col = t.width - width
		} else {
			t.lines[t.row].wrapped = true
			t.down()
			t.col = 0
		}
	}
	l := &t.lines[t.row]
	for len(l.cells) < t.col+width {
		l.cells = append(l.cells, cell{text: " "})
	}
	for i := range width {
		l.cells[t.col+i] = cell{style: t.style, link: t.link}
	}
	if width > 0 {
		l.cells[t.col].text = text
	}
	t.col += width
}
