package line

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// patient waits for all of a sequence, however slow the machine is.
func patient(in io.Reader) *keys {
	k := newKeys(in)
	k.escapeTimer = func() <-chan time.Time { return nil }
	return k
}

// typed returns the part of the terminal's input that reaches the line editor.
func typed(t testing.TB, k *keys) string {
	t.Helper()
	b := must.Get(io.ReadAll(k))(t)
	return string(b)
}

// A pasted text is one entry, whatever is in it; keys are what they were; the
// Escape key alone swallows nothing.
func TestPaste(t *testing.T) {
	mark := string(newlineMark)
	for in, want := range map[string]string{
		"ls\r":                 "ls\r",
		"\x1b[A\x1b[1;3D\x1bb": "\x1b[A\x1b[1;3D\x1bb",
		"a\x1b\rb":             "a" + mark + "b",
		"\x1b[200~one\r\ntwo\rthree\nfour\x1b[201~\r":     "one" + mark + "two" + mark + "three" + mark + "four\r",
		"\x1b[200~rm\r\x1b[201~":                          "rm",
		"x\x1b[200~a\x03b\x1b[Ac\u009b1m\x04\x1b[201~":    "xab[Ac1m",
		"\x1b[200~\xff\x1b[201~":                          "\uFFFD",
		"\x1b[200~a\x1b[20~b\x1b[201~\x1b[200~c\x1b[201~": "a[20~bc",
		"y\x1b": "y",
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
			if got := typed(t, patient(r)); got != want {
				t.Errorf("%s: %q gave %q, want %q", name, in, got, want)
			}
		}
	}
}

// The Escape key alone means nothing, and swallows nothing of what follows.
func TestEscapeAlone(t *testing.T) {
	in, out := io.Pipe()
	k := newKeys(in)
	now := make(chan time.Time)
	k.escapeTimer = func() <-chan time.Time { return now }
	go func() {
		_, _ = out.Write([]byte("\x1b"))
		now <- time.Time{}
		for waits := true; waits; runtime.Gosched() {
			k.mu.Lock()
			waits = len(k.raw) > 0
			k.mu.Unlock()
		}
		_, _ = out.Write([]byte("y"))
		_ = out.Close()
	}()
	if got := typed(t, k); got != "y" {
		t.Errorf("%q", got)
	}
}

// A long paste is a label until the entry is done.
func TestLongPaste(t *testing.T) {
	long := strings.Repeat("a line\n", 500) + "the end"
	k := patient(strings.NewReader("look: " + pasteBegins + long + pasteEnds + " and " + pasteBegins + long + "2" + pasteEnds))
	line := typed(t, k)
	if len(line) > 200 || !strings.Contains(line, "501 lines") {
		t.Errorf("the line is %q", line)
	}
	if got := k.text(line); got != "look: "+long+" and "+long+"2" {
		t.Errorf("the entry is %d bytes", len(got))
	}
}

// Text typed before a question does not answer it, and comes back after it.
func TestTypedAhead(t *testing.T) {
	in, out := io.Pipe()
	k := newKeys(in)
	read := func(n int) string {
		b := make([]byte, n)
		must.Done(t)(io.ReadFull(k, b))
		return string(b)
	}
	send := func(s string) {
		must.Done(t)(out.Write([]byte(s)))
		if _, err := out.Write(nil); err != nil { // the pump has taken what came before
			t.Fatal(err)
		}
	}
	send("y\rmore")
	k.setAside()
	send("no")
	if got := read(2); got != "no" {
		t.Errorf("the answer was %q", got)
	}
	k.putBack()
	if got := read(6); got != "y\rmore" {
		t.Errorf("%q came back", got)
	}
	send("gone")
	k.drop()
	send("here")
	if got := read(4); got != "here" {
		t.Errorf("%q was kept", got)
	}
	_ = out.Close()
}

// The editor's question where the cursor is is answered at once: a terminal
// that has no answer would hold up the prompt for ever.
func TestCursorQuestion(t *testing.T) {
	in, _ := io.Pipe()
	k := newKeys(in)
	var out bytes.Buffer
	s := screen{&out, k}
	for _, p := range []string{" \b", "\x1b[6n", "> "} {
		if n, err := s.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	k.drop() // an interrupt comes between the question and its answer
	k.setAside()
	b := make([]byte, 6)
	if _, err := io.ReadFull(k, b); err != nil || string(b) != "\x1b[1;1R" || out.String() != "> " {
		t.Errorf("%q %v, written %q", b, err, out.String())
	}
}

func FuzzKeys(f *testing.F) {
	f.Add("\x1b[200~a\r\nb\x1b[201~\r", 1)
	f.Add("\x1b\x1b[20", 3)
	f.Fuzz(func(t *testing.T, in string, size int) {
		size = max(1, size%16)
		whole := typed(t, patient(strings.NewReader(in)))
		pieces := typed(t, patient(iotest.DataErrReader(&cut{strings.NewReader(in), size})))
		if whole != pieces {
			t.Fatalf("%q: whole %q, in pieces of %d %q", in, whole, size, pieces)
		}
		if body, ok := strings.CutPrefix(in, pasteBegins); ok {
			if text, rest, ended := strings.Cut(body, pasteEnds); ended && rest == "" && !strings.Contains(text, pasteBegins) {
				if !utf8.ValidString(whole) || strings.ContainsAny(whole, "\x03\x04\x1b\r\n") {
					t.Fatalf("%q was pasted as %q", in, whole)
				}
			}
		}
	})
}

// cut reads at most n bytes at a time.
type cut struct {
	r io.Reader
	n int
}

func (c *cut) Read(p []byte) (int, error) { return c.r.Read(p[:min(len(p), c.n)]) }
