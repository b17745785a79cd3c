package tools

import (
	"fmt"
	"slices"
	"strings"
)

// This file finds the place of a hunk. The line numbers are a hint; the lines decide.

// placed is the place of a hunk: the lines that it replaces, or the fact that it was
// applied already.
type placed struct {
	at      int // its first line
	runs    []run
	note    string
	already bool
}

// find returns the place of a hunk in a file's lines: at or after pos, otherwise anywhere
// if the hunk names no line to find first. shift is how far the line numbers of earlier
// hunks of the file were off.
func (h *hunk) find(lines []string, pos, shift int) (placed, *miss) {
	olds, news := h.old(), h.new()
	hint := h.at - 1 + shift
	if h.at > 0 && hint >= pos {
		switch {
		case len(olds) > 0 && fits(lines, hint, olds):
			return h.placed(lines, hint), nil
		case len(news) > 0 && fits(lines, hint, news):
			return placed{at: hint, already: true}, nil
		}
	}
	from, sure, m := h.behind(lines, pos)
	if m != nil {
		return placed{}, m
	}
	if len(olds) == 0 {
		return h.insertion(lines, from, hint, sure)
	}
	spots := h.spots(lines, from, olds)
	if len(spots) == 0 && len(h.seek) == 0 && pos > 0 {
		spots = h.spots(lines, 0, olds) // the hunks are in another order
	}
	switch {
	case len(spots) > 1 && !sure:
		return placed{}, manyHunks(lines, spots, len(olds))
	case len(spots) > 0:
		at := spots[0]
		if len(spots) > 1 || sure {
			// Only the line after @@ shows which of them is meant. If the new lines are
			// nearer to that line, the hunk may have been applied already.
			if n := nextBlock(lines[:at], from, news); n >= 0 {
				m := manyHunks(lines, []int{n, at}, len(olds))
				m.text = fmt.Sprintf("the new lines of a hunk stand at line %d already, and its old ones at line %d: add context lines", n+1, at+1)
				return placed{}, m
			}
		}
		l := h.placed(lines, at)
		if h.at > 0 && at != hint && !l.already {
			l.note = fmt.Sprintf("the hunk for line %d was found at line %d", h.at, at+1)
		}
		return l, nil
	case h.end && fits(lines, len(lines)-len(news), news) && len(news) > 0:
		return placed{at: len(lines) - len(news), already: true}, nil
	}
	return h.fitted(lines, from)
}

// fits reports whether the wanted lines are at index i.
func fits(lines []string, i int, want []string) bool {
	return i >= 0 && i+len(want) <= len(lines) && slices.Equal(lines[i:i+len(want)], want)
}

// nextBlock returns the index of the wanted lines, at or after from, or -1 if not found.
func nextBlock(lines []string, from int, want []string) int {
	for i := from; i+len(want) <= len(lines) && len(want) > 0; i++ {
		if fits(lines, i, want) {
			return i
		}
	}
	return -1
}

// spots lists the places of the old lines. For a hunk that ends the file, only the end
// counts if the old or the new lines are there.
func (h *hunk) spots(lines []string, from int, olds []string) []int {
	if n := len(lines) - len(olds); h.end && n >= from && fits(lines, n, olds) {
		return []int{n}
	}
	if news := h.new(); h.end && len(news) > 0 && fits(lines, len(lines)-len(news), news) {
		return nil
	}
	var out []int
	for i := nextBlock(lines, from, olds); i >= 0; i = nextBlock(lines, i+1, olds) {
		out = append(out, i)
	}
	return out
}

// placed returns the place of the hunk at a line index where its old lines match exactly.
// If its new lines are around them, the insertion was made before.
func (h *hunk) placed(lines []string, at int) placed {
	olds, news := h.old(), h.new()
	for k := 0; len(news) > len(olds) && k+len(olds) <= len(news); k++ {
		if fits(news, k, olds) && fits(lines, at-k, news) {
			return placed{at: at - k, already: true}
		}
	}
	b := builder{cursor: at}
	i := at
	for _, l := range h.lines {
		switch l.op {
		case '+':
			b.put(l.text)
			continue
		case ' ':
			b.keep(i)
		}
		i++
	}
	b.upTo(i)
	return placed{at: at, runs: b.runs}
}

