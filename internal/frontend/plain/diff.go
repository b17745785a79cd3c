package plain

import "strings"

// Theme is how colours look on a terminal. The zero value has none.
type Theme byte

// The themes.
const (
	None  Theme = iota
	Dark        // a dark background: bright colours
	Light       // a light background: dark ones
)

// ThemeOf chooses a theme. There are no colours without a terminal, with
// NO_COLOR, or if TERM shows that it has none. COLORFGBG, if a terminal sets
// it, names a light background.
func ThemeOf(terminal bool, env func(string) string) Theme {
	if term := env("TERM"); !terminal || env("NO_COLOR") != "" || term == "" || term == "dumb" {
		return None
	}
	if bg := env("COLORFGBG"); strings.HasSuffix(bg, ";7") || strings.HasSuffix(bg, ";15") {
		return Light
	}
	return Dark
}

// LineKind is the kind of a line of a diff.
type LineKind byte

// The kinds. Other lines are around the changed ones, or not part of a diff.
const (
	Other LineKind = iota
	Header
	Hunk
	Added
	Removed
)

// DiffLine is one line of a text that may contain unified diffs, made safe.
type DiffLine struct {
	Kind LineKind
	Text string
	// Number is where a line of a hunk stands in the new file, a removed one in the old
	// file; 0 for other lines.
	Number int
}

// DiffLines returns the lines of such a text, with their kinds as in Diff.
func DiffLines(s string) []DiffLine {
	var out []DiffLine
	var d differ
	ls := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, l := range ls {
		next := ""
		if i+1 < len(ls) {
			next = ls[i+1]
		}
		kind, number := d.kind(l, next), d.number
		out = append(out, DiffLine{kind, Line(l), number})
	}
	return out
}

func (t Theme) code(s LineKind) string {
	if s == Other || t == None {
		return ""
	}
	if s == Header {
		return "\x1b[1m"
	}
	n := map[LineKind]string{Hunk: "6", Added: "2", Removed: "1"}[s]
	if t == Dark {
		return "\x1b[9" + n + "m"
	}
	return "\x1b[3" + n + "m"
}

// Diff makes a text that may contain unified diffs safe, as Text does, and
// colours added lines, removed lines and headers. A line within a hunk is
// coloured only by its first character, whatever else it looks like. Text
// around the diffs is unchanged.
func Diff(s string, t Theme) string {
	if t == None {
		return Text(s)
	}
	var b strings.Builder
	var d differ
	ls := strings.SplitAfter(s, "\n")
	for i, l := range ls {
		next := ""
		if i+1 < len(ls) {
			next = ls[i+1]
		}
		// Each line by itself: a sequence that is broken off ends with it.
		text, end := strings.CutSuffix(Text(l), "\n")
		if code := t.code(d.kind(l, next)); code != "" && text != "" {
			text = code + strings.ReplaceAll(text, "\n", "\x1b[0m\n"+code) + "\x1b[0m"
		}
		b.WriteString(text)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// differ follows a diff: a hunk's header has where it begins and how many lines it has.
type differ struct {
	olds, news int // lines that are left of the hunk
	old, new   int // the next line's numbers
	number     int // of the last line
}

func (d *differ) kind(l, next string) LineKind {
	d.number = 0
	if d.olds > 0 || d.news > 0 {
		switch {
		case strings.HasPrefix(l, "+"):
			d.number = d.new
			d.new, d.news = d.new+1, d.news-1
			return Added
		case strings.HasPrefix(l, "-"):
			d.number = d.old
			d.old, d.olds = d.old+1, d.olds-1
			return Removed
		case !strings.HasPrefix(l, `\`):
			d.number = d.new
			d.old, d.new, d.olds, d.news = d.old+1, d.new+1, d.olds-1, d.news-1
		}
		return Other
	}
	switch {
	case strings.HasPrefix(l, "@@ -"):
		d.hunk(l)
		return Hunk
	case strings.HasPrefix(l, "--- ") && strings.HasPrefix(next, "+++ "), strings.HasPrefix(l, "+++ "):
		return Header
	}
	return Other
}

// hunk reads "@@ -a,b +c,d @@"; a count that is not there is 1.
func (d *differ) hunk(l string) {
	if f := strings.Fields(l); len(f) >= 3 {
		d.old, d.olds = place(f[1][1:])
		d.new, d.news = place(f[2][1:])
	}
}

func place(s string) (begin, lines int) {
	from, count, ok := strings.Cut(s, ",")
	if !ok {
		count = "1"
	}
	return number(from), number(count)
}

func number(digits string) int {
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' || n > 1e8 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
