package tools

import (
	"fmt"
	"strings"
)

// How a hunk finds its place. Line numbers are a hint; the lines decide.

// find gives the index of the line where the hunk begins, at or behind pos.
// shift is by how much earlier hunks of the file were off.
func (h *hunk) find(lines []string, pos, shift int) (at int, note string, m *miss) {
	olds := h.old()
	hint := h.at - 1 + shift
	if h.at > 0 && hint >= pos && fits(lines, hint, olds, exactly) {
		return hint, "", nil
	}
	from, sure, m := h.behind(lines, pos)
	if m != nil {
		return 0, "", m
	}
	if len(olds) == 0 {
		return h.insertion(lines, from, hint, sure)
	}
	for _, way := range []struct {
		same func(a, b string) bool
		note string
	}{{exactly, ""}, {loosely, noteSpace}} {
		spots := h.spots(lines, from, olds, way.same)
		switch {
		case len(spots) == 0:
			continue
		case len(spots) > 1 && !sure:
			return 0, "", manyHunks(spots, len(olds))
		}
		note = way.note
		if h.at > 0 && spots[0] != hint && note == "" {
			note = fmt.Sprintf("the hunk for line %d was found at line %d", h.at, spots[0]+1)
		}
		return spots[0], note, nil
	}
	m = near(strings.Join(lines, ""), strings.Join(olds, "\n"))
	m.text = strings.Replace(m.text, "old was not found", "the lines of a hunk were not found", 1)
	m.text = strings.Replace(m.text, "copy old from them", "make the patch from them", 1)
	return 0, "", m
}

func exactly(line, want string) bool { return bare(line) == want }

func loosely(line, want string) bool { return squeeze(line) == squeeze(want) }

// fits says whether the old lines are at index i.
func fits(lines []string, i int, olds []string, same func(a, b string) bool) bool {
	if i < 0 || i+len(olds) > len(lines) {
		return false
	}
	for j, o := range olds {
		if !same(lines[i+j], o) {
			return false
		}
	}
	return true
}

// spots lists where the old lines are; of a hunk that ends the file, only the
// end counts.
func (h *hunk) spots(lines []string, from int, olds []string, same func(a, b string) bool) []int {
	if h.end && fits(lines, len(lines)-len(olds), olds, same) && len(lines)-len(olds) >= from {
		return []int{len(lines) - len(olds)}
	}
	var out []int
	for i := from; i+len(olds) <= len(lines); i++ {
		if fits(lines, i, olds, same) {
			out = append(out, i)
		}
	}
	return out
}

// behind gives the index behind the lines that the hunk seeks, and whether
// they say for sure where to look: each is there only once.
func (h *hunk) behind(lines []string, pos int) (from int, sure bool, m *miss) {
	sure = len(h.seek) > 0
	for _, want := range h.seek {
		spots := h.seekLine(lines, pos, want)
		if len(spots) == 0 {
			m := near(strings.Join(lines, ""), want)
			m.text = fmt.Sprintf("the line after @@ was not found: %q", want)
			return 0, false, m
		}
		sure = sure && len(spots) == 1
		pos = spots[0] + 1
	}
	return pos, sure, nil
}

func (h *hunk) seekLine(lines []string, pos int, want string) []int {
	for _, same := range []func(a, b string) bool{exactly, loosely} {
		if spots := (&hunk{}).spots(lines, pos, []string{want}, same); len(spots) > 0 {
			return spots
		}
	}
	return nil
}

// insertion places a hunk that has only new lines.
func (h *hunk) insertion(lines []string, from, hint int, sure bool) (int, string, *miss) {
	switch {
	case h.at > 0 && hint >= from && hint <= len(lines):
		return hint, "", nil
	case h.at > 0:
		return 0, "", &miss{text: fmt.Sprintf("a hunk adds lines at line %d, and the file has %d", h.at, len(lines))}
	case sure:
		return from, "", nil
	}
	if len(h.seek) > 0 {
		return 0, "", &miss{text: fmt.Sprintf("the line after @@ is there more than once: %q; add context lines", h.seek[len(h.seek)-1])}
	}
	return len(lines), "", nil // added at the end
}

func manyHunks(spots []int, n int) *miss {
	m := &miss{}
	var at []string
	for _, s := range spots {
		m.show = append(m.show, region{s + 1, s + n})
		at = append(at, fmt.Sprint(s+1))
	}
	m.text = fmt.Sprintf("the lines of a hunk are there %d times, at line %s: add context lines, or a line after @@ to look behind",
		len(spots), strings.Join(at, ", "))
	return m
}

// done says whether the file already is as the hunk would make it.
func (h *hunk) done(lines []string) bool {
	news := h.new()
	if present(strings.Join(news, "\n"), strings.Join(news, "\n")) < 0 {
		return false
	}
	return len(h.spots(lines, 0, news, exactly)) == 1
}

// apply makes the hunk at line index at. Context lines stay as the file has
// them; new ones get the file's line ending.
func (h *hunk) apply(body string, lines []string, at int) replaced {
	start := 0
	for _, l := range lines[:at] {
		start += len(l)
	}
	end, next := start, at
	for range h.old() {
		end += len(lines[next])
		next++
	}
	eol := ending(body)
	if end > start {
		eol = localEnding(body, start, end-start)
	}
	out, added := h.output(lines[at:next], eol)
	whole := strings.HasSuffix(body, "\n") || body == ""
	if end == len(body) && added {
		// The last line is new: does it end in a newline?
		if h.unified && h.bare || !h.unified && !whole {
			out = strings.TrimSuffix(out, eol)
		}
	}
	if start == len(body) && !whole && start > 0 {
		out = eol + out // behind a last line without a newline
	}
	return splice(body, []cut{{start, end, out}}, "")
}

// output is the hunk's new text, and whether its last line is a new one.
func (h *hunk) output(have []string, eol string) (text string, added bool) {
	in := indents{known: map[string]string{}}
	i := 0
	for _, l := range h.lines {
		if l.op == '+' {
			continue
		}
		if strings.TrimSpace(l.text) != "" {
			in.learn(indentOf(l.text), indentOf(have[i]))
		}
		i++
	}
	exact := true
	for given, file := range in.known {
		exact = exact && given == file
	}
	var b strings.Builder
	i = 0
	for _, l := range h.lines {
		switch l.op {
		case '-':
			i++
			continue
		case ' ':
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
				b.WriteString(eol)
			}
			b.WriteString(have[i])
			i++
			added = false
			continue
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteString(eol)
		}
		text := l.text
		if was := indentOf(text); !exact && strings.TrimSpace(text) != "" {
			text = in.translate(was) + text[len(was):]
		}
		b.WriteString(text + eol)
		added = true
	}
	return b.String(), added
}
