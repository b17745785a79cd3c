package chat

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// stream is a text that arrives in pieces and, at its end, as a whole: every
// part of it is passed on once (SPEC 5.4).
type stream struct {
	shown []byte
	last  string       // the newest line, where shown is full
	clean plain.Stream // keeps incomplete sequences between two pieces
	begun bool
}

// shownLimit limits how much of a text is kept for comparison with the whole.
const shownLimit = 1 << 20

// add returns the next piece sanitised.
func (s *stream) add(piece string) string {
	raw := piece
	if !s.begun {
		piece = strings.TrimLeft(piece, "\n") // many models begin with one
	}
	s.begun = true
	if len(s.shown) < shownLimit {
		s.shown = append(s.shown, raw...)
	}
	s.last += raw
	s.last = s.last[max(0, len(s.last)-longLine):]
	return s.clean.Add(piece)
}

// longLine is how much of the end of a text is compared.
const longLine = 4 << 10

// finish returns the rest of the whole text after the pieces: a model may not
// stream, and a slow reader may have missed some. missed reports that it missed
// some in the middle.
func (s *stream) finish(whole string) (more string, missed bool) {
	switch rest, fits := after(whole, string(s.shown)); {
	case !s.begun:
		more = s.add(whole)
	case len(s.shown) < shownLimit && fits:
		more = s.clean.Add(rest)
	default:
		missed = true
	}
	return more + s.clean.End(), missed
}

// endsLike reports whether the shown text ends like the whole text. A long
// output is stored without its middle: if it ends the same, all of it was
// shown.
func (s *stream) endsLike(whole string) bool { return lastLine(s.last) == lastLine(whole) }

func lastLine(s string) string {
	s = strings.TrimRight(s[max(0, len(s)-longLine):], " \r\n")
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
