package line

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// stream shows a text that comes in pieces and, at its end, whole: every piece
// of it once (SPEC 5.4).
type stream struct {
	v      *view
	indent string // before each line
	shown  strings.Builder
	clean  plain.Stream // keeps what is half of something between two pieces
}

// add shows the next piece.
func (s *stream) add(piece string) {
	if s.shown.Len() == 0 {
		s.shown.WriteString(piece)
		piece = strings.TrimLeft(piece, "\n") // many models begin with one
	} else {
		s.shown.WriteString(piece)
	}
	s.v.print(s.clean.Add(piece), s.indent)
}

// begun says whether anything was shown.
func (s *stream) begun() bool { return s.shown.Len() > 0 }

// finish shows of the whole text what the pieces did not: a model may not
// stream, and a slow reader may have missed some. ok is false where pieces were
// missed in the middle, and shown is then what was shown.
func (s *stream) finish(whole string) (shown string, ok bool) {
	shown, ok = s.shown.String(), true
	if !s.begun() {
		s.add(whole)
	} else if rest, fits := behind(whole, shown); fits {
		s.v.print(s.clean.Add(rest), s.indent)
	} else {
		ok = false
	}
	s.end()
	return shown, ok
}

// end goes to a new line and is ready for another text.
func (s *stream) end() {
	s.v.print(s.clean.End(), s.indent)
	if s.begun() {
		s.v.end()
	}
	s.shown.Reset()
}

// behind gives what of whole comes behind shown, blanks not counted: a
// provider may trim what it streamed. ok is false where shown is not how whole
// begins.
func behind(whole, shown string) (rest string, ok bool) {
	for shown != "" {
		s, n := utf8.DecodeRuneInString(shown)
		if unicode.IsSpace(s) {
			shown = shown[n:]
			continue
		}
		w, m := utf8.DecodeRuneInString(whole)
		switch {
		case unicode.IsSpace(w):
		case w == s && m == n && whole[:m] == shown[:n]:
			shown = shown[n:]
		default:
			return "", false
		}
		whole = whole[m:]
	}
	return whole, true
}
