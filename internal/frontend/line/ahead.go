package line

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// This file handles what a person types while a turn runs, besides an interrupt.

// Ahead is an Input that also reports lines while nobody reads one.
type Ahead interface {
	// Ahead passes each complete line that is typed from now on to take, until
	// stop is called. A line that take accepts is not returned by the next
	// Line. take is called from another goroutine, one line at a time.
	Ahead(take func(line string) bool) (stop func())
}

// ahead enters at once what is typed while something runs: a prompt is
// delivered into the running turn, a command that may run during a turn is run, and
// everything else waits (SPEC 10.1). A line that ends in a backslash continues
// in the next one. If nothing runs, the next prompt gets the line.
func (c *conversation) ahead() (stop func()) {
	in, ok := c.In.(Ahead)
	if !ok {
		return func() {}
	}
	begun := ""
	return in.Ahead(func(line string) bool {
		keys := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' })
		if begun == "" && (!c.chat.Busy() || strings.TrimSpace(line) == "" || keys) {
			return false
		}
		if head, more := strings.CutSuffix(line, `\`); more {
			begun += head + "\n"
			return true
		}
		c.chat.Enter(begun + line)
		begun = ""
		return true
	})
}

func (e *editor) Ahead(take func(string) bool) (stop func()) { return e.keys.ahead(take) }

func (k *keys) ahead(take func(string) bool) (stop func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.take = take
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.take = nil
	}
}

// withoutTaken returns the input without the lines that somebody takes. Pasted text
// does not count as a typed line.
func (k *keys) withoutTaken(raw []byte) []byte {
	for at := 0; k.take != nil && !k.asking && !k.inside; {
		n := bytes.IndexAny(raw[at:], "\r\n")
		if n < 0 || bytes.Contains(raw[at:at+n], []byte(pasteBegins)) {
			return raw
		}
		end := at + n + 1
		if !k.take(k.expanded(afterEdits(raw[at : at+n]))) {
			at = end
			continue
		}
		raw = append(raw[:at:at], raw[end:]...)
	}
	return raw
}

// afterEdits applies the erasing keys in a line.
func afterEdits(line []byte) string {
	var out []byte
	for _, c := range line {
		switch c {
		case 0x7f, '\b':
			_, n := utf8.DecodeLastRune(out)
			out = out[:len(out)-n]
		case 0x15: // Ctrl+U
			out = out[:0]
		default:
			out = append(out, c)
		}
	}
	return string(out)
}
