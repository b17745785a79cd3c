package markdown

import (
	"strings"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// longest is the largest distance between the two ends of an emphasis. A sign without an
// end within it does not begin one.
const longest = 1 << 10

// paragraph is text that is broken into rows while it streams. Its rows depend
// only on the text, not on its pieces.
type paragraph struct {
	s    *Stream
	rows *styled.Wrapper
	attr styled.Attr
	role styled.Role
	rest string // of the source, not given to rows
}

// add takes more of a line.
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

// give passes on the first n bytes, as far as their styles are certain.
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

// force passes on at least half of a text whose first unclosed mark is too far
// back to begin anything: the mark is shown as it is, and the text after it is
// read again.
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

// newline ends a line of the source: a blank, unless the line asks for more.
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

// end returns the rows that are left.
func (p *paragraph) end() []styled.Line {
	line, _ := p.s.inline(strings.TrimRight(p.rest, " "))
	p.rows.Add(p.look(line))
	p.rest = ""
	return p.rows.Close()
}
