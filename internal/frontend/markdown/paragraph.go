package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// longest is the largest distance, in bytes, between the two ends of an emphasis. A
// mark that is not closed within it opens nothing.
const longest = 1 << 10

// paragraph is text that is broken into rows while it streams. Its rows depend only on
// the text, not on how it is split into pieces.
type paragraph struct {
	s    *Stream
	rows *styled.Wrapper
	attr styled.Attr
	role styled.Role
	rest string // source that was not passed to rows yet
}

// add appends a part of a line.
func (p *paragraph) add(text string) {
	for text != "" {
		n := strings.IndexByte(text, ' ') + 1
		if n == 0 {
			n = len(text)
		}
		if room := longest - len(p.rest); n > room {
			n = max(room, 1)
			for n < len(text) && !utf8.RuneStart(text[n]) {
				n++
			}
		}
		p.rest += text[:n]
		text = text[n:]
		switch {
		case len(p.rest) >= longest:
			p.force()
		case p.rest[len(p.rest)-1] == ' ':
			p.give(len(p.rest), false)
		}
	}
}

// give passes the first n bytes to the rows, as far as their styles are certain.
func (p *paragraph) give(n int, all bool) {
	line, open := p.s.inline(p.rest[:n])
	if !all && open < n {
		if n = strings.LastIndexByte(p.rest[:open], ' ') + 1; n == 0 {
			return
		}
		line, _ = p.s.inline(p.rest[:n])
	}
	p.rows.Add(p.look(line))
	p.rest = p.rest[n:]
}

// force passes at least half of a text to the rows if its first unclosed mark is too
// far back to open anything: the mark is shown unchanged, and the text after it is
// parsed again.
func (p *paragraph) force() {
	for range 2 {
		_, open := p.s.inline(p.rest)
		if open >= len(p.rest) {
			break
		}
		n := open + runOf(p.rest[open:], p.rest[open])
		p.give(n, true)
		if at := strings.LastIndexByte(p.rest, ' ') + 1; at > 0 {
			p.give(at, false)
		}
		if len(p.rest) < longest/2 {
			return
		}
	}
	p.give(len(p.rest), true)
}

func (p *paragraph) look(l styled.Line) styled.Line {
	for i := range l {
		l[i].Attr |= p.attr
		if l[i].Role == styled.Text {
			l[i].Role = p.role
		}
	}
	return l
}

// newline handles the end of a source line: it becomes a blank, unless the line ends
// with a hard break.
func (p *paragraph) newline() {
	text := strings.TrimRight(p.rest, " ")
	blanks := len(p.rest) - len(text)
	if text == "" {
		blanks += p.rows.Blanks()
	}
	switch {
	case blanks >= 2:
		p.rest = text
	case strings.HasSuffix(text, `\`) && !strings.HasSuffix(text, `\\`):
		p.rest = strings.TrimSuffix(text, `\`)
	default:
		p.add(" ")
		return
	}
	p.give(len(p.rest), true)
	p.rows.Break()
}

// end returns the remaining rows.
func (p *paragraph) end() []styled.Line {
	line, _ := p.s.inline(strings.TrimRight(p.rest, " "))
	p.rows.Add(p.look(line))
	p.rest = ""
	return p.rows.Close()
}
