package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// events reads a stream and returns its events, one a line, and how it ended.
func events(framing Framing, r io.Reader) (out []string, err error) {
	f := frames{
		framing: framing,
		event: func(name string, data []byte) error {
			out = append(out, fmt.Sprintf("%s|%s", name, data))
			return nil
		},
		whole: func(body []byte) error {
			out = append(out, fmt.Sprintf("whole|%s", body))
			return nil
		},
	}
	err = f.read(r)
	return out, err
}

// SPEC 5.1: what servers send, in every form that was seen or that the
// standard allows.
func TestFrames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5<<20)
	for _, c := range []struct {
		name    string
		framing Framing
		body    string
		want    []string
		err     error
	}{
		{"LF", SSE, "event: a\ndata: 1\n\ndata: 2\n\n", []string{"a|1", "|2"}, nil},
		{"CRLF", SSE, "event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", []string{"a|1", "|2"}, nil},
		{"CR", SSE, "event: a\rdata: 1\r\rdata: 2\r\r", []string{"a|1", "|2"}, nil},
		{"mixed ends", SSE, "data: 1\r\n\ndata: 2\n\r\ndata: 3\r\r\n", []string{"|1", "|2", "|3"}, nil},
		{"BOM", SSE, "\ufeffdata: 1\n\n", []string{"|1"}, nil},
		{"comments", SSE, ": hello\n\n:\ndata: 1\n: in between\n\n", []string{"|1"}, nil},
		{"several data lines", SSE, "data: {\ndata: }\n\n", []string{"|{\n}"}, nil},
		{"no blank after the colon", SSE, "data:1\n\n", []string{"|1"}, nil},
		{"only one blank goes", SSE, "data:  1\n\n", []string{"| 1"}, nil},
		{"indented", SSE, "  data: 1\n\n", []string{"|1"}, nil},
		{"fields unknown", SSE, "foo: bar\nid: 7\nretry: 10\ndata: 1\nfoo\n\n", []string{"|1"}, nil},
		{"an event without data", SSE, "event: ping\n\ndata: 1\n\n", []string{"|1"}, nil},
		{"empty data", SSE, "data\n\ndata:\n\ndata: 1\n\n", []string{"|1"}, nil},
		{"no final blank line", SSE, "data: 1\n\ndata: {}\n", []string{"|1", "|{}"}, nil},
		{"no final newline", SSE, "data: [DONE]", []string{"|[DONE]"}, nil},
		{"cut inside data", SSE, "data: 1\n\ndata: {\"a\":", []string{"|1"}, errCut},
		{"cut inside a field", SSE, "da", nil, nil},
		{"blank lines first", SSE, "\r\n\n data: 1\n\n", []string{"|1"}, nil},
		{"many MB", SSE, "data: " + long + "\n\n", []string{"|" + long}, nil},
		{"only comments", SSE, ": wait\n\n", nil, nil},
		{"nothing", SSE, "", nil, errNothing},
		{"blanks", SSE, " \r\n\t", nil, errNothing},
		{"HTML", SSE, "\n<!doctype html><html>", nil, errForeign},
		{"garbage", SSE, "\x00\x01\x02 what\n\n", nil, errForeign},
		{"a sentence", SSE, "Not found.", nil, errForeign},
		{"one JSON text", SSE, " {\"a\": [1, \"}\"]}\n", []string{`whole|{"a": [1, "}"]}`}, nil},
		{"one JSON text after a BOM", SSE, "\ufeff{}", []string{"whole|{}"}, nil},
		{"several JSON texts", SSE, "{\"a\":1}\n{\"a\":2}\n{}", []string{`|{"a":1}`, `|{"a":2}`, `|{}`}, nil},
		{"half a JSON text", SSE, `{"a": "}`, nil, errCut},
		{"JSON and then not", SSE, `{} oops`, nil, errNotJSON},
		{"an array", SSE, "[{\"a\":1}\n,\r\n{\"b\":\"]\"}]", []string{`|{"a":1}`, `|{"b":"]"}`}, nil},
		{"half an array", SSE, `[{"a":1},`, []string{`|{"a":1}`}, errCut},
		{"NDJSON", NDJSON, "{\"a\":1}\n{\"b\":\"\\\"}\"}\r\n", []string{`|{"a":1}`, `|{"b":"\"}"}`}, nil},
		{"half a line", NDJSON, "{\"a\":1}\n{\"b\"", []string{`|{"a":1}`}, errCut},
		{"events where lines were due", NDJSON, "data: {}\n\n", []string{"|{}"}, nil},
	} {
		for how, r := range map[string]io.Reader{
			"whole":       strings.NewReader(c.body),
			"bytes":       iotest.OneByteReader(strings.NewReader(c.body)),
			"end at hand": iotest.DataErrReader(strings.NewReader(c.body)),
			"halves":      iotest.HalfReader(strings.NewReader(c.body)),
		} {
			got, err := events(c.framing, r)
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("%s, %s: error %v, want %v", c.name, how, err, c.err)
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%s, %s: %.200q, want %.200q", c.name, how, got, c.want)
			}
		}
	}
}

// Wherever a stream is cut into chunks, the events are the same.
func TestFramesSplitAnywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOf(rapid.SampledFrom([]string{
			"data: {\"a\":\"é\"}", "data: x", "event: e", ": c", "id: 1", "", "data", "data:", "\ufeffdata: y", "é", "{", "}",
		})).Draw(t, "lines")
		body := ""
		for _, l := range lines {
			body += l + rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(t, "end")
		}
		framing := rapid.SampledFrom([]Framing{SSE, NDJSON}).Draw(t, "framing")
		want, wantErr := events(framing, strings.NewReader(body))
		got, err := events(framing, &drawn{t, []byte(body)})
		if fmt.Sprint(want, wantErr) != fmt.Sprint(got, err) {
			t.Fatalf("%q: whole %q %v, split %q %v", body, want, wantErr, got, err)
		}
	})
}

// drawn returns its bytes in chunks of drawn sizes.
type drawn struct {
	t    *rapid.T
	rest []byte
}

func (d *drawn) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, d.rest[:min(len(d.rest), rapid.IntRange(1, 5).Draw(d.t, "chunk"))])
	d.rest = d.rest[n:]
	return n, nil
}

// The readers take any bytes: no panic, no hang, the same however they are cut.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		"data: {}\n\n", "event: a\r\ndata: 1\r\rdata: 2\n", "[{},{}]", "{\"a\":\"\\\"\"}{}", "\ufeff{}", "\xef\xbb", "<html>", ": c\n", "",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, body []byte, nd bool) {
		framing := SSE
		if nd {
			framing = NDJSON
		}
		want, wantErr := events(framing, bytes.NewReader(body))
		got, err := events(framing, iotest.OneByteReader(bytes.NewReader(body)))
		// Where garbage ends the reading, how much was read before may differ.
		if wantErr == nil && err == nil && fmt.Sprint(want) != fmt.Sprint(got) {
			t.Fatalf("whole %q, bytes %q", want, got)
		}
		if (wantErr == nil) != (err == nil) {
			t.Fatalf("whole %v, bytes %v", wantErr, err)
		}
	})
}
