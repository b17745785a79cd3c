// Package keys decodes the bytes that a terminal sends: keys, pastes, changes of the focus,
// and the terminal's answers about itself.
//
// It promises that no byte of a paste is taken for a key, that a paste of any size is read
// in linear time, and that a key such as Esc, with which longer sequences begin, waits at
// most 50 ms.
package keys

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
)

// Press is a key.
type Press struct {
	Name string // such as "a", "enter", "ctrl+c", "shift+tab"
	Text string // what it types, "" for a key that types nothing
}

// Paste is a pasted text.
type Paste struct{ Text string }

// Focus: the terminal's window got or lost the focus.
type Focus struct{ In bool }

// Mode is the terminal's answer about one of its modes.
type Mode struct {
	Number int
	Known  bool
}

// Background is the terminal's answer about its colour.
type Background struct{ Dark bool }

// KittyKeyboard: the terminal supports kitty's keyboard protocol.
type KittyKeyboard struct{}

// DeviceAttributes is the answer to a request that every terminal answers. An earlier
// request without an answer until then will not get one.
type DeviceAttributes struct{}

// sequenceTimeout is how long the rest of an unfinished sequence is waited for.
const sequenceTimeout = 50 * time.Millisecond

const pasteBegins, pasteEnds = "\x1b[200~", "\x1b[201~"

// Read decodes r and sends the events, until r or ctx ends.
func Read(ctx context.Context, r io.Reader, events chan<- any) error {
	pieces, failed := make(chan []byte), make(chan error, 1)
	go func() {
		for {
			buf := make([]byte, 32<<10)
			n, err := r.Read(buf)
			if n > 0 {
				select {
				case pieces <- buf[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				failed <- err
				return
			}
		}
	}()
	var s scanner
	wait := time.NewTimer(0)
	<-wait.C
	defer wait.Stop()
	for {
		var out []any
		select {
		case p := <-pieces:
			out = s.add(p)
			wait.Stop()
			if s.incomplete() {
				wait.Reset(sequenceTimeout)
			}
		case <-wait.C:
			out = s.expire()
		case err := <-failed:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
		for _, e := range out {
			select {
			case events <- e:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
}

// scanner splits bytes into events.
type scanner struct {
	decoder uv.EventDecoder
	buf     []byte
	pasting bool
	paste   bytes.Buffer
}

func (s *scanner) incomplete() bool { return len(s.buf) > 0 && !s.pasting }

func (s *scanner) add(p []byte) (out []any) {
	s.buf = append(s.buf, p...)
	return s.scan(false)
}

func (s *scanner) expire() (out []any) {
	if s.pasting {
		return nil
	}
	return s.scan(true)
}

func (s *scanner) scan(expired bool) (out []any) {
	for len(s.buf) > 0 {
		if s.pasting {
			at := bytes.Index(s.buf, []byte(pasteEnds))
			if at < 0 { // the end may be cut in two
				keep := min(len(s.buf), len(pasteEnds)-1)
				s.paste.Write(s.buf[:len(s.buf)-keep])
				s.buf = append(s.buf[:0], s.buf[len(s.buf)-keep:]...)
				return out
			}
			s.paste.Write(s.buf[:at])
			s.buf = s.buf[at+len(pasteEnds):]
			out = append(out, Paste{strings.ToValidUTF8(s.paste.String(), "\uFFFD")})
			s.paste, s.pasting = bytes.Buffer{}, false
			continue
		}
		if bytes.HasPrefix(s.buf, []byte(pasteBegins)) {
			s.buf, s.pasting = s.buf[len(pasteBegins):], true
			continue
		}
		size := sequenceLen(s.buf)
		if size == 0 {
			if !expired {
				return out
			}
			size = len(s.buf)
		}
		n, e := s.decoder.Decode(s.buf[:size])
		s.buf = s.buf[max(1, n):]
		out = append(out, convert(e)...)
	}
	return out
}

// sequenceLen returns the length of the first key or sequence, 0 if it is not complete.
func sequenceLen(b []byte) int {
	if b[0] != 0x1b {
		if !utf8.FullRune(b) {
			return 0
		}
		_, n := utf8.DecodeRune(b)
		return n
	}
	if len(b) == 1 {
		return 0
	}
	ends := func(end string) int {
		if i := bytes.Index(b, []byte(end)); i >= 0 {
			return i + len(end)
		}
		return 0
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] < 0x7f && !(i == 2 && b[i] == '[') { // the console's function keys
				return i + 1
			}
		}
		return 0
	case 'O':
		if len(b) < 3 {
			return 0
		}
		return 3
	case ']':
		bell, st := ends("\a"), ends("\x1b\\")
		if bell > 0 && (st == 0 || bell < st) {
			return bell
		}
		return st
	case 'P', '_', '^', 'X':
		return ends("\x1b\\")
	case 0x1b:
		return 1
	}
	if !utf8.FullRune(b[1:]) {
		return 0
	}
	_, n := utf8.DecodeRune(b[1:])
	return 1 + n
}

func convert(e uv.Event) []any {
	switch e := e.(type) {
	case uv.MultiEvent:
		var out []any
		for _, m := range e {
			out = append(out, convert(m)...)
		}
		return out
	case uv.KeyPressEvent:
		return []any{keyPress(uv.Key(e))}
	case uv.FocusEvent:
		return []any{Focus{true}}
	case uv.BlurEvent:
		return []any{Focus{false}}
	case uv.ModeReportEvent:
		return []any{Mode{e.Mode.Mode(), !e.Value.IsNotRecognized()}}
	case uv.BackgroundColorEvent:
		return []any{Background{e.IsDark()}}
	case uv.KeyboardEnhancementsEvent:
		return []any{KittyKeyboard{}}
	case uv.PrimaryDeviceAttributesEvent:
		return []any{DeviceAttributes{}}
	}
	return nil
}

// keyPress returns a key by its name.
func keyPress(k uv.Key) Press {
	text := k.Text
	if k.Mod&^(uv.ModShift|uv.ModCapsLock|uv.ModNumLock|uv.ModScrollLock) != 0 {
		text = ""
	}
	k.Mod &^= uv.ModCapsLock | uv.ModNumLock | uv.ModScrollLock
	name := k.Keystroke()
	if name == "space" {
		name, text = " ", " "
	}
	name = strings.TrimPrefix(name, "kp") // the keypad's keys are keys
	return Press{Name: name, Text: text}
}
