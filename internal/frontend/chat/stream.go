package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// stream is a text that arrives in pieces and, at its end, as a whole. Every
// part of it is returned once (SPEC 5.4).
type stream struct {
	shown     []byte       // the first shownLimit bytes that arrived
	tail      string       // the last tailLimit bytes that arrived
	sanitizer plain.Stream // keeps incomplete sequences between two pieces
	begun     bool
}

// shownLimit limits how much of a text is kept for comparison with the whole.
const shownLimit = 1 << 20

// add adds the next piece and returns it sanitised.
func (s *stream) add(piece string) string {
	raw := piece
	if !s.begun {
		piece = strings.TrimLeft(piece, "\n") // many models begin with one
	}
	s.begun = true
	if len(s.shown) < shownLimit {
		s.shown = append(s.shown, raw...)
	}
	s.tail += raw
	s.tail = s.tail[max(0, len(s.tail)-tailLimit):]
	return s.sanitizer.Add(piece)
}

// tailLimit is how much of the end of a text is compared, in bytes.
const tailLimit = 4 << 10

// finish returns the part of the whole text after the pieces: all of it if the
// model did not stream. missed reports that a slow reader lost pieces in the
// middle.
func (s *stream) finish(whole string) (more string, missed bool) {
	switch rest, fits := after(whole, string(s.shown)); {
	case !s.begun:
		more = s.add(whole)
	case len(s.shown) < shownLimit && fits:
		more = s.sanitizer.Add(rest)
	default:
		missed = true
	}
	return more + s.sanitizer.End(), missed
}

// endsLike reports whether the shown text ends like the whole text. A long
// output is stored without its middle: if it ends the same, all of it was
// shown.
func (s *stream) endsLike(whole string) bool { return lastLine(s.tail) == lastLine(whole) }

func lastLine(s string) string {
	s = strings.TrimRight(s[max(0, len(s)-tailLimit):], " \r\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// after returns the part of whole after shown. Blanks are compared only if
// everything is equal: a provider may trim what it streamed. ok is false if
// whole does not begin with shown.
func after(whole, shown string) (rest string, ok bool) {
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
