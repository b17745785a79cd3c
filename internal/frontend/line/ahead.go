package line

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// This file is what a person can do while a turn runs, besides interrupting it.

// Ahead is an Input that tells what is typed while nobody asks it for a line.
type Ahead interface {
	// Ahead hands take each whole line that is typed from now on, until stop
	// is called. A line that take wants is not returned by the next Line. take is
	// called from another goroutine, one line at a time.
	Ahead(take func(line string) bool) (stop func())
}

// ahead has what is typed while something runs entered at once: a prompt is
// delivered into the running turn, a command that means something meanwhile is
// run, and all else waits its turn (SPEC 10.1). A line that ends in a backslash
// goes on in the next one. Where nothing runs, the next prompt gets it.
func (c *conversation) ahead() (stop func()) {
	in, ok := c.In.(Ahead)
	if !ok {
		return func() {}
	}
	begun := ""
	return in.Ahead(func(line string) bool {
		keys := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' })
		if begun == "" && (!c.talk.Busy() || strings.TrimSpace(line) == "" || keys) {
			return false
		}
		if head, more := strings.CutSuffix(line, `\`); more {
			begun += head + "\n"
			return true
		}
		c.talk.Enter(begun + line)
		begun = ""
		return true
	})
}

// Ahead is part of Ahead.
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

// heard returns what came without the lines that somebody takes. What is pasted
// is no line that was typed.
func (k *keys) heard(raw []byte) []byte {
	for at := 0; k.take != nil && !k.asking && !k.inside; {
		n := bytes.IndexAny(raw[at:], "\r\n")
		if n < 0 || bytes.Contains(raw[at:at+n], []byte(pasteBegins)) {
			return raw
		}
		end := at + n + 1
		if !k.take(edited(raw[at : at+n])) {
			at = end
			continue
		}
		raw = append(raw[:at:at], raw[end:]...)
	}
	return raw
}

// edited is a line as its erasing keys leave it.
func edited(line []byte) string {
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