// fitted places a hunk whose old lines differ only in whitespace or typographic marks.
func (h *hunk) fitted(lines []string, from int) (placed, *miss) {
	h = h.trimmed()
	text := "the lines of a hunk were not found"
	if news := pageOf(h.new()); len(news.lines) > 0 && nextBlock(lines, 0, news.lines) < 0 {
		p, olds := pageOf(lines), pageOf(h.old())
		spots := slices.DeleteFunc(p.places(olds), func(at int) bool { return at < from })
		switch len(spots) {
		case 0:
		case 1:
			if around := p.surrounds(spots[0], olds, news); around >= 0 {
				return placed{at: around, already: true}, nil
			}
			runs, why := p.fit(spots[0], olds, news, h.pairs()).runs()
			if why == "" {
				return placed{at: spots[0], runs: runs, note: noteAlike}, nil
			}
			text = "the lines of a hunk are there only with other whitespace, and " + string(why)
		default:
			return placed{}, manyHunks(lines, spots, len(olds.lines))
		}
	}
	if at := h.done(lines); at >= 0 {
		return placed{at: at, already: true}, nil
	}
	m := near(strings.Join(lines, "\n"), h.old(), text)
	m.text = strings.Replace(m.text, "copy old from them", "make the patch from them", 1)
	return placed{}, m
}

// trimmed returns the hunk without blank context lines at its ends, which some models add.
func (h *hunk) trimmed() *hunk {
	t := *h
	empty := func(l hunkLine) bool { return l.op == ' ' && blank(l.text) }
	for len(t.lines) > 0 && empty(t.lines[0]) {
		t.lines = t.lines[1:]
	}
	for len(t.lines) > 0 && empty(t.lines[len(t.lines)-1]) {
		t.lines = t.lines[:len(t.lines)-1]
	}
	return &t
}

// pairs returns for each new line its index in old, or -1 if it is added.
func (h *hunk) pairs() []int {
	var out []int
	j := 0
	for _, l := range h.lines {
		switch l.op {
		case '+':
			out = append(out, -1)
			continue
		case ' ':
			out = append(out, j)
		}
		j++
	}
	return out
}

// behind returns the index after the seek lines, and whether the place is certain: each
// of these lines occurs only once.
func (h *hunk) behind(lines []string, pos int) (from int, sure bool, m *miss) {
	sure = len(h.seek) > 0
	for _, want := range h.seek {
		spots := seekLine(lines, pos, want)
		if len(spots) == 0 {
			return 0, false, near(strings.Join(lines, "\n"), []string{want}, fmt.Sprintf("the line after @@ was not found: %q", want))
		}
		sure = sure && len(spots) == 1
		pos = spots[0] + 1
	}
	// Some patches have the same line after @@ and at the start of the hunk.
	if olds := h.old(); sure && len(olds) > 0 && strip(olds[0]) == strip(lines[pos-1]) {
		pos--
	}
	return pos, sure, nil
}

func seekLine(lines []string, pos int, want string) (out []int) {
	for _, form := range []func(string) string{bare, alike} {
		for i := pos; i < len(lines); i++ {
			if form(lines[i]) == form(want) {
				out = append(out, i)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}

// insertion returns the place of a hunk that only adds lines.
func (h *hunk) insertion(lines []string, from, hint int, sure bool) (placed, *miss) {
	at := len(lines) // added at the end
	switch {
	case h.at > 0 && hint >= from && hint <= len(lines):
		at = hint
	case h.at > 0:
		return placed{}, &miss{text: fmt.Sprintf("a hunk adds lines at line %d, and the file has %d", h.at, len(lines))}
	case sure:
		at = from
	case len(h.seek) > 0:
		return placed{}, &miss{text: fmt.Sprintf("the line after @@ is there more than once: %q; add context lines", h.seek[len(h.seek)-1])}
	}
	news := h.new()
	if fits(lines, at, news) || at == len(lines) && fits(lines, at-len(news), news) {
		return placed{at: at, already: true}, nil
	}
	return placed{at: at, runs: []run{{at, at, news}}}, nil
}

func manyHunks(lines []string, spots []int, n int) *miss {
	m := manyLines(lines, spots, n)
	m.text = fmt.Sprintf("the lines of a hunk are there %d times, at line %s: add context lines, or a line after @@ to look behind",
		len(spots), lineList(spots))
	return m
}

// done returns the line where the file already has the result of the hunk, or -1: the
// result must occur exactly once and contain no line that the hunk removes.
func (h *hunk) done(lines []string) int {
	news := h.new()
	at := nextBlock(lines, 0, news)
	if len(strings.Join(strings.Fields(strings.Join(news, "")), "")) < 6 || at < 0 || nextBlock(lines, at+1, news) >= 0 {
		return -1
	}
	takes := false
	for _, l := range h.lines {
		if l.op == '-' && !slices.Contains(news, l.text) {
			if !slices.Contains(lines, l.text) {
				return at
			}
			takes = true
		}
	}
	if takes {
		return -1
	}
	return at
}

// last returns how the file ends if the hunk replaces its last line. A unified diff
// states it; otherwise the end stays as before.
func (h *hunk) last() finalLine {
	switch {
	case !h.unified:
		return asBefore
	case h.bare:
		return noNewline
	}
	return newline
}
