package window

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Cut keeps the start and the end of a text within a number of tokens, counted
// by Estimate. In between it notes how much was left out, and the text that
// where returns. It cuts between lines, except in a line over half the limit,
// which it marks, and never inside a rune. cut is false if the text fits as it
// is.
func Cut(s string, tokens int, where func() string) (out string, cut bool) {
	if Fits(s, tokens) {
		return s, false
	}
	return Narrow(tool.Gap{Head: s, Where: where()}, tokens).Text(), true
}

// Narrow shortens the ends of an output, so that its text has at most this
// number of tokens.
func Narrow(g tool.Gap, tokens int) *tool.Gap {
	_, n := head(g.Where, -1)
	rest := max(tokens-n-40, tokens/4, 1)
	h := headLines(g.Head, rest*2/3)
	before, behind := g.Head[len(h):], g.Tail
	if g.Bytes == 0 { // no gap yet: what follows the head may be the tail
		before, behind = "", before+behind
	}
	t := tailLines(behind, rest/3, rest/2)
	if gone := behind[:len(behind)-len(t)]; gone != "" {
		g.Torn = gone[len(gone)-1] != '\n'
		g.Bytes, g.Lines = g.Bytes+int64(len(gone)), g.Lines+lineEnds(gone)
	}
	g.Bytes, g.Lines = g.Bytes+int64(len(before)), g.Lines+lineEnds(before)
	g.Head, g.Tail = h, t
	return &g
}

func lineEnds(s string) int64 { return int64(strings.Count(s, "\n")) }

// Fits reports whether a text has at most this number of tokens. It reads only as much as
// necessary.
func Fits(s string, tokens int) bool {
	n, _ := head(s, tokens)
	return n == len(s)
}

// headLines returns whole lines with at most this number of tokens, or a part
// of the first line if it is too long.
func headLines(s string, tokens int) string {
	n, _ := head(s, tokens)
	h := s[:n]
	i := strings.LastIndexByte(h, '\n')
	line := s[i+1:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	if i >= 0 && Fits(line, tokens*3/4) {
		return h[:i+1]
	}
	return h
}

// tailLines is headLines from the end. A line over long tokens is cut.
func tailLines(s string, tokens, long int) string {
	start := tail(s, tokens)
	if start == 0 || s[start-1] == '\n' {
		return s[start:]
	}
	end := strings.IndexByte(s[start:], '\n')
	from := strings.LastIndexByte(s[:start], '\n') + 1
	if end < 0 {
		return s[start:]
	}
	if line := s[from : start+end+1]; Fits(line, long) {
		return s[start+end+1:]
	}
	return s[start:]
}

// clip returns the start of a text in one line, at most this number of bytes.
func clip(s string, n int) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(s) { // of a long text only the start is read
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if b.WriteString(word[:min(len(word), n+1)]); b.Len() > n {
			break
		}
	}
	s = b.String()
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n] + "…"
}

// clipMiddle is clip for a text whose end counts, too: of a long one the middle is left out.
func clipMiddle(s string, n int) string {
	whole := strings.Join(strings.Fields(s), " ")
	if len(whole) <= n {
		return whole
	}
	from := len(whole) - n/2
	for from < len(whole) && whole[from]&0xC0 == 0x80 {
		from++
	}
	return clip(whole, n/2) + " " + whole[from:]
}
