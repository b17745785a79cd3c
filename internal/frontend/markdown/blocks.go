package markdown

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/syntax"
)

// certain reports whether the beginning of a line proves that the line is text,
// whatever follows in the line.
func certain(line string) bool {
	rest := strings.TrimLeft(line, " ")
	if rest == "" || len(line)-len(rest) >= 4 { // four blanks: it may be code
		return false
	}
	switch c := rest[0]; {
	case c == '*' || c == '_' || c == '`':
		n := runOf(rest, c)
		return n < len(rest) && rest[n] != ' ' && (c != '`' || n < 3)
	case c == '-' || c == '+' || c == '>' || c >= '0' && c <= '9':
		body := rest
		if c == '>' {
			return certain(strings.TrimPrefix(rest[1:], " ")) && rest[1] != '>'
		}
		if size := marker(rest); size > 0 {
			body = rest[size:]
			return strings.TrimLeft(body, " ") != "" && body[0] != '[' && certain(body)
		}
		for i := 0; i < len(body); i++ { // "-x", "1x": no list
			if c := body[i]; c == '-' || c == '+' || c >= '0' && c <= '9' {
				continue
			} else if c == '.' || c == ')' || c == ' ' {
				return c != ' ' && i+1 < len(body) && body[i+1] != ' ' || c == ' ' && body[0] >= '0' && body[0] <= '9'
			}
			return true
		}
		return false
	case strings.IndexByte("~#|=<", c) >= 0:
		return false
	}
	return true
}

// marker returns the size of a list marker with the blank after it, or 0 for none.
func marker(line string) int {
	i := 0
	switch c := line[0]; {
	case c == '-' || c == '+' || c == '*':
		i = 1
	case c >= '0' && c <= '9':
		for i < len(line) && i < 9 && line[i] >= '0' && line[i] <= '9' {
			i++
		}
		if i == len(line) || line[i] != '.' && line[i] != ')' {
			return 0
		}
		i++
	default:
		return 0
	}
	if i < len(line) && line[i] == ' ' {
		return i + 1
	}
	return 0
}

// begin handles a line, or the beginning of one that is certainly text. It
// reports whether the line belongs to the open paragraph.
func (s *Stream) begin(line string) bool {
	depth := 0
	body := strings.TrimLeft(line, " ")
	for strings.HasPrefix(body, ">") && depth < 8 {
		depth++
		line = strings.TrimPrefix(body[1:], " ")
		body = strings.TrimLeft(line, " ")
	}
	if depth != s.quote && !(depth < s.quote && s.text != nil && s.isText(body)) {
		s.close()
		s.items = nil
		s.quote = depth
	}
	return s.block(line)
}

// block handles a line whose quote markers were removed.
func (s *Stream) block(line string) bool {
	body := strings.TrimLeft(line, " ")
	indent := len(line) - len(body)
	if body == "" {
		s.endText()
		s.endTable()
		s.gap = true
		return false
	}
	if s.text != nil && s.isText(body) {
		s.text.add(body)
		return true
	}
	for n := len(s.items); n > 0 && indent < s.items[n-1].column && !(s.table != nil && body[0] == '|'); n = len(s.items) {
		s.close()
		s.items = s.items[:n-1]
	}
	base := 0
	if n := len(s.items); n > 0 {
		base = s.items[n-1].column
	}
	if s.table != nil && body[0] != '|' {
		s.endTable()
	}
	switch {
	case indent-base >= 4 && s.text == nil && s.table == nil && body[0] != '|':
		if !s.goesOn() {
			s.start(Block{Kind: Code})
		}
		s.emit(append(s.first(), styled.Span{Text: line[base+4:], Style: styled.Style{Role: styled.Code}}))
		return false
	case s.opensFence(body, indent), s.heading(body), s.rule(body):
		return false
	case isTag(body):
		s.finish()
		s.start(Block{})
		s.emit(append(s.first(), styled.Of(styled.Dim, body)...))
		return false
	case body[0] == '|':
		s.endText()
		s.table = append(s.table, cells(body))
		return false
	}
	if size := marker(body); size > 0 && len(s.items) < deepest {
		return s.entry(body, size, indent)
	}
	s.open(styled.Text, 0, Block{})
	s.text.add(body)
	return true
}

// isText reports whether a line continues a paragraph.
func (s *Stream) isText(body string) bool {
	if body == "" {
		return false
	}
	switch body[0] {
	case '#':
		n := runOf(body, '#')
		return n > 6 || n < len(body) && body[n] != ' '
	case '`', '~':
		return runOf(body, body[0]) < 3
	case '>', '|':
		return false
	case '<':
		return !isTag(body)
	}
	switch size := marker(body); {
	case isRule(body):
		return false
	case size == 0:
		return true
	}
	// In the middle of a text, only the number 1 begins a list.
	return body[0] >= '0' && body[0] <= '9' && len(s.items) == 0 && !strings.HasPrefix(body, "1.") && !strings.HasPrefix(body, "1)")
}

func (s *Stream) close() {
	s.endText()
	s.endTable()
}

