package tool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plural"
)

// terminalCode is a sequence for a terminal: colours, cursor movements, titles.
var terminalCode = lazyregexp.New("\x1b(?:" + `\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)|[ -/]+[0-~]|[0-OQ-WYZ\\` + "`" + `a-~])`)

// leastReturns is how many carriage returns within a line make it a display of progress:
// fewer may be text that is to be seen as it is.
const leastReturns = 3

// Readable returns r with its output as the model is told it, which is what a person would see
// on a terminal: no terminal codes, of a line that was written again and again its last state,
// and no binary data. A last line says what was left out, and how to see it.
func (r Ran) Readable() Ran {
	if !strings.ContainsAny(r.Output, "\x00\r\x1b") {
		return r
	}
	var v viewer
	if r.Gap == nil {
		r.Output = v.noted(v.text(r.Output, r.Bytes))
		return r
	}
	g := *r.Gap
	g.Torn = g.Torn && !binary(firstLine(g.Tail))
	g.Head, g.Tail = v.text(g.Head, int64(len(g.Head))), v.text(g.Tail, int64(len(g.Tail)))
	g.Tail = v.noted(g.Tail)
	r.Gap, r.Output = &g, g.Text()
	return r
}

// viewer counts what it leaves out of an output.
type viewer struct {
	codes  bool
	states int // earlier ones of lines
}

// text returns what a person would see of a part of an output, which was printed as this
// number of bytes.
func (v *viewer) text(s string, printed int64) string {
	if strings.IndexByte(s, 0) < 0 {
		return v.lines(s)
	}
	from, to, at := -1, 0, 0 // what is binary; it may hold lines that look like text
	for l := range strings.Lines(s) {
		if binary(l) {
			if from < 0 {
				from = at
			}
			to = at + len(l)
		}
		at += len(l)
	}
	if from < 0 {
		return v.lines(s)
	}
	printed -= int64(from + len(s) - to)
	return v.lines(s[:from]) + fmt.Sprintf("[binary output, %d bytes, not shown: od -c or strings shows it]\n", printed) + v.lines(s[to:])
}

// binary reports whether a line is data that is no text. Names that end in a NUL, as
// programs print them for others, are text.
func binary(line string) bool {
	n, nul, odd := 0, 0, 0
	for _, c := range line {
		n++
		switch {
		case c == 0:
			nul++
		case c == utf8.RuneError, c == 0x7f, c < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", c):
			odd++
		}
	}
	return nul > 0 && (odd*10 > n || nul*2 > n)
}

func firstLine(s string) string { l, _, _ := strings.Cut(s, "\n"); return l }

func (v *viewer) lines(s string) string {
	if strings.IndexByte(s, '\x1b') >= 0 {
		plain := terminalCode().ReplaceAllString(s, "")
		v.codes = v.codes || plain != s
		s = plain
	}
	if strings.Count(s, "\r") < leastReturns {
		return s
	}
	var b strings.Builder
	for l := range strings.Lines(s) {
		text := strings.TrimRight(l, "\r\n")
		if strings.Count(text, "\r") < leastReturns {
			b.WriteString(l)
			continue
		}
		states := strings.Split(text, "\r")
		last := len(states) - 1
		for last > 0 && strings.TrimSpace(states[last]) == "" { // some clear the line at the end
			last--
		}
		v.states += len(states) - 1
		b.WriteString(states[last])
		if strings.HasSuffix(l, "\n") {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// noted returns an output with a last line about what was left out.
func (v *viewer) noted(s string) string {
	var out []string
	if v.codes {
		out = append(out, "terminal codes (cat -v shows them)")
	}
	if v.states > 0 {
		out = append(out, plural.Of(v.states, "earlier state")+" of lines (tr '\\r' '\\n' shows them)")
	}
	if out == nil {
		return s
	}
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	return s + "[left out: " + strings.Join(out, ", ") + "]\n"
}
