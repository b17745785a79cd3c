package progress

import "bytes"

// Repetition detects a text that repeats one passage, while the text streams.
// The zero value is ready and requires the evidence for a warning. The cost per
// byte is constant.
type Repetition struct {
	Evidence Evidence

	buf     []byte // the newest bytes
	total   int    // bytes so far
	next    int    // the total at which buf is examined next
	passage string // the passage that was found
}

// Evidence is how much repetition is required.
type Evidence int

const (
	// Suspected is enough for a warning.
	Suspected Evidence = iota
	// Certain is enough to cut a reply off: what follows costs money and is
	// worthless, but what is cut is lost.
	Certain
)

var thresholds = [...]struct {
	window int // how far back the text is compared
	first  int // how many bytes before the first examination,
	every  int // and between two
	length int // how many bytes must consist only of the passage
	isText func(passage []byte) bool
}{
	Suspected: {2048, 768, 256, 600, hasLetters},
	Certain:   {30 << 10, 6000, 2 << 10, 6000, func(p []byte) bool { return isProse(p) || isUtterance(p) }},
}

// longPassage is the length from which three repetitions of a passage are
// enough. A shorter one needs five.
const longPassage = 1200

// Write adds the next piece. It returns the passage once the text repeats it,
// and "" before.
func (r *Repetition) Write(text string) string {
	t := &thresholds[r.Evidence]
	for len(text) > 0 && r.passage == "" {
		n := min(len(text), t.every)
		if len(r.buf)+n > 2*t.window {
			r.buf = append(r.buf[:0], r.buf[len(r.buf)-t.window:]...)
		}
		r.buf = append(r.buf, text[:n]...)
		r.total += n
		text = text[n:]
		if r.total < max(t.first, r.next) {
			continue
		}
		r.next = r.total + t.every
		r.passage = string(repeats(r.buf[max(0, len(r.buf)-t.window):], t.length, t.isText))
	}
	return r.passage
}

// repeats returns the passage that fills at least the last length bytes of b,
// nil for none.
func repeats(b []byte, length int, isText func([]byte) bool) []byte {
	n := len(b)
	border := borders(b)
	for i := n; i >= length; i-- {
		period := i - border[i-1]
		rounds := 5
		if period > longPassage {
			rounds = 3
		}
		if period*rounds <= i && isText(b[n-period:]) {
			return b[n-period:]
		}
	}
	return nil
}

// borders computes the prefix function of b backwards: the last i bytes of b
// have the period i - borders[i-1].
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

// hasLetters reports whether a passage has at least four different letters.
// Separator lines, tables and filler do not.
func hasLetters(b []byte) bool {
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

// isProse reports whether a passage is prose: at least three words, and more
// letters than anything else. Separator lines, tables of figures, dumps and
// filler are not.
func isProse(b []byte) bool {
	letters, words, run := 0, 0, 0
	for _, c := range b {
		if l := c | 0x20; l >= 'a' && l <= 'z' || c >= 0x80 {
			letters++
			if run++; run == 2 {
				words++
			}
			continue
		}
		run = 0
	}
	return hasLetters(b) && words >= 3 && 2*letters > len(b)
}

// isUtterance reports whether a passage is one or two spoken words: "Done. ", "ok".
// Lists of values have other punctuation than a sentence.
func isUtterance(b []byte) bool {
	letters, words, run := map[byte]bool{}, 0, 0
	for _, c := range b {
		switch l := c | 0x20; {
		case l >= 'a' && l <= 'z' || c >= 0x80:
			letters[l] = true
			if run++; run == 2 {
				words++
			}
			continue
		case c != ' ' && c != '\n' && c != '.' && c != '!' && c != '?' && c != '\'':
			return false
		}
		run = 0
	}
	// Without any separator they are not words: filler, a dump.
	return words > 0 && len(letters) > 1 && bytes.ContainsAny(b, " .!?\n")
}
