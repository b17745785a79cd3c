package secrets

import (
	"slices"
	"strings"
)

// Stream masks a text that arrives in pieces. A key may be split over two
// pieces: text that could be the beginning of one is held back until more text,
// or the end, decides. Ordinary text passes at once.
type Stream struct {
	m *Masker
	// buf is the incomplete line, including its part that was shown already:
	// the meaning of a value may depend on the text before it.
	buf   string
	shown int
}

// maxHeld is how much may be held back; it is longer than any key except a private one.
const maxHeld = maxPEM + 4096

// maxShown is how much shown text is kept as context.
const maxShown = 256

// Stream returns a Stream for a new text.
func (m *Masker) Stream() *Stream { return &Stream{m: m} }

// Next adds a piece and returns what may be shown now.
func (s *Stream) Next(piece string) string {
	s.buf += piece
	to := len(s.buf)
	if p := s.m.pending(s.buf); len(s.buf)-p <= maxHeld {
		to = max(p, s.shown)
	}
	return s.show(to)
}

// Rest returns what was held back, at the text's end.
func (s *Stream) Rest() string { return s.show(len(s.buf)) }

// show returns the text to show up to to.
func (s *Stream) show(to int) string {
	if to <= s.shown {
		return ""
	}
	found := s.m.spans(s.buf)
	for _, f := range found {
		if f.from < to && f.to > to {
			to = max(f.from, s.shown) // the secret continues
		}
	}
	var b strings.Builder
	from := s.shown
	for _, f := range found {
		if f.to <= from || f.from >= to {
			continue
		}
		if f.from > from {
			b.WriteString(s.buf[from:f.from])
		}
		b.WriteString("[masked:" + f.kind + "]")
		from = f.to
	}
	if from < to {
		b.WriteString(s.buf[from:to])
		from = to
	}
	s.shown = from
	keep := max(0, s.shown-maxShown)
	if nl := strings.LastIndexByte(s.buf[keep:s.shown], '\n'); nl >= 0 {
		keep += nl + 1
	}
	s.buf, s.shown = s.buf[keep:], s.shown-keep
	return b.String()
}

// pending returns the position at the end of a text where the beginning of a
// secret could be; its length if there is none.
func (m *Masker) pending(s string) int {
	p := len(s)
	if i := strings.LastIndex(s, "-----BEGIN "); i >= 0 && !strings.Contains(s[i:], "-----END ") && keyHead(s[i:]) {
		p = i
	}
	if i := strings.LastIndex(s, "-----END "); i >= 0 && strings.Count(s[i:], "-----") < 2 {
		if j := strings.LastIndex(s[:i], "-----BEGIN "); j >= 0 {
			p = min(p, j)
		}
	}
	if i := strings.LastIndexByte(s, 0x1b); i >= 0 && i+code(s[i:]) == len(s) {
		p = min(p, i) // a code may continue, and the word around it
	}
	// The word at the end, with what belongs to it.
	w := len(s)
	for w > 0 && len(s)-w < maxValue && s[w-1] > ' ' && s[w-1] != '"' && s[w-1] != '\'' {
		w--
	}
	for i := w; i < p; i++ {
		if m.mayBegin(s, i) {
			p = i
		}
	}
	if w < p && (precedesSecret(s[:w]) || strings.Contains(s[w:], "://") || assigned(s[w:])) {
		p = min(p, w)
	}
	return p
}

// keyHead reports whether a line that begins with -----BEGIN is, or may become,
// the first line of a private key.
func keyHead(s string) bool {
	head, _, whole := strings.Cut(strings.TrimPrefix(s, "-----BEGIN "), "-----")
	return !whole && len(head) < 40 || strings.Contains(head, "PRIVATE KEY")
}

// mayBegin reports whether a secret with a known beginning starts, or may start, at i.
func (m *Masker) mayBegin(s string, i int) bool {
	rest := s[i:]
	for _, h := range m.known.Load().held {
		if strings.HasPrefix(h.Text, rest[:min(len(rest), len(h.Text))]) {
			return true
		}
	}
	if strings.HasPrefix("-----BEGIN ", rest[:min(len(rest), 11)]) && len(rest) >= 2 {
		return true
	}
	if !border(s, i, nil) {
		return false
	}
	return slices.ContainsFunc(m.byFirst[rest[0]], func(sh *shape) bool { return strings.HasPrefix(sh.prefix, rest[:min(len(rest), len(sh.prefix))]) })
}

// precedesSecret reports whether the text before a word marks the word as a secret: a
// scheme, or a name and an assignment sign.
func precedesSecret(before string) bool {
	t := strings.TrimRight(before, " \t\"'\\")
	if low := strings.ToLower(t[max(0, len(t)-6):]); strings.HasSuffix(low, "basic") || low == "bearer" {
		return true
	}
	t = strings.TrimRight(t, ":=>")
	if len(t) == len(before) {
		return false
	}
	return endsInName(strings.TrimRight(t, " \t\"'\\"))
}

// assigned reports whether a word consists of a name, an assignment sign and
// the beginning of a value.
func assigned(w string) bool {
	i := strings.LastIndexAny(w, "=:")
	return i > 0 && i < len(w)-1 && endsInName(strings.TrimRight(w[:i], "=:"))
}

func endsInName(s string) bool {
	i := len(s)
	for i > 0 && len(s)-i < maxName && (isWord(s[i-1]) || s[i-1] == '.') {
		i--
	}
	return i < len(s) && isSecretName(s[i:])
}
