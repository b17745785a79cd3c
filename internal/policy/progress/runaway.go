package progress

import "bytes"

// Runaway watches a reply while it comes, and says when it does nothing but say
// one passage over and over, so that it can be cut off: what comes after is
// paid for and worth nothing. Stream finds less than that, and only warns.
//
// It asks for far more evidence than a warning needs, since what it cuts is
// lost: passages with words in them, at least six thousand bytes of them, five
// rounds of a short passage or three of a long one. The zero value is ready;
// its cost per byte is constant.
type Runaway struct {
	buf   []byte // the newest bytes
	total int
	next  int // where to look again
}

const (
	runawayWindow = 30 << 10 // how far back it looks
	runawayEvery  = 2 << 10
	runawayLength = 6000 // bytes that must be nothing else
	runawayLong   = 1200 // from here on a passage is long
)

// Write takes the next piece. It gives the passage once the text repeats
// itself, and "" before.
func (r *Runaway) Write(text string) (passage string) {
	for len(text) > 0 {
		n := min(len(text), runawayEvery)
		if len(r.buf)+n > 2*runawayWindow {
			r.buf = append(r.buf[:0], r.buf[len(r.buf)-runawayWindow:]...)
		}
		r.buf = append(r.buf, text[:n]...)
		r.total += n
		text = text[n:]
		if r.total < max(runawayLength, r.next) {
			continue
		}
		r.next = r.total + runawayEvery
		if p := r.look(); p != nil {
			return string(p)
		}
	}
	return ""
}

// look gives the passage that the newest bytes repeat, nil for none.
func (r *Runaway) look() []byte {
	b := r.buf[max(0, len(r.buf)-runawayWindow):]
	n := len(b)
	border := borders(b)
	for i := n; i >= runawayLength; i-- {
		period := i - border[i-1]
		rounds := 5
		if period > runawayLong {
			rounds = 3
		}
		if period*rounds > i {
			continue
		}
		if p := b[n-period:]; worded(p) || uttered(p) {
			return p
		}
	}
	return nil
}

// worded says that a passage says something: at least three words, and more
// letters than anything else. Rules, tables of figures, dumps and filler do not.
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
	return passage(b) && words >= 3 && 2*letters > len(b)
}

// uttered says that a passage is a word or two that somebody says: "Done. ",
// "ok". Lists of values have other marks in them than a sentence has.
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
	// Without anything between them they are no words: filler, a dump.
	return words > 0 && len(letters) > 1 && bytes.ContainsAny(b, " .!?\n")
}
