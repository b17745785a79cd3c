package progress

// Stream watches the text of one reply for a passage that comes over and over.
// The zero value is ready; its cost per byte is constant.
type Stream struct {
	buf   []byte // the newest bytes
	since int    // bytes since the last look
	found bool
}

const (
	streamWindow = 2048 // how far back it looks
	streamEvery  = 256
	streamRounds = 5   // how often a passage must come
	streamLength = 600 // and how many bytes that must be in all
)

// Write takes the next piece and says whether the text repeats itself.
func (s *Stream) Write(text string) bool {
	for len(text) > 0 && !s.found {
		n := min(len(text), streamEvery-s.since)
		s.buf = append(s.buf, text[:n]...)
		if len(s.buf) > 2*streamWindow {
			s.buf = append(s.buf[:0], s.buf[len(s.buf)-streamWindow:]...)
		}
		s.since += n
		text = text[n:]
		if s.since == streamEvery {
			s.since = 0
			s.found = repeats(s.buf)
		}
	}
	return s.found
}

// repeats says that the end of b is one passage over and over. Rules, tables
// and filler are not passages.
func repeats(b []byte) bool {
	if len(b) > streamWindow {
		b = b[len(b)-streamWindow:]
	}
	n := len(b)
	border := borders(b)
	for i := n; i >= streamLength; i-- {
		period := i - border[i-1]
		if period*streamRounds <= i && passage(b[n-period:]) {
			return true
		}
	}
	return false
}

// borders is the prefix function of b backwards: the end of b of length i that
// has a border of length borders[i-1] has the period i - borders[i-1].
func borders(b []byte) []int {
	n := len(b)
	at := func(i int) byte { return b[n-1-i] }
	border := make([]int, n)
	for i := 1; i < n; i++ {
		k := border[i-1]
		for k > 0 && at(i) != at(k) {
			k = border[k-1]
		}
		if at(i) == at(k) {
			k++
		}
		border[i] = k
	}
	return border
}

// passage says that a text has words in it.
func passage(b []byte) bool {
	var letters [26]bool
	n := 0
	for _, c := range b {
		if c |= 0x20; c >= 'a' && c <= 'z' && !letters[c-'a'] {
			letters[c-'a'] = true
			n++
		}
	}
	return n >= 4
}
