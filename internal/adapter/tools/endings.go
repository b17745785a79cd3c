package tools

import "strings"

// Line endings are ignored in the search for a place, and restored in the new text: lines
// that stay keep their ending, and a new line gets the ending of the line that it
// replaces.

// source is a text and the same text with every line ending as \n.
type source struct {
	body, plain string
	crlf, lf    int
	// from..to of plain is a part of one line, whose ending is eol. Many matches are in
	// the same line, and searching for its end each time would be quadratic.
	from, to int
	eol      string
}

func newSource(body string) *source {
	s := &source{body: body, plain: body}
	if s.crlf, s.lf = endings(body); s.crlf > 0 {
		s.plain = withEnding(body, "\n")
	}
	return s
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

// splice applies cuts of the plain text, sorted and without overlaps, to the
// original text.
func (s *source) splice(cuts []cut, note string) replaced {
	if s.crlf > 0 {
		at := unfolder{body: s.body}
		here := make([]cut, len(cuts))
		for i, c := range cuts {
			here[i] = cut{from: at.place(c.from), to: at.place(c.to)}
			here[i].text = s.ended(c, s.body[here[i].from:here[i].to])
		}
		cuts = here
	}
	return splice(s.body, cuts, note)
}

// ended returns a cut's new text with the right line endings. was is the part of the
// original text that it replaces.
func (s *source) ended(c cut, was string) string {
	switch {
	case !strings.Contains(c.text, "\n"):
		return c.text
	case s.lf == 0:
		return withEnding(c.text, "\r\n")
	}
	have, news := splitLines(was), strings.SplitAfter(c.text, "\n")
	olds := make([]string, len(have))
	for i, l := range have {
		olds[i] = folded(l)
	}
	pairs := align(olds, news)
	stand := standIns(pairs, len(olds))
	eol := ""
	var b strings.Builder
	for i, l := range news {
		j := pairs[i]
		if j < 0 {
			j = stand[i]
		}
		if j >= 0 && strings.HasSuffix(have[j], "\n") {
			eol = have[j][len(bare(have[j])):]
		} else if eol == "" {
			eol = s.near(c, was)
		}
		if strings.HasSuffix(l, "\n") {
			l = l[:len(l)-1] + eol
		}
		b.WriteString(l)
	}
	return b.String()
}

// whole returns a new content for the whole file with the right line endings, as in
// splice. A content that contains CRLF is returned unchanged.
func (s *source) whole(content string) string {
	if s.crlf == 0 || strings.Contains(content, "\r\n") {
		return content
	}
	return s.splice([]cut{{0, len(s.plain), content}}, "").body
}

// near returns the line ending at a cut.
func (s *source) near(c cut, was string) string {
	if strings.Contains(was, "\n") {
		return ending(was)
	}
	if c.from == c.to && c.from > 0 && s.plain[c.from-1] == '\n' { // lines are inserted after a line
		return endingOfLine(s.body, strings.Count(s.plain[:c.from-1], "\n"))
	}
	if c.from < s.from || c.from >= s.to {
		// The line's own ending; for a last line without one, the ending of the line
		// before.
		next := len(s.plain)
		if i := strings.IndexByte(s.plain[c.to:], '\n'); i >= 0 {
			next = c.to + i
		}
		line := strings.Count(s.plain[:min(next, len(s.plain))], "\n")
		if next == len(s.plain) {
			line--
		}
		s.from, s.to, s.eol = c.from, next, endingOfLine(s.body, line)
	}
	return s.eol
}

// endingOfLine returns the ending of the n-th line of a text, counted from 0.
func endingOfLine(body string, n int) string {
	for ; n > 0; n-- {
		body = body[strings.IndexByte(body, '\n')+1:]
	}
	if i := strings.IndexByte(body, '\n'); i > 0 && body[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// ending returns the most frequent line ending of a text.
func ending(s string) string {
	if crlf, lf := endings(s); crlf > lf {
		return "\r\n"
	}
	return "\n"
}

// unfolder maps positions in a text whose CRLF became LF to positions in the original
// text. Calls must have increasing positions.
type unfolder struct {
	body         string
	here, folded int // the same position in both texts
	next         int // the next CRLF in body at or after here
}

func (u *unfolder) place(folded int) int {
	for {
		if u.next <= u.here {
			i := strings.Index(u.body[u.here:], "\r\n")
			if i < 0 {
				i = len(u.body)
			}
			u.next = u.here + i
		}
		if u.folded+u.next-u.here >= folded {
			return u.here + folded - u.folded
		}
		u.folded += u.next - u.here
		u.here = u.next + 1
	}
}

// splice returns body with the cuts applied. They must be sorted and not overlap.
func splice(body string, cuts []cut, note string) replaced {
	r := replaced{count: len(cuts), note: note}
	var b strings.Builder
	size := len(body)
	for _, c := range cuts {
		size += len(c.text) - (c.to - c.from)
	}
	b.Grow(size)
	end, line := 0, 1
	for _, c := range cuts {
		b.WriteString(body[end:c.from])
		line += strings.Count(body[end:c.from], "\n")
		b.WriteString(c.text)
		last := line + strings.Count(c.text, "\n")
		reg := region{line, last}
		if strings.HasSuffix(c.text, "\n") {
			reg.to--
		}
		r.regions = append(r.regions, reg)
		line, end = last, c.to
	}
	b.WriteString(body[end:])
	r.body = b.String()
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
