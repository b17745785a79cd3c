package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// piece is a part of a paragraph: text of one style, or a run of characters that may
// begin or end an emphasis.
type piece struct {
	styled.Span
	at          int // position in the source
	run         byte
	left        int // characters of the run that are not used yet
	opens, ends bool
}

// inline parses a paragraph's text. open is the position of the first mark that further
// text could close, or the length of src if there is none.
func (s *Stream) inline(src string) (line styled.Line, open int) {
	ps, open := s.pieces(src)
	open = min(open, emphasize(ps))
	for _, p := range ps {
		if p.run != 0 {
			p.Text = strings.Repeat(string(p.run), p.left)
		}
		if p.Text != "" {
			line = append(line, p.Span)
		}
	}
	return line, open
}

// pieces splits a text into certain pieces and runs that may be emphasis.
func (s *Stream) pieces(src string) (ps []piece, open int) {
	open = len(src)
	var text strings.Builder
	begin := 0
	flush := func(to int) {
		if text.Len() > 0 {
			ps = append(ps, piece{Span: styled.Span{Text: text.String()}, at: begin})
			text.Reset()
		}
		begin = to
	}
	for i := 0; i < len(src); {
		c := src[i]
		switch c {
		case '\\':
			if i+1 < len(src) && punctuation(src[i+1]) {
				text.WriteByte(src[i+1])
				i += 2
				continue
			}
		case '`':
			n := runOf(src[i:], '`')
			if end := closing(src[i+n:], n); end >= 0 {
				flush(i)
				code := src[i+n : i+n+end]
				if len(code) > 2 && code[0] == ' ' && code[len(code)-1] == ' ' && strings.TrimSpace(code) != "" {
					code = code[1 : len(code)-1]
				}
				ps = append(ps, piece{Span: styled.Span{Text: code, Style: styled.Style{Role: styled.Code}}, at: i})
				i += n + end + n
				begin = i
				continue
			}
			open = min(open, i)
			text.WriteString(src[i : i+n])
			i += n
			continue
		case '*', '_', '~':
			flush(i)
			n := runOf(src[i:], c)
			p := piece{run: c, left: n, at: i}
			p.opens, p.ends = flanks(src, i, n)
			if c == '~' && n != 2 {
				p.opens, p.ends = false, false
			}
			ps = append(ps, p)
			i += n
			begin = i
			continue
		case '[', '!', '<', 'h', '&':
			got, size, more := s.special(src[i:], i > 0 && wordBefore(src[:i]))
			if more {
				open = min(open, i)
			}
			if size > 0 {
				flush(i)
				for _, g := range got {
					g.at = i
					ps = append(ps, g)
				}
				i += size
				begin = i
				continue
			}
		}
		text.WriteByte(c)
		i++
	}
	flush(len(src))
	return ps, open
}

// special parses a link, an image, an address or an entity at the beginning of a text.
// size is 0 if there is none; more reports that further text could make one.
func (s *Stream) special(src string, inWord bool) (ps []piece, size int, more bool) {
	switch {
	case src[0] == '&':
		if end := strings.IndexByte(src, ';'); end > 0 && end < 12 {
			if text := html.UnescapeString(src[:end+1]); text != src[:end+1] && safe(text) {
				return []piece{{Span: styled.Span{Text: text}}}, end + 1, false
			}
		}
	case src[0] == '<':
		if end := strings.IndexAny(src, "> "); end > 0 && src[end] == '>' && address(src[1:end]) {
			return []piece{{Span: s.link(src[1:end], src[1:end])}}, end + 1, false
		}
	case src[0] == 'h':
		if !inWord && (strings.HasPrefix(src, "http://") || strings.HasPrefix(src, "https://")) {
			end := strings.IndexFunc(src, func(r rune) bool { return r <= ' ' || strings.ContainsRune("<>\"`*|", r) })
			if end < 0 {
				end = len(src)
			}
			for end > 8 && strings.IndexByte(".,;:!?'_~", src[end-1]) >= 0 || src[end-1] == ')' && strings.Count(src[:end], "(") < strings.Count(src[:end], ")") {
				end--
			}
			if address(src[:end]) {
				return []piece{{Span: s.link(src[:end], src[:end])}}, end, false
			}
		}
	case src[0] == '[', strings.HasPrefix(src, "!["):
		return s.bracket(src)
	}
	return nil, 0, false
}

