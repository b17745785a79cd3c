package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// readAll reads messages until the stream ends.
func readAll(t *testing.T, r io.Reader) (got []string, skipped int, err error) {
	s := newStream(r, io.Discard, func() error { return nil })
	defer s.Close()
	s.skipped = func(string) { skipped++ }
	for {
		var m json.RawMessage
		if err := s.ReadObject(&m); err != nil {
			return got, skipped, err
		}
		got = append(got, string(m))
	}
}

// SPEC 12.3: JSON-RPC over stdio, however the bytes come.
func TestFramingAtEveryByte(t *testing.T) {
	a, b := `{"jsonrpc":"2.0","method":"a","params":{"s":"🐾 漢字 \r\n\r\n Content-Length: 3"}}`, `{"id":1,"result":null}`
	all := "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n" + frame(a) + "content-length:" + fmt.Sprint(len(b)) + "\r\n\r\n" + b + frame(a)
	for cut := range len(all) {
		r := io.MultiReader(strings.NewReader(all[:cut]), strings.NewReader(all[cut:]))
		got, _, err := readAll(t, r)
		if len(got) != 3 || got[0] != a || got[1] != b || got[2] != a || !errors.Is(err, io.EOF) {
			t.Fatalf("cut at %d: %q, %v", cut, got, err)
		}
	}
	if got, _, _ := readAll(t, iotest.OneByteReader(strings.NewReader(all))); len(got) != 3 {
		t.Errorf("byte by byte: %q", got)
	}
	// Cut off anywhere, no half message comes out.
	for cut := range len(all) {
		got, _, err := readAll(t, strings.NewReader(all[:cut]))
		if len(got) > 2 || err == nil {
			t.Fatalf("cut off at %d: %q, %v", cut, got, err)
		}
	}
}

// SPEC 12.3: what was read of a broken message is no part of the next one.
func TestBrokenMessageLeavesNothing(t *testing.T) {
	s := newStream(strings.NewReader(frame(`{"method":"broken","id":"x"}`)+frame(`{"id":2}`)), io.Discard, func() error { return nil })
	defer s.Close()
	var m struct {
		Method string
		ID     int
	}
	if err := s.ReadObject(&m); err != nil || m.Method != "" || m.ID != 2 {
		t.Errorf("%+v, %v", m, err)
	}
}

// SPEC 12.3: what a server sends cannot harm who reads it.
func TestFramingBounds(t *testing.T) {
	good := frame(`{"jsonrpc":"2.0","method":"m"}`)
	for _, c := range []struct {
		name, in string
		messages int
		skipped  int
		err      error
	}{
		{"printed lines before", "Debugger attached.\nwarning: a: b\n" + good, 1, 2, io.EOF},
		{"bare newlines", "\n\n" + good + "\r\n" + good, 2, 0, io.EOF},
		{"line feeds alone", strings.ReplaceAll(good, "\r\n", "\n"), 1, 0, io.EOF},
		{"another header", "X-Other: 1\r\n" + good, 1, 1, io.EOF},
		{"a header after the length", "Content-Length: 2\r\nX-Other: 1\r\n\r\n{}", 1, 0, io.EOF},
		{"no JSON, then a message", frame(`{"jsonrpc":`) + good, 1, 1, io.EOF},
		{"empty body, then a message", "Content-Length: 0\r\n\r\n" + good, 1, 1, io.EOF},
		{"nothing but no JSON", strings.Repeat(frame("?"), badLimit+1), 0, badLimit, errBad},
		{"negative length", "Content-Length: -1\r\n\r\n", 0, 0, errFrames},
		{"length of words", "Content-Length: many\r\n\r\n", 0, 0, errFrames},
		{"length too large for a number", "Content-Length: 99999999999999999999\r\n\r\n", 0, 0, errFrames},
		{"huge", fmt.Sprintf("Content-Length: %d\r\n\r\n", messageLimit+1), 0, 0, errHuge},
		{"a claim without the bytes", fmt.Sprintf("Content-Length: %d\r\n\r\n{}", messageLimit), 0, 0, io.EOF},
		{"an endless header", strings.Repeat("x", 1<<20), 0, 0, errFrames},
		{"endless lines", strings.Repeat("hello, I am a log\n", 100_000), 0, -1, errFrames},
		{"cut in the body", good[:len(good)-3], 0, 0, io.EOF},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, skipped, err := readAll(t, strings.NewReader(c.in))
			if len(got) != c.messages || c.skipped >= 0 && skipped != c.skipped || !errors.Is(err, c.err) {
				t.Errorf("got %d messages, %d skipped, %v; want %d, %d, %v", len(got), skipped, err, c.messages, c.skipped, c.err)
			}
		})
	}
}

// SPEC 12.3: a large message is whole.
func TestLargeMessage(t *testing.T) {
	body := `{"jsonrpc":"2.0","method":"m","params":"` + strings.Repeat("x", 8<<20) + `"}`
	got, _, _ := readAll(t, strings.NewReader(frame(body)))
	if len(got) != 1 || len(got[0]) != len(body) {
		t.Error("a message of 8 MB did not come through")
	}
}

// SPEC 12.3: a server that does not read hangs nobody.
func TestUnread(t *testing.T) {
	r, w := io.Pipe() // nobody reads
	defer r.Close()
	s := newStream(strings.NewReader(""), w, func() error { return r.Close() })
	defer s.Close()
	big := strings.Repeat("x", 16<<20)
	var err error
	for range 10 {
		if err = s.WriteObject(big); err != nil {
			break
		}
	}
	if !errors.Is(err, errUnread) {
		t.Errorf("got %v", err)
	}
	_ = s.Close()
	if err := s.WriteObject(1); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// What is written is read again.
func TestRoundTrip(t *testing.T) {
	r, w := io.Pipe()
	out := newStream(strings.NewReader(""), w, w.Close)
	in := newStream(r, io.Discard, r.Close)
	defer in.Close()
	defer out.Close()
	for _, want := range []string{`"a"`, `{"x":"漢字"}`, `[1,2]`} {
		must.Do(t, out.WriteObject(json.RawMessage(want)))
		var got json.RawMessage
		if err := in.ReadObject(&got); err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
