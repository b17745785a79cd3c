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
	raw    bool   // its lines are not broken
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
	s.print(s.clean.Add(piece))
}

// print shows a piece, but for the word at its end.
func (s *stream) print(piece string) {
	if s.raw {
		s.v.unbroken(piece)
		return
	}
	s.v.piece(piece, s.indent)
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
		s.print(s.clean.Add(rest))
	} else {
		ok = false
	}
	s.end()
	return shown, ok
}

// end goes to a new line and is ready for another text.
func (s *stream) end() {
	s.print(s.clean.End())
	if s.begun() {
		s.v.end()
	}
	s.shown.Reset()
}

// behind gives what of whole comes behind shown. Blanks count only where all is
// the same: a provider may trim what it streamed. ok is false where shown is
// not how whole begins.
func behind(whole, shown string) (rest string, ok bool) {
	if rest, ok := strings.CutPrefix(whole, shown); ok {
		return rest, true
	}
	rest = whole
	for _, r := range shown {
		if unicode.IsSpace(r) {
			continue
		}
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest, ok = strings.CutPrefix(rest, string(r)); !ok {
			return "", false
		}
	}
	if end, _ := utf8.DecodeLastRuneInString(shown); unicode.IsSpace(end) {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	}
	return rest, true
}
