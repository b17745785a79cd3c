package tools

import "strings"

// Line endings are set aside while a place is sought, and given back when the
// text is put together: what stays keeps its own, and a new line ends as the
// one that it replaces did.

// source is a text and the same with every line ending a \n.
type source struct {
	body, plain string
	crlf, lf    int
	// from..to of plain is a part of one line, which ends in eol: matches often
	// share a line, and looking for its end each time would be quadratic.
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

// withEnding changes the line endings of a text.
func withEnding(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol != "\n" {
		s = strings.ReplaceAll(s, "\n", eol)
	}
	return s
}

// folded is a text from a model with every line ending a \n.
func folded(s string) string {
	for strings.Contains(s, "\r\n") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return s
}

// cut is a part of a text and what takes its place.
type cut struct {
	from, to int
	text     string
}

// splice makes cuts of the plain text, which are sorted and apart, in the text
// itself.
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

// ended is a cut's new text with the line endings that it has to have. was is
// what the cut replaces, in the text itself.
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

// whole is a new content for all of the file, with the line endings that it has
// to have: those of the lines that stay, and of the ones that are replaced. What
// says its line endings itself is taken at its word.
func (s *source) whole(content string) string {
	if s.crlf == 0 || strings.Contains(content, "\r\n") {
		return content
	}
	return s.splice([]cut{{0, len(s.plain), content}}, "").body
}

// near is the line ending where a cut is.
func (s *source) near(c cut, was string) string {
	if strings.Contains(was, "\n") {
		return ending(was)
	}
	if c.from == c.to && c.from > 0 && s.plain[c.from-1] == '\n' { // lines put behind one
		return endingOfLine(s.body, strings.Count(s.plain[:c.from-1], "\n"))
	}
	if c.from < s.from || c.from >= s.to {
		// The line's own ending, or of a last line without one the one before it.
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

// endingOfLine is the ending of the n-th line of a text, from 0.
func endingOfLine(body string, n int) string {
	for ; n > 0; n-- {
		body = body[strings.IndexByte(body, '\n')+1:]
	}
	if i := strings.IndexByte(body, '\n'); i > 0 && body[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// ending is the line ending that a text mostly has.
func ending(s string) string {
	if crlf, lf := endings(s); crlf > lf {
		return "\r\n"
	}
	return "\n"
}

// unfolder tells where places of a text whose CRLF became LF are in the text
// itself. It is asked in rising order.
type unfolder struct {
	body         string
	here, folded int // the same place in both
	next         int // of the next CRLF in body, if it is behind here
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

// splice makes the cuts, which are sorted and apart.
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

// run is lines from..to, to excluded, and what takes their place.
type run struct {
	from, to int
	lines    []string
}

// finalLine is how a text ends whose last line is replaced.
type finalLine int

const (
	asBefore finalLine = iota // as it did
	newline
	noNewline
)

// plainLines are the lines of a plain text without their endings.
func plainLines(plain string) []string {
	if plain == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(plain, "\n"), "\n")
}

// cuts turns runs of a plain text's lines, sorted and apart, into cuts.
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
			case c.from > len(s.plain): // behind a last line without a newline
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

// most is how large a table align makes, cells.
const most = 1 << 24

// align returns for each line of b which one of a it is, or -1: the longest way
// to read b as lines of a, in their order.
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

// standIns returns for each new line that is not one of the n old ones which of them
// it replaces, or -1: in each run, the first the first, and so on.
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
