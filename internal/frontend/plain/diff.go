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

// lineKind is the kind of a line of a diff.
type lineKind byte

const (
	other lineKind = iota
	header
	hunk
	added
	removed
)

func (t Theme) code(s lineKind) string {
	if s == other || t == None {
		return ""
	}
	if s == header {
		return "\x1b[1m"
	}
	n := map[lineKind]string{hunk: "6", added: "2", removed: "1"}[s]
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

// differ follows a diff: a hunk's header has the number of its lines.
type differ struct{ olds, news int }

func (d *differ) kind(l, next string) lineKind {
	if d.olds > 0 || d.news > 0 {
		switch {
		case strings.HasPrefix(l, "+"):
			d.news--
			return added
		case strings.HasPrefix(l, "-"):
			d.olds--
			return removed
		case !strings.HasPrefix(l, `\`):
			d.olds, d.news = d.olds-1, d.news-1
		}
		return other
	}
	switch {
	case strings.HasPrefix(l, "@@ -"):
		d.olds, d.news = counts(l)
		return hunk
	case strings.HasPrefix(l, "--- ") && strings.HasPrefix(next, "+++ "), strings.HasPrefix(l, "+++ "):
		return header
	}
	return other
}

// counts reads "@@ -a,b +c,d @@"; a count that is not there is 1.
func counts(l string) (olds, news int) {
	f := strings.Fields(l)
	if len(f) < 3 {
		return 0, 0
	}
	return count(f[1]), count(f[2])
}

func count(s string) int {
	_, digits, ok := strings.Cut(s, ",")
	if !ok {
		return 1
	}
	n := 0
	for _, c := range digits {
		if c < '0' || c > '9' || n > 1e8 {
			return 0
		}
		n = n*10 + int(c-'0')
	}
	return n
}
