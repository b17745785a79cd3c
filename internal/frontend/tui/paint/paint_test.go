package paint

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/frontend/tui/emulator"
)

// words makes a row of about that many columns, sometimes wide, sometimes
// coloured.
func words(t *rapid.T, name string, most int) string {
	var b strings.Builder
	n := rapid.IntRange(0, most).Draw(t, name)
	pieces := []string{"word ", "x", "漢字", "👩‍👧", "é", "\x1b[1;92mgreen\x1b[m", "\x1b]8;;http://a.b/c\x1b\\link\x1b]8;;\x1b\\"}
	size := []int{5, 1, 4, 2, 1, 5, 4}
	for used := 0; ; {
		i := rapid.SampledFrom([]int{0, 0, 0, 1, 1, 2, 3, 4, 5, 6}).Draw(t, "piece")
		if used += size[i]; used > n {
			break
		}
		b.WriteString(pieces[i])
	}
	return strings.TrimRight(b.String(), " ")
}

// sudden is a terminal whose window may change before a frame reaches it.
type sudden struct {
	*emulator.Terminal
	change []int // widths, one before each write
}

func (s *sudden) WriteFor(width int, p []byte) (int, error) {
	if len(s.change) > 0 {
		s.Resize(s.change[0], s.Height())
		s.change = s.change[1:]
	}
	if s.Width() == width {
		_, _ = s.Write(p)
	}
	return s.Width(), nil
}

func bare(s string) string {
	for _, code := range []string{"\x1b[1;92m", "\x1b[m", "\x1b]8;;http://a.b/c\x1b\\", "\x1b]8;;\x1b\\"} {
		s = strings.ReplaceAll(s, code, "")
	}
	return strings.TrimRight(s, " ")
}

func trimmed(text string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
	return b.String()
}

// Every finished line is on the terminal once and in order, above the live area
// as it is, whatever is drawn and however the window changes; the cursor is
// where it was put.
//
// SPEC 18.4
func TestScrollbackIsTheTranscript(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width, height := rapid.IntRange(20, 60).Draw(t, "width"), rapid.IntRange(8, 24).Draw(t, "height")
		term := emulator.New(width, height)
		window := &sudden{Terminal: term}
		p := New(window, width)
		p.Sync = rapid.Bool().Draw(t, "sync")
		if rapid.Bool().Draw(t, "cuts") {
			term.Cuts, p.Reflows = true, false
		}
		var all, live []string
		caret := Caret{}
		number := 0
		for range rapid.IntRange(1, 30).Draw(t, "frames") {
			if rapid.IntRange(0, 5).Draw(t, "resize") == 0 {
				width = rapid.IntRange(20, 60).Draw(t, "width")
				if term.Cuts { // the scrollback stays whole only where it grows
					width = max(width, 60)
				}
				term.Resize(width, height)
				p.Resize(width)
			}
			var done []string
			for range rapid.IntRange(0, 3).Draw(t, "done") {
				number++
				most := 3 * width
				if term.Cuts {
					most = 10
				}
				done = append(done, fmt.Sprintf("%d %s", number, words(t, "line", most)))
			}
			if rapid.IntRange(0, 2).Draw(t, "same") > 0 && len(live) > 0 && len(done) > 0 {
				done = append(append([]string(nil), live[0]), done...) // it was live before
				live = live[1:]
			}
			switch rapid.IntRange(0, 3).Draw(t, "live") {
			case 0:
				live = live[:min(len(live), rapid.IntRange(0, 5).Draw(t, "fewer"))]
			case 1:
				for range rapid.IntRange(1, 3).Draw(t, "more") {
					live = append(live, words(t, "row", width))
				}
			default:
				for i := range live {
					if rapid.Bool().Draw(t, "change") {
						live[i] += "y"
					}
				}
			}
			live = append([]string(nil), live[max(0, len(live)-(height-2)/2):]...)
			for i := range live {
				for visible(live[i]) > width {
					live[i] = ""
				}
			}
			if len(live) == 0 {
				live = []string{""}
			}
			row := rapid.IntRange(0, len(live)-1).Draw(t, "row")
			caret = Caret{Row: row, Column: min(visible(live[row]), width-1)}
			all = append(all, done...)
			if !term.Cuts && rapid.IntRange(0, 3).Draw(t, "sudden") == 0 { // after it was made
				window.change = rapid.SliceOfN(rapid.IntRange(20, 60), 1, 4).Draw(t, "widths")
			}
			p.Frame(done, live, caret)
			if width != term.Width() { // the event comes, and a frame for it
				width, window.change = term.Width(), nil
				p.Resize(width)
				for i := range live {
					for visible(live[i]) > width {
						live[i] = ""
					}
				}
				caret.Column = min(visible(live[caret.Row]), width-1)
				p.Frame(nil, live, caret)
			}
			must.Do(t, term.Err())
			var want strings.Builder
			for _, l := range append(append([]string(nil), all...), live...) {
				want.WriteString(bare(l) + "\n")
			}
			w := strings.TrimRight(want.String(), "\n") + "\n"
			if got := trimmed(term.Text()); got != w {
				t.Fatalf("the terminal has\n%s\nwant\n%s", got, w)
			}
			before := term.Bytes
			p.Frame(nil, live, caret)
			if term.Bytes != before {
				t.Fatalf("%d bytes were written though nothing changed", term.Bytes-before)
			}
			if _, col, hidden := term.Cursor(); col != caret.Column || hidden {
				t.Fatalf("the cursor is in column %d (hidden: %v), want %d", col, hidden, caret.Column)
			}
		}
	})
}

