package shell

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// tape stores the output of a command in limited memory: the first half of limit bytes
// and the last half. If more is printed, spill gets all of it. It is safe for concurrent
// use.
type tape struct {
	mu    sync.Mutex
	limit int
	spill *spill // nil: what is left out is lost

	head  []byte // the first limit/2 bytes
	rest  []byte // the end of what came after the head, at least as much as tail returns
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
			t.spill.write(t.rest)
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
	t.rest = append(t.rest, p...)
	if tail := t.tail(); len(t.rest) > 2*len(tail) {
		t.rest = append(t.rest[:0], tail...)
	}
	return n, nil
}

// tail returns the last limit-limit/2 bytes of what came after the head, and the one before.
func (t *tape) tail() []byte { return t.rest[max(0, len(t.rest)-(t.limit-t.limit/2+1)):] }

// end returns the end of the output, or all of it if it is not over the limit.
func (t *tape) end() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.total <= int64(t.limit) {
		return valid(slices.Concat(t.head, t.rest))
	}
	return valid(t.tail())
}

// bytes returns how many bytes were printed in all.
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

// text returns the output as valid UTF-8. If it is longer than the tape, gap describes
// the part that is left out, and text is the text of gap. elsewhere is the file with all
// output, if this tape has no file.
func (t *tape) text(elsewhere *spill) (text string, gap *tool.Gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.total <= int64(t.limit) {
		return valid(slices.Concat(t.head, t.rest)), nil
	}
	g := &tool.Gap{Where: "none of it was kept"}
	head, tail := cutEnd(t.head), t.tail()
	tail, g.Torn = cutStart(tail[0], tail[1:]) // over the limit, there is a byte more
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

// cutEnd removes an incomplete last line, unless the line is over half of p. Then it only
// removes an incomplete rune.
func cutEnd(p []byte) []byte {
	if i := bytes.LastIndexByte(p, '\n'); i+1 >= len(p)/2 && i >= 0 {
		return p[:i+1]
	}
	return p[:len(p)-partialRune(p)]
}

// cutStart is cutEnd for the beginning; before is the byte before p. torn reports whether
// the first line is incomplete.
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

// decoder converts chunks of bytes into valid text. A rune that is split by a chunk's end
// is stored for the next call.
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

// spill is a file with all output of one command. It is created at the first write, with
// mode 0600, and grows up to max bytes. Its owner must serialise the calls of write;
// where and name may be called at any time.
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

// name returns the file's path, or "" if there is none.
func (s *spill) name() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.path
}

// where returns a text that tells where the output is.
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
