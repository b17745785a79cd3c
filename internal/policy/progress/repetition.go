package progress

import "bytes"

// Repetition detects a text that repeats one passage over and over, while the
// text comes. The zero value is ready and asks for the evidence of a warning.
// The cost per byte is constant.
type Repetition struct {
	Evidence Evidence

	buf     []byte // the newest bytes
	total   int    // bytes that came
	next    int    // the total from which buf is examined again
	passage string // what was found
}

// Evidence is how much a Repetition needs.
type Evidence int

const (
	// Suspected is enough for a warning.
	Suspected Evidence = iota
	// Certain is enough to cut a reply off: what follows costs money and is worth
	// nothing, but what is cut is lost.
	Certain
)

var thresholds = [...]struct {
	window int // how far back the text is compared
	first  int // how many bytes come before the first examination,
	every  int // and between two
	length int // bytes that must be nothing but the passage
	isText func(passage []byte) bool
}{
	Suspected: {2048, 768, 256, 600, lettered},
	Certain:   {30 << 10, 6000, 2 << 10, 6000, func(p []byte) bool { return worded(p) || uttered(p) }},
}

// longPassage is the length from which three rounds of a passage are enough.
// A shorter one must come five times.
const longPassage = 1200

// Write takes the next piece. It returns the passage once the text repeats it,
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

// repeats returns the passage that the last length bytes of b or more repeat,
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

// lettered reports whether a passage has at least four different letters. Rules,
// tables and filler have not.
func lettered(b []byte) bool {
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

// worded reports whether a passage is prose: at least three words, and more
// letters than anything else. Rules, tables of figures, dumps and filler are not.
func worded(b []byte) bool {
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
	return lettered(b) && words >= 3 && 2*letters > len(b)
}

// uttered reports whether a passage is a word or two that somebody says:
// "Done. ", "ok". Lists of values have other marks in them than a sentence has.
func uttered(b []byte) bool {
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
	// Without anything between them they are not words: filler, a dump.
	return words > 0 && len(letters) > 1 && bytes.ContainsAny(b, " .!?\n")
}
