package plain

// Stream is Text for text that arrives in pieces, such as a streamed reply. The
// zero Stream is ready.
type Stream struct{ c cleaner }

// Add cleans the next piece; what may be half of something is held back.
func (s *Stream) Add(piece string) string { return s.c.feed(piece, false) }

// End returns what was held back and is ready for another text.
func (s *Stream) End() string {
	out := s.c.feed("", true)
	s.c = cleaner{}
	return out
}
