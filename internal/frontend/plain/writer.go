package plain

import "io"

// Writer makes text safe that is written through it, even if a sequence or a
// character is split over two writes. Close writes what was held back and does
// not close the writer below. It is not safe for concurrent use.
type Writer struct {
	w io.Writer
	c cleaner
}

// NewWriter makes a Writer before w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write cleans p and writes it on. It reports that all of p was written unless
// the writer below fails.
func (w *Writer) Write(p []byte) (int, error) {
	if s := w.c.feed(string(p), false); s != "" {
		if _, err := io.WriteString(w.w, s); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// Close ends the text: an unfinished sequence is dropped, an unfinished
// character is shown as a replacement.
func (w *Writer) Close() error {
	s := w.c.feed("", true)
	w.c = cleaner{}
	if s == "" {
		return nil
	}
	_, err := io.WriteString(w.w, s)
	return err
}

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
