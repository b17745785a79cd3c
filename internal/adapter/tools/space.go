package tools

import (
	"slices"
	"strings"
)

const noteSpace = "whitespace differed from the given text; the file's indentation was kept"

// squeeze is a line without leading and trailing whitespace, and with single
// spaces inside.
func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }

// bySpace matches without looking at whitespace inside lines. Old of several
// lines must match whole lines; old of a part of one line may match a part.
func bySpace(body, old, text string) ([]cut, string) {
	return spaced(body, old, text, squeeze), noteSpace
}

const noteBoth = "whitespace, and quotes or dashes, differed from the given text; the file's indentation was kept"

// bySpaceAndMarks matches whole lines with neither whitespace nor typographic
// marks looked at.
func bySpaceAndMarks(body, old, text string) ([]cut, string) {
	fold := marks()
	return spaced(body, old, text, func(l string) string { return squeeze(fold.Replace(l)) }), noteBoth
}

func spaced(body, old, text string, fold func(string) string) []cut {
	if len(body) > foldLimit || strings.TrimSpace(old) == "" {
		return nil
	}
	olds, texts := trimBlank(old, text)
	lines := splitLines(body)
	have, want := foldAll(lines, fold), foldAll(olds, fold)
	var cuts []cut
	start := 0
	for i := 0; i+len(olds) <= len(lines); i++ {
		if slices.Equal(have[i:i+len(olds)], want) {
			cuts = append(cuts, wholeLines(body, start, lines[i:i+len(olds)], olds, texts))
		}
		start += len(lines[i])
	}
	if len(cuts) == 0 && len(olds) == 1 {
		cuts = withinLine(lines, olds[0], texts)
	}
	return cuts
}

func foldAll(lines []string, fold func(string) string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = fold(l)
	}
	return out
}

// trimBlank drops blank lines that old begins and ends with, and as many of
// the same from the new text.
func trimBlank(old, text string) (olds, texts []string) {
	olds, texts = splitLines(old), splitLines(text)
	blank := func(ls []string, i int) bool { return len(ls) > 0 && strings.TrimSpace(ls[i]) == "" }
	for blank(olds, 0) {
		olds = olds[1:]
		if blank(texts, 0) {
			texts = texts[1:]
		}
	}
	for blank(olds, len(olds)-1) {
		olds = olds[:len(olds)-1]
		if blank(texts, len(texts)-1) {
			texts = texts[:len(texts)-1]
		}
	}
	return olds, texts
}

// wholeLines replaces whole lines. The last line's ending stays the file's.
func wholeLines(body string, start int, have, olds, texts []string) cut {
	n := 0
	for _, l := range have {
		n += len(l)
	}
	out := strings.Join(reindent(have, olds, texts, localEnding(body, start, n)), "")
	last := have[len(have)-1]
	eol := last[len(bare(last)):]
	switch {
	case len(texts) == 0: // the lines go
	case eol == "":
		out = bare(out)
	case !strings.HasSuffix(out, "\n"):
		out += eol
	}
	return cut{start, start + n, out}
}

// withinLine matches a part of a line between words.
func withinLine(lines []string, old string, texts []string) []cut {
	want := squeeze(old)
	text := strings.TrimSpace(strings.Join(texts, ""))
	var cuts []cut
	start := 0
	for _, l := range lines {
		m := squeezed(bare(l))
		for _, at := range occurrences(string(m.text), want) {
			cuts = append(cuts, cut{start + m.from[at], start + m.from[at+len(want)-1] + 1, text})
		}
		start += len(l)
	}
	return cuts
}

// squeezed is squeeze with where each byte came from.
func squeezed(line string) mapped {
	var m mapped
	gap := false
	for i := range len(line) {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			gap = len(m.text) > 0
		default:
			if gap {
				m.add(" ", i-1)
				gap = false
			}
			m.add(line[i:i+1], i)
		}
	}
	return m
}

func indentOf(line string) string { return line[:len(line)-len(strings.TrimLeft(line, " \t"))] }

// reindent gives new lines the indentation that the file uses where old has
// another, and its line endings. Lines that old and new share at their ends are
// the file's own; one that stands for another is indented as that one is.
func reindent(have, olds, texts []string, eol string) []string {
	pre, post := commonLines(olds, texts)
	in := indents{known: map[string]string{}}
	for i, o := range olds {
		if strings.TrimSpace(o) != "" {
			in.learn(indentOf(o), indentOf(have[i]))
		}
	}
	out := append([]string(nil), have[:pre]...)
	for i := pre; i < len(texts)-post; i++ {
		t := texts[i]
		if strings.TrimSpace(t) != "" {
			was := indentOf(t)
			now := in.translate(was)
			if i < len(olds)-post && strings.TrimSpace(olds[i]) != "" && indentOf(olds[i]) == was {
				now = indentOf(have[i])
			}
			t = now + t[len(was):]
		}
		out = append(out, endAs(t, i, have[:len(have)-post], eol))
	}
	return append(out, have[len(have)-post:]...)
}