func visible(s string) int {
	term := emulator.New(1000, 2)
	fmt.Fprint(term, s)
	_, col, _ := term.Cursor()
	return col
}

// A row that grows costs what it grows by, and a finished row that was live
// costs nothing.
//
// SPEC 18.4
func TestBytes(t *testing.T) {
	term := emulator.New(80, 24)
	p := New(term, 80)
	p.Sync = true
	p.Frame(nil, []string{"one two", "> ", "status"}, Caret{Row: 1, Column: 2})
	before := term.Bytes
	p.Frame(nil, []string{"one two three", "> ", "status"}, Caret{Row: 1, Column: 2})
	if n := term.Bytes - before; n > 50 {
		t.Errorf("six characters cost %d bytes", n)
	}
	before = term.Bytes
	p.Frame([]string{"one two three"}, []string{"> ", "status"}, Caret{Column: 2})
	if n := term.Bytes - before; n > 0 {
		t.Errorf("a row that was there costs %d bytes", n)
	}
	if term.Frames != 2 {
		t.Errorf("%d synchronized frames, want 2", term.Frames)
	}
}

// SPEC 18.4
func TestAlone(t *testing.T) {
	term := emulator.New(40, 10)
	p := New(term, 40)
	p.Frame([]string{"done"}, []string{"live", "> x"}, Caret{Row: 1, Column: 3})
	before := term.Text()
	p.ShowModal([]string{"pager", "漢字", "end"}, Caret{Hidden: true})
	p.Frame([]string{"meanwhile"}, []string{"> x"}, Caret{Column: 3})
	p.ShowModal([]string{"pager", "other"}, Caret{Hidden: true})
	if got := strings.TrimRight(term.Screen(), "\n"); got != "pager\nother" {
		t.Errorf("the alternate screen shows\n%s", got)
	}
	full := strings.Repeat("x", 40)
	p.ShowModal([]string{full}, Caret{Hidden: true})
	if got := strings.TrimRight(term.Screen(), "\n"); got != full {
		t.Errorf("a row as wide as the screen is\n%s", got)
	}
	p.CloseModal()
	if got := term.Text(); got != before {
		t.Errorf("it left a trace:\n%s", got)
	}
	p.Frame(nil, []string{"> x"}, Caret{Column: 3})
	if got, want := term.Text(), "done\nmeanwhile\n> x\n"; got != want {
		t.Errorf("after it:\n%s\nwant\n%s", got, want)
	}
	if _, _, hidden := term.Cursor(); hidden || term.Err() != nil {
		t.Errorf("the cursor is hidden: %v; %v", hidden, term.Err())
	}
}

// A window that gets narrower breaks a row before a wide character that does not fit, so
// the row may take more rows than its width says; none of them stays behind, and the
// cursor's row is found again.
//
// SPEC 18.4, 18.5
func TestNarrowerWindowBreaksBeforeWideCharacters(t *testing.T) {
	wide := "x" + strings.Repeat("漢", 19) + "y" // 40 columns, and three rows of 20
	for name, at := range map[string]struct {
		live  []string
		caret Caret
	}{
		"a row above the cursor":      {[]string{"word", wide, ""}, Caret{Row: 2}},
		"two of them":                 {[]string{wide, wide, "> "}, Caret{Row: 2, Column: 2}},
		"the cursor's row, its end":   {[]string{"one", wide}, Caret{Row: 1, Column: 40}},
		"the cursor's row, in it":     {[]string{"one", wide}, Caret{Row: 1, Column: 39}},
		"a picture of several points": {[]string{"x" + strings.Repeat("👩‍👧", 19) + "y", "> "}, Caret{Row: 1, Column: 2}},
		"colours take no columns":     {[]string{"\x1b[1;92m" + wide + "\x1b[m", ""}, Caret{Row: 1}},
	} {
		term := emulator.New(43, 12)
		p := New(term, 43)
		p.Frame([]string{"done"}, at.live, at.caret)
		term.Resize(20, 12)
		p.Resize(20)
		p.Frame(nil, []string{"end"}, Caret{})
		if got, want := term.Text(), "done\nend\n"; got != want {
			t.Errorf("%s: the terminal has\n%s\nwant\n%s", name, got, want)
		}
	}
}
