package tools

import "strings"

// Line endings are ignored in the search for a place, and restored in the new text: lines
// that stay keep their ending, and a new line gets the ending of the line that it
// replaces, or of the line before.

// source is a text and the same text with every line ending as \n.
type source struct {
	body, plain string
	crlf, lf    int
}

func newSource(body string) *source {
	s := &source{body: body, plain: body}
	if s.crlf, s.lf = endings(body); s.crlf > 0 {
		s.plain = withEnding(body, "\n")
	}
	return s
}

// restored returns a changed plain text with the endings of the original one.
func (s *source) restored(plain string) string {
	switch {
	case s.crlf == 0:
		return plain
	case s.lf == 0:
		return strings.ReplaceAll(plain, "\n", "\r\n")
	}
	have, news := splitLines(s.body), splitLines(plain)
	pairs := align(splitLines(s.plain), news)
	stand := standIns(pairs, len(have))
	eol := have[0][len(bare(have[0])):]
	var b strings.Builder
	for i, l := range news {
		if j := pairs[i]; j >= 0 {
			eol = have[j][len(bare(have[j])):]
			b.WriteString(have[j])
			continue
		}
		if j := stand[i]; j >= 0 && strings.HasSuffix(have[j], "\n") {
			eol = have[j][len(bare(have[j])):]
		}
		text, found := strings.CutSuffix(l, "\n")
		if b.WriteString(text); found {
			b.WriteString(eol)
		}
	}
	return b.String()
}

// endings counts the line endings of a text.
func endings(s string) (crlf, lf int) {
	crlf = strings.Count(s, "\r\n")
	return crlf, strings.Count(s, "\n") - crlf
}

// withEnding returns a text with all line endings replaced.
func withEnding(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// folded returns a model's text with every line ending as \n.
func folded(s string) string {
	for strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}

// cut is a part of a text and its replacement.
type cut struct {
	from, to int
	text     string
}

// whole returns a new content for the whole file with the right line endings. A content
// that contains CRLF is returned unchanged.
func (s *source) whole(content string) string {
	if strings.Contains(content, "\r\n") {
		return content
	}
	return s.restored(content)
}

// splice applies cuts of the plain text, sorted and without overlaps, to the original text.
func (s *source) splice(cuts []cut, note string) replaced {
	r := replaced{count: len(cuts), note: note}
	var b strings.Builder
	end, line := 0, 1
	for _, c := range cuts {
		b.WriteString(s.plain[end:c.from])
		line += strings.Count(s.plain[end:c.from], "\n")
		b.WriteString(c.text)
		last := line + strings.Count(c.text, "\n")
		reg := region{line, last}
		if strings.HasSuffix(c.text, "\n") {
			reg.to--
		}
		r.regions = append(r.regions, reg)
		line, end = last, c.to
	}
	b.WriteString(s.plain[end:])
	r.body = s.restored(b.String())
	return r
}

// run is the lines from..to, excluding to, and their replacement.
type run struct {
	from, to int
	lines    []string
}

// finalLine states how a text ends if its last line is replaced.
type finalLine int

const (
	asBefore finalLine = iota // as before
	newline
	noNewline
)

// plainLines returns the lines of a plain text without their endings.
func plainLines(plain string) []string {
	if plain == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(plain, "\n"), "\n")
}

// cuts converts runs of a plain text's lines into cuts. They must be sorted and not
// overlap.
func (s *source) cuts(lines []string, runs []run, last finalLine) []cut {
	open := !strings.HasSuffix(s.plain, "\n") && s.plain != ""
	var out []cut
	pos, i := 0, 0
	upTo := func(n int) int {
		for ; i < n; i++ {
			pos += len(lines[i]) + 1
		}
		return pos
	}
	for _, r := range runs {
		c := cut{from: upTo(r.from), to: upTo(r.to)}
		for _, l := range r.lines {
			c.text += l + "\n"
		}
		if r.to == len(lines) {
			c.to = len(s.plain)
			switch {
			case c.from > len(s.plain): // after a last line without a newline
				c.from = len(s.plain)
				c.text = "\n" + c.text
				fallthrough
			case len(r.lines) > 0:
				if last == noNewline || last == asBefore && open {
					c.text = strings.TrimSuffix(c.text, "\n")
				}
			case open && last == asBefore && c.from > 0:
				c.from-- // the line before it becomes the last one without a newline
			}
		}
		out = append(out, c)
	}
	return out
}

// most is the size limit of align's table, in cells.
const most = 1 << 24

// align returns for each line of b the index of its line in a, or -1. It finds the
// longest common subsequence.
func align(a, b []string) []int {
	out := make([]int, len(b))
	for i := range out {
		out[i] = -1
	}
	pre, n := 0, min(len(a), len(b))
	for pre < n && a[pre] == b[pre] {
		out[pre] = pre
		pre++
	}
	post := 0
	for post < n-pre && a[len(a)-1-post] == b[len(b)-1-post] {
		post++
		out[len(b)-post] = len(a) - post
	}
	x, y := a[pre:len(a)-post], b[pre:len(b)-post]
	if len(x) == 0 || len(y) == 0 || len(x) > most/len(y) || len(x) > 60000 || len(y) > 60000 {
		return out
	}
	w := len(y) + 1
	long := make([]uint16, (len(x)+1)*w)
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				long[i*w+j] = long[(i+1)*w+j+1] + 1
			} else {
				long[i*w+j] = max(long[(i+1)*w+j], long[i*w+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			out[pre+j] = pre + i
			i, j = i+1, j+1
		case long[(i+1)*w+j] >= long[i*w+j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// standIns returns for each new line the old line that it replaces, or -1. Lines that are
// the same in old and new get -1. In each run between them, the first new line replaces
// the first of the n old ones, and so on.
func standIns(pairs []int, n int) []int {
	out := make([]int, len(pairs))
	for i := 0; i < len(pairs); {
		if out[i] = -1; pairs[i] >= 0 {
			i++
			continue
		}
		from, end := i, i
		for end < len(pairs) && pairs[end] < 0 {
			end++
		}
		first, next := 0, n
		if from > 0 {
			first = pairs[from-1] + 1
		}
		if end < len(pairs) {
			next = pairs[end]
		}
		for ; i < end; i++ {
			if out[i] = -1; first+i-from < next {
				out[i] = first + i - from
			}
		}
	}
	return out
}