func (s *Stream) open(role styled.Role, attr styled.Attr, b Block) {
	s.finish()
	s.start(b)
	s.text = &paragraph{s: s, role: role, attr: attr, rows: styled.NewWrapper(s.opt.Width, s.first(), s.margin())}
}

// finish does the same as close, but leaves a list marker that waits for its text.
func (s *Stream) finish() {
	if s.text != nil {
		s.endText()
	}
	s.endTable()
}

// entry begins an entry of a list; the entry's text may be a block.
func (s *Stream) entry(body string, size, indent int) bool {
	s.close()
	sign := strings.TrimRight(body[:size], " ")
	if len(sign) == 1 {
		sign = "•"
	}
	rest := body[size:]
	text := strings.TrimLeft(rest, " ")
	if over := len(rest) - len(text); over > 0 && over < 4 {
		size += over
	}
	for task, shown := range map[string]string{"[ ] ": "☐", "[x] ": "☑", "[X] ": "☑"} {
		if after, ok := strings.CutPrefix(text, task); ok {
			text, sign = after, shown
			if len(strings.TrimRight(body[:size], " ")) > 1 {
				sign = strings.TrimRight(body[:size], " ") + " " + shown
			}
		}
	}
	hang := 0
	if n := len(s.items); n > 0 {
		hang = s.items[n-1].hang
	}
	s.lead = s.margin().Add(styled.Accent, sign).Add(styled.Text, " ")
	s.items = append(s.items, item{column: indent + size, hang: hang + styled.Width(sign) + 1})
	if text == "" {
		return false
	}
	return s.block(strings.Repeat(" ", indent+size) + text)
}

func (s *Stream) heading(body string) bool {
	n := runOf(body, '#')
	if n == 0 || n > 6 || n < len(body) && body[n] != ' ' {
		return false
	}
	text := strings.TrimSpace(body[n:])
	if t := strings.TrimRight(text, "#"); t == "" || strings.HasSuffix(t, " ") {
		text = strings.TrimSpace(t)
	}
	s.finish()
	s.gap = s.gap || s.lead == nil && s.begun
	attr := styled.Bold
	if n == 1 {
		attr |= styled.Underline
	}
	s.open(styled.Heading, attr, Block{Kind: Heading, Level: n})
	s.text.add(text)
	s.endText()
	s.gap = true
	return true
}

// isTag reports whether a line is an HTML tag.
func isTag(body string) bool {
	return len(body) > 1 && body[0] == '<' && (body[1] == '/' || body[1] == '!' || body[1] >= 'a' && body[1] <= 'z') &&
		!strings.HasPrefix(body, "<http") && !strings.HasPrefix(body, "<mailto")
}

func isRule(body string) bool {
	bare := strings.ReplaceAll(body, " ", "")
	return len(bare) >= 3 && strings.IndexByte("-*_", bare[0]) >= 0 && runOf(bare, bare[0]) == len(bare)
}

func (s *Stream) rule(body string) bool {
	if !isRule(body) {
		return false
	}
	s.close()
	if s.blocks != nil {
		s.start(Block{Kind: Rule})
		return true
	}
	n := 20
	if s.opt.Width > 0 {
		n = min(n, s.opt.Width)
	}
	s.emit(s.prefix(styled.Of(styled.Dim, strings.Repeat("─", n))))
	return true
}

func (s *Stream) opensFence(body string, indent int) bool {
	c := body[0]
	n := runOf(body, c)
	info := strings.TrimSpace(body[n:])
	if c != '`' && c != '~' || n < 3 || c == '`' && strings.Contains(info, "`") {
		return false
	}
	s.finish()
	lang, _, _ := strings.Cut(info, " ")
	s.fence = &fence{char: c, size: n, indent: indent, colour: syntax.New(lang)}
	s.gap = s.gap || s.begun && s.lead == nil
	if s.blocks != nil {
		s.start(Block{Kind: Code, Info: info})
		return true
	}
	if info != "" {
		s.emit(append(s.first(), styled.Span{Text: info, Style: styled.Style{Role: styled.Dim}}))
	} else if s.lead != nil {
		s.emit(s.first())
	}
	return true
}

// code takes a line between two fences, whole.
func (s *Stream) code(line string) {
	rest := line
	for range s.quote {
		var quoted bool
		if rest, quoted = strings.CutPrefix(strings.TrimLeft(rest, " "), ">"); !quoted {
			s.endFence()
			if s.begin(line) {
				s.text.newline()
			}
			return
		}
		rest = strings.TrimPrefix(rest, " ")
	}
	body := strings.TrimLeft(rest, " ")
	if n := runOf(body, s.fence.char); n >= s.fence.size && strings.TrimSpace(body[n:]) == "" && body != "" {
		s.endFence()
		return
	}
	rest = rest[min(s.fence.indent, len(rest)-len(body)):]
	var margin styled.Line
	if s.blocks == nil {
		margin = styled.Of(styled.Quote, strings.Repeat("│ ", s.quote))
	}
	s.emit(append(margin, s.fence.colour.Line(rest)...))
}
