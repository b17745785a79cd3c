package shell

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// tape keeps what a command prints: the first half of limit bytes and the last
// half, in bounded memory, and all of it in a file once something had to be
// left out. It is safe for concurrent use.
type tape struct {
	mu    sync.Mutex
	limit int
	spill *spill // nil: what is left out is gone

	head  []byte // the first limit/2 bytes
	ring  []byte // the last limit-limit/2 bytes of what came after the head, and the one before
	next  int    // where the ring goes on, once it is full
	total int64
	lines int64 // newlines seen
}

func newTape(limit int, s *spill) *tape { return &tape{limit: limit, spill: s} }

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spill != nil && t.total+int64(len(p)) > int64(t.limit) {
		if t.total <= int64(t.limit) {
			t.spill.write(t.head)
			a, b := t.tail()
			t.spill.write(a)
			t.spill.write(b)
		}
		t.spill.write(p)
	}
	t.total += int64(len(p))
	t.lines += int64(bytes.Count(p, []byte{'\n'}))
	n := len(p)
	if room := t.limit/2 - len(t.head); room > 0 {
		k := min(room, len(p))
		t.head = append(t.head, p[:k]...)
		p = p[k:]
	}
	size := t.limit - t.limit/2 + 1
	if len(p) > size { // only the end of a large chunk can matter
		t.ring, t.next = t.ring[:0], 0
		p = p[len(p)-size:]
	}
	if room := size - len(t.ring); room > 0 {
		k := min(room, len(p))
		t.ring = append(t.ring, p[:k]...)
		p = p[k:]
	}
	for len(p) > 0 {
		k := copy(t.ring[t.next:], p)
		t.next = (t.next + k) % size
		p = p[k:]
	}
	return n, nil
}

// tail returns the ring in order.
func (t *tape) tail() (older, newer []byte) { return t.ring[t.next:], t.ring[:t.next] }

// bytes returns how much was printed in all.
func (t *tape) bytes() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}

// finish closes the spill file.
func (t *tape) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spill != nil {
		t.spill.close()
	}
}

// text returns what was printed as valid UTF-8. Where that was more than the tape
// holds, gap is what it has of it, and text is its text. elsewhere is the file
// that has all, if this tape has none of its own.
func (t *tape) text(elsewhere *spill) (text string, gap *tool.Gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, b := t.tail()
	tail := append(append([]byte(nil), a...), b...)
	if t.total <= int64(t.limit) {
		return valid(append(append([]byte(nil), t.head...), tail...)), nil
	}
	g := &tool.Gap{Where: "none of it was kept"}
	head := cutEnd(t.head)
	tail, g.Torn = cutStart(tail[0], tail[1:]) // over the limit, the ring is full
	s := t.spill
	if s == nil {
		s = elsewhere
	}
	if s != nil {
		g.Where, g.File = s.where(), s.name()
	}
	g.Head, g.Tail = string(head), string(tail)
	g.Bytes = t.total - int64(len(head)+len(tail))
	g.Lines = t.lines - int64(bytes.Count(head, []byte{'\n'})) - int64(bytes.Count(tail, []byte{'\n'}))
	return g.Text(), g
}

// cutEnd drops a last line that is not whole, unless that is over half of p;
// then it only drops a rune that is not whole.
func cutEnd(p []byte) []byte {
	if i := bytes.LastIndexByte(p, '\n'); i+1 >= len(p)/2 && i >= 0 {
		return p[:i+1]
	}
	return p[:len(p)-partialRune(p)]
}

// cutStart is cutEnd for the front; before is the byte before p. torn reports whether
// the first line is not whole.
func cutStart(before byte, p []byte) (rest []byte, torn bool) {
	if before == '\n' {
		return p, false
	}
	if i := bytes.IndexByte(p, '\n'); i >= 0 && i < len(p)/2 {
		return p[i+1:], false
	}
	for i := 0; i < len(p) && i < utf8.UTFMax; i++ {
		if utf8.RuneStart(p[i]) {
			return p[i:], true
		}
	}
	return p, true
}

// partialRune returns how many bytes at the end of p begin a rune that more bytes
// could complete.
func partialRune(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(p[len(p)-n:]) {
				return n
			}
			return 0
		}
	}
	return 0
}

func valid(p []byte) string { return strings.ToValidUTF8(string(p), "\uFFFD") }

// decoder turns chunks of bytes into valid text, and holds back a rune that a
// chunk's end has cut.
type decoder struct{ held []byte }

func (d *decoder) text(p []byte) string {
	if len(d.held) > 0 {
		p = append(d.held, p...)
	}
	n := partialRune(p)
	s := valid(p[:len(p)-n])
	d.held = append([]byte(nil), p[len(p)-n:]...)
	return s
}

func (d *decoder) rest() string {
	s := valid(d.held)
	d.held = nil
	return s
}

// spill is a file that takes all the output of one command. It is created at
// the first write, with mode 0600, and stops growing at max bytes. Its owner
// serialises the calls of write; where and name may be called at any time.
type spill struct {
	create func() (*os.File, error)
	max    int64

	mu     sync.Mutex
	file   *os.File
	path   string
	n      int64
	full   bool
	closed bool
	err    error
}

func (s *spill) write(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.full || s.closed || len(p) == 0 {
		return
	}
	if s.file == nil {
		if s.file, s.err = s.create(); s.err != nil {
			return
		}
		s.path = s.file.Name()
	}
	if s.n+int64(len(p)) > s.max {
		p, s.full = p[:s.max-s.n], true
	}
	n, err := s.file.Write(p)
	s.n += int64(n)
	s.err = err
}

func (s *spill) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil && !s.closed {
		if err := s.file.Close(); s.err == nil {
			s.err = err
		}
	}
	s.closed = true
}

// name returns the file's path, "" where there is none.
func (s *spill) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path
}

// where returns where the output is.
func (s *spill) where() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err != nil && s.path == "":
		return "none of it was kept: " + s.err.Error()
	case s.err != nil:
		return fmt.Sprintf("only the first %d bytes are in %s: %v", s.n, s.path, s.err)
	case s.full:
		return fmt.Sprintf("the first %d bytes are in %s", s.n, s.path)
	case s.path == "":
		return "none of it was kept"
	}
	return "the whole is in " + s.path
}
