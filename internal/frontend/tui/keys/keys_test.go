package keys

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// SPEC 18.3
func TestKeys(t *testing.T) {
	key := func(name string) Press { return Press{Name: name} }
	text := func(s string) Press { return Press{Name: s, Text: s} }
	for in, want := range map[string][]any{
		"a":                                 {text("a")},
		"A":                                 {Press{"shift+a", "A"}},
		"é漢":                                {text("é"), text("漢")},
		"\r":                                {key("enter")},
		"\n":                                {key("ctrl+j")},
		"\t\x1b[Z":                          {key("tab"), key("shift+tab")},
		"\x03\x1a\x7f":                      {key("ctrl+c"), key("ctrl+z"), key("backspace")},
		"\x1b[A\x1bOB\x1b[1;5C":             {key("up"), key("down"), key("ctrl+right")},
		"\x1b[3~\x1b[H\x1b[F\x1b[5~\x1b[6~": {key("delete"), key("home"), key("end"), key("pgup"), key("pgdown")},
		"\x1b\r\x1bb\x1b\x7f":               {key("alt+enter"), key("alt+b"), key("alt+backspace")},
		"\x1b[13;2u\x1b[27;2;13~\x1b[99;5u": {key("shift+enter"), key("shift+enter"), key("ctrl+c")},
		"\x1b[27u":                          {key("esc")},
		" ":                                 {text(" ")},
		"\x1b[I\x1b[O":                      {Focus{true}, Focus{false}},
		"\x1b[?2026;2$y\x1b[?2027;0$y":      {Mode{2026, true}, Mode{2027, false}},
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\":  {Background{false}},
		"\x1b]11;rgb:0000/0000/0000\a":      {Background{true}},
		"\x1b[?1u\x1b[?62;22c":              {KittyKeyboard{}, DeviceAttributes{}},
		"\x1b[200~a\x1b[Ab\r\n\x03\x1b[201~x": {
			Paste{"a\x1b[Ab\r\n\x03"}, text("x"),
		},
	} {
		for _, size := range []int{1, 2, 3, len(in)} {
			var s scanner
			var got []any
			for rest := in; rest != ""; {
				n := min(size, len(rest))
				got = append(got, s.add([]byte(rest[:n]))...)
				rest = rest[n:]
			}
			got = append(got, s.expire()...)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%q in pieces of %d (-want +got):\n%s", in, size, d)
			}
		}
	}
}

// Escape alone is a key, as soon as nothing follows.
//
// SPEC 18.3
func TestEscape(t *testing.T) {
	r, w := io.Pipe()
	events := make(chan any)
	done := make(chan error)
	go func() { done <- Read(context.Background(), r, events) }()
	fmt.Fprint(w, "\x1b")
	if got := <-events; got != (Press{Name: "esc"}) {
		t.Errorf("escape gives %v", got)
	}
	fmt.Fprint(w, "\x1b\x1b")
	if a, b := <-events, <-events; a != (Press{Name: "esc"}) || b != a {
		t.Errorf("escape twice gives %v %v", a, b)
	}
	w.Close()
	if err := <-done; err != io.EOF {
		t.Errorf("it ends with %v", err)
	}
}

// SPEC 18.3
func TestLargePaste(t *testing.T) {
	var s scanner
	in := pasteBegins + strings.Repeat("0123456789", 1<<20) + pasteEnds
	var got []any
	for rest := in; rest != ""; {
		n := min(4096, len(rest))
		got = append(got, s.add([]byte(rest[:n]))...)
		rest = rest[n:]
	}
	if len(got) != 1 || len(got[0].(Paste).Text) != 10<<20 {
		t.Errorf("it came in %d events", len(got))
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("\x1b[200~\x1b[201"), 2)
	f.Add([]byte("\x1b]11;?\x1b\\\x1b[<0;1;2M\x1bP1$r\x1b\\"), 1)
	f.Fuzz(func(t *testing.T, in []byte, size int) {
		var s scanner
		for len(in) > 0 {
			n := min(max(1, size), len(in))
			s.add(in[:n])
			in = in[n:]
		}
		s.expire()
		if s.incomplete() {
			t.Errorf("%q is left", s.buf)
		}
	})
}
