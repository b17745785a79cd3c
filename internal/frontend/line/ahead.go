package line

import (
	"bytes"
	"context"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// This file is what a person can do while a turn runs, besides interrupting it.

// Ahead is an Input that can say what is typed while nobody asks it for a line.
type Ahead interface {
	// Ahead gives take each whole line that is typed from now on, until stop
	// is called. A line that take wants is not given to the next Line. take is
	// called from another goroutine, one line at a time.
	Ahead(take func(line string) bool) (stop func())
}

// ahead takes commands that mean something while a turn runs, such as /pause.
// What they lead to is an event; why one is
// refused is said. What else is typed waits for the next prompt, as ever.
func (c *conversation) ahead(ctx context.Context) (stop func()) {
	in, ok := c.In.(Ahead)
	if !ok {
		return func() {}
	}
	s := c.open.Session
	return in.Ahead(func(line string) bool {
		name, args, ok := slash.Parse(line)
		if !ok {
			return false
		}
		cmd, err := slash.Find(name)
		if err != nil || cmd.Meanwhile == nil {
			return false
		}
		op := cmd.Meanwhile(args)
		if op == nil {
			return false
		}
		if _, err := s.Submit(ctx, op); err != nil {
			c.say("pawl: " + plain.Text(err.Error()))
		}
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

// heard gives what came without the lines that somebody takes. What is pasted
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