// indents translates the indentation of a given text to a file's.
type indents struct {
	known map[string]string
	order []string
	tabs  bool // the file indents with tabs
}

func (in *indents) learn(given, file string) {
	if _, ok := in.known[given]; !ok {
		in.known[given] = file
		in.order = append(in.order, given)
	}
	in.tabs = in.tabs || strings.Contains(file, "\t")
}

func (in *indents) translate(given string) string {
	if file, ok := in.known[given]; ok {
		return file
	}
	// Deeper than a known one: that one's, and the rest in the file's way.
	best, found := "", false
	for _, k := range in.order {
		if strings.HasPrefix(given, k) && (!found || len(k) > len(best)) {
			best, found = k, true
		}
	}
	if found {
		return in.known[best] + in.convert(given[len(best):])
	}
	// Less deep than all known ones: the nearest of them, less the difference.
	for _, k := range in.order {
		if rest, ok := strings.CutPrefix(k, given); ok && (!found || len(k) < len(best)) {
			if file, ok := strings.CutSuffix(in.known[k], in.convert(rest)); ok {
				best, found = k, true
				given = file
			}
		}
	}
	return given
}

// convert writes an indentation with tabs or spaces, as the file does.
func (in *indents) convert(s string) string {
	unit := in.unit()
	if in.tabs && !strings.Contains(s, "\t") && len(s)%unit == 0 {
		return strings.Repeat("\t", len(s)/unit)
	}
	if !in.tabs {
		return strings.ReplaceAll(s, "\t", strings.Repeat(" ", unit))
	}
	return s
}

// unit is how many spaces stand for one tab, as far as the known pairs tell.
func (in *indents) unit() int {
	for _, k := range in.order {
		spaces, tabs := k, in.known[k]
		if strings.Contains(spaces, "\t") {
			spaces, tabs = tabs, spaces
		}
		if n := strings.Count(tabs, "\t"); n > 0 && n == len(tabs) && strings.Trim(spaces, " ") == "" && len(spaces)%n == 0 && len(spaces) > 0 {
			return len(spaces) / n
		}
	}
	return 4
}

// shortFile is how many lines of a file are shown whole where nothing in it is
// like what was sought.
const shortFile = 30

// near says what the file has where old would most likely be.
func near(body, old string) *miss {
	lines, olds := splitLines(body), splitLines(old)
	m := &miss{text: "old was not found"}
	if len(lines) == 0 {
		m.text += ": the file is empty"
		return m
	}
	at, score := likely(lines, olds)
	if score == 0 && len(lines) <= shortFile {
		m.text += ", and nothing in the file is like it; these are all its lines, as they are now"
		m.show = []region{{1, len(lines)}}
		return m
	}
	if score == 0 {
		m.text += ", and nothing in the file is like it: read the file again"
		return m
	}
	m.text += "; the nearest lines are below, as they are now: copy old from them exactly"
	m.show = []region{{max(1, at+1-3), min(len(lines), at+len(olds)+3)}}
	return m
}

// likely finds the offset at which most of old's lines agree with the file's,
// else the line that shares most words with old's longest. score 0: none.
func likely(lines, olds []string) (at, score int) {
	if len(olds) == 0 {
		return 0, 0
	}
	where := map[string][]int{}
	for j, o := range olds {
		if k := squeeze(o); len(k) > 2 && len(where[k]) < 4 { // repeated lines say little
			where[k] = append(where[k], j)
		}
	}
	votes := map[int]int{}
	for i, l := range lines {
		for _, j := range where[squeeze(l)] {
			off := max(0, i-j)
			votes[off]++
			if v := votes[off]; v > score || v == score && off < at {
				at, score = off, v
			}
		}
	}
	if score > 0 {
		return at, score
	}
	longest := 0
	for j, o := range olds {
		if len(squeeze(o)) > len(squeeze(olds[longest])) {
			longest = j
		}
	}
	want := words(olds[longest])
	need := max(1, (len(want)+1)/2)
	for i, l := range lines {
		n := 0
		for w := range words(l) {
			if want[w] {
				n++
			}
		}
		if n >= need && n > score {
			at, score = max(0, i-longest), n
		}
	}
	return at, score
}

// words are the words of two characters and more in a line's beginning.
func words(l string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(l[:min(len(l), 1000)], func(r rune) bool {
		return r != '_' && (r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x80)
	}) {
		if len(w) > 1 {
			out[w] = true
		}
	}
	return out
}
