package provider

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// message frames a payload. lie, if set, changes the lengths before they are summed.
func message(payload string, headers string, lie func(total, head *uint32)) []byte {
	total, head := uint32(16+len(headers)+len(payload)), uint32(len(headers))
	if lie != nil {
		lie(&total, &head)
	}
	b := binary.BigEndian.AppendUint32(nil, total)
	b = binary.BigEndian.AppendUint32(b, head)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	b = append(append(b, headers...), payload...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

func text(name, value string) string {
	return string([]byte{byte(len(name))}) + name + "\x07" + string([]byte{byte(len(value) >> 8), byte(len(value))}) + value
}

// SPEC 17.7: what event streams are, and what they may not be. The first three are
// published test messages of AWS's SDKs.
func TestEventStream(t *testing.T) {
	t.Parallel()
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 1
		return b
	}
	event := text(":message-type", "event") + text(":event-type", "chunk")
	good := message(`{"a":1}`, event, nil)
	all := "\x01a\x00\x01b\x01\x01c\x02x\x01d\x03xx\x01e\x04xxxx\x01f\x05xxxxxxxx\x01g\x06\x00\x02xx\x01h\x08xxxxxxxx\x01i\x09xxxxxxxxxxxxxxxx"
	for _, c := range []struct {
		name string
		body []byte
		want []string
		err  error
	}{
		{"no payload", []byte("\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2\x48\xeb\x7d\x98\xc8\xff"), nil, nil},
		{"no headers", []byte("\x00\x00\x00\x1d\x00\x00\x00\x00\xfd\x52\x8c\x5a{'foo':'bar'}\xc3\x65\x39\x36"), []string{"|{'foo':'bar'}"}, nil},
		{"a number as a header", []byte("\x00\x00\x00\x2d\x00\x00\x00\x10\x41\xc4\x24\xb8\x0aevent-type\x04\x00\x00\xa0\x0c{'foo':'bar'}\x36\xf4\x80\xa0"), []string{"|{'foo':'bar'}"}, nil},
		{"events", append(bytes.Clone(good), good...), []string{`chunk|{"a":1}`, `chunk|{"a":1}`}, nil},
		{"every type of header", message("{}", all+event, nil), []string{"chunk|{}"}, nil},
		{"an exception", message(`{"message":"slow"}`, text(":message-type", "exception")+text(":exception-type", "throttlingException"), nil), []string{`exception:throttlingException|{"message":"slow"}`}, nil},
		{"an error", message("", text(":message-type", "error")+text(":error-code", "Bad")+text(":error-message", "why"), nil), []string{`exception:Bad|{"message":"why"}`}, nil},
		{"a wrong checksum of the lengths", flip(good, 9), nil, errChecksum},
		{"a wrong length", flip(good, 3), nil, errChecksum},
		{"a wrong checksum of the message", flip(good, len(good)-1), nil, errChecksum},
		{"a changed payload", flip(good, len(good)-6), nil, errChecksum},
		{"a changed header", flip(good, 15), nil, errChecksum},
		{"the second is wrong", append(bytes.Clone(good), flip(good, len(good)-6)...), []string{`chunk|{"a":1}`}, errChecksum},
		{"headers longer than the message", message("{}", event, func(_, h *uint32) { *h = 5000 }), nil, errHeaders},
		{"headers by a byte too long", message("", event, func(_, h *uint32) { *h++ }), nil, errHeaders},
		{"huge headers", message("{}", event, func(n, h *uint32) { *n, *h = 16<<20-1, 8<<20 }), nil, errHeaders},
		{"shorter than itself", message("{}", "", func(n, _ *uint32) { *n = 4 }), nil, errHeaders},
		{"of no size", message("{}", "", func(n, _ *uint32) { *n = 0 }), nil, errHeaders},
		{"longer than the stream", message("{}", event, func(n, _ *uint32) { *n = 1 << 20 }), nil, errCut},
		{"too large", append(bytes.Clone(good), message("{}", "", func(n, _ *uint32) { *n = 1 << 30 })...), []string{`chunk|{"a":1}`}, errTooLarge},
		{"a header cut inside its name", message("{}", "\x20abc", nil), nil, errHeaders},
		{"a header cut inside its value", message("{}", "\x01a\x07\x00\x09abc", nil), nil, errHeaders},
		{"a header cut inside its length", message("{}", "\x01a\x07\x00", nil), nil, errHeaders},
		{"a header without a name", message("{}", "\x00\x07\x00\x01a", nil), nil, errHeaders},
		{"a header of no known type", message("{}", "\x01a\x0a", nil), nil, errHeaders},
		{"cut inside the lengths", good[:7], nil, errCut},
		{"cut inside a message", append(bytes.Clone(good), good[:20]...), []string{`chunk|{"a":1}`}, errCut},
		{"a server-sent stream instead", []byte("data: {}\n\n"), []string{"|{}"}, nil},
		{"a JSON text instead", []byte(`{"message":"no"}`), []string{`whole|{"message":"no"}`}, nil},
		{"a page instead", []byte("<html>"), nil, errForeign},
	} {
		for how, r := range map[string]io.Reader{"whole": bytes.NewReader(c.body), "by bytes": iotest.OneByteReader(bytes.NewReader(c.body))} {
			got, err := events(EventStream, r)
			if !errors.Is(err, c.err) || c.err == nil && err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("%s, %s: %q, %v; want %q, %v", c.name, how, got, err, c.want, c.err)
			}
		}
	}
}

// SPEC 17.7: a message that never ends is refused by its length, and what is kept of
// a stream is bounded.
func TestEventStreamIsBounded(t *testing.T) {
	t.Parallel()
	good := message(strings.Repeat("x", 1<<20), "", nil)
	var m messages
	for range 50 {
		for at := 0; at < len(good); at += 4000 {
			must.Do(t, m.feed(good[at:min(at+4000, len(good))], func(string, []byte) error { return nil }))
		}
		if cap(m.buf) > 4<<20 {
			t.Fatalf("%d bytes are kept", cap(m.buf))
		}
	}
}

// SPEC 17.7: whatever comes, nothing panics, and what is emitted was summed.
func FuzzEventStream(f *testing.F) {
	f.Add(message("{}", text(":event-type", "chunk"), nil), 3)
	f.Add(message("{}", "\x01a\x07\x00\x09abc", nil), 1)
	f.Fuzz(func(t *testing.T, body []byte, step int) {
		var m messages
		step = min(max(step, 1), 1<<20)
		for at := 0; at < len(body); at += step {
			if m.feed(body[at:min(at+step, len(body))], func(string, []byte) error { return nil }) != nil {
				return
			}
		}
		_ = m.close() // only that it does not panic
	})
}