// bracket parses [text](address), or an image.
func (s *Stream) bracket(src string) (ps []piece, size int, more bool) {
	at := strings.IndexByte(src, '[') + 1
	depth, i := 1, at
	for ; i < len(src) && depth > 0; i++ {
		switch src[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			depth--
		case '`':
			n := runOf(src[i:], '`')
			i += n - 1
			if end := closing(src[i+1:], n); end >= 0 {
				i += end + n
			}
		}
	}
	switch {
	case depth > 0 || i >= len(src):
		return nil, 0, true
	case src[i] != '(':
		return nil, 0, false
	}
	label, rest := src[at:i-1], src[i+1:]
	parens := 1
	for j := 0; j < len(rest); j++ {
		switch rest[j] {
		case '(':
			parens++
		case ')':
			parens--
		}
		if parens == 0 {
			to, _, _ := strings.Cut(strings.TrimSpace(rest[:j]), " ")
			to = strings.TrimSuffix(strings.TrimPrefix(to, "<"), ">")
			line, _ := s.inline(label)
			return s.linked(line, to), i + 1 + j + 1, false
		}
	}
	return nil, 0, true
}

// linked returns a text with a link. If the terminal cannot link to the address, or the
// text looks like another address, the address is shown after the text.
func (s *Stream) linked(line styled.Line, to string) (ps []piece) {
	text := line.String()
	for _, sp := range line {
		sp.Role = styled.Link
		if s.opt.Links && address(to) {
			sp.Link = to
		}
		ps = append(ps, piece{Span: sp})
	}
	if to == "" || text == to {
		return ps
	}
	if !s.opt.Links || !address(to) || strings.Contains(text, "://") || strings.Contains(strings.TrimSpace(text), ".") && !strings.Contains(to, strings.TrimSpace(text)) {
		ps = append(ps, piece{Span: styled.Span{Text: " (" + to + ")", Style: styled.Style{Role: styled.Dim}}})
	}
	return ps
}

func (s *Stream) link(text, to string) styled.Span {
	sp := styled.Span{Text: text, Style: styled.Style{Role: styled.Link}}
	if s.opt.Links && address(to) {
		sp.Link = to
	}
	return sp
}

// address reports whether a text may be passed to the terminal as an address.
func address(s string) bool {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") && !strings.HasPrefix(s, "mailto:") || len(s) > 2000 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// safe reports whether an entity's character may be shown.
func safe(text string) bool {
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// emphasize styles the pieces between matching runs, like CommonMark's delimiter stack,
// and returns the position of the first run that is not closed yet.
func emphasize(ps []piece) (open int) {
	open = 1 << 60
	var stack []int // the indexes of runs that may open an emphasis
	for i := range ps {
		c := &ps[i]
		if c.run == 0 {
			continue
		}
		for c.ends && c.left > 0 {
			at := -1
			for j := len(stack) - 1; j >= 0; j-- {
				o := ps[stack[j]]
				if o.run == c.run && o.left > 0 && !((o.ends || c.opens) && (o.left+c.left)%3 == 0 && (o.left%3 != 0 || c.left%3 != 0)) {
					at = j
					break
				}
			}
			if at < 0 {
				break
			}
			o := &ps[stack[at]]
			n, attr := 1, styled.Italic
			if o.left >= 2 && c.left >= 2 {
				n, attr = 2, styled.Bold
			}
			if c.run == '~' {
				attr = styled.Strike
			}
			for k := stack[at] + 1; k < i; k++ {
				ps[k].Attr |= attr
			}
			o.left, c.left = o.left-n, c.left-n
			stack = stack[:at+1]
			if o.left == 0 {
				stack = stack[:at]
			}
		}
		if c.opens && c.left > 0 {
			stack = append(stack, i)
		}
	}
	for _, i := range stack {
		open = min(open, ps[i].at)
	}
	return open
}

// flanks reports whether a run may open and may close an emphasis.
func flanks(src string, i, n int) (opens, ends bool) {
	before, _ := utf8.DecodeLastRuneInString(src[:i])
	after, _ := utf8.DecodeRuneInString(src[i+n:])
	if i == 0 {
		before = ' '
	}
	if i+n == len(src) {
		after = ' '
	}
	bs, as := unicode.IsSpace(before), unicode.IsSpace(after)
	bp, ap := unicode.IsPunct(before) || unicode.IsSymbol(before), unicode.IsPunct(after) || unicode.IsSymbol(after)
	left := !as && (!ap || bs || bp)
	right := !bs && (!bp || as || ap)
	if src[i] == '_' {
		return left && (!right || bp), right && (!left || ap)
	}
	return left, right
}

func runOf(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// closing returns the position of a run of exactly n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		k := runOf(s[i:], '`')
		if k == n {
			return i
		}
		i += k
	}
	return -1
}

func punctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func wordBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}
