package provider

import (
	"bytes"
	"encoding/json"
	"errors"
)

// maxEvent limits one event, in bytes. A reply of one event may have some MB (a whole
// Responses object, an image), but a server that never ends a line must not fill the
// memory.
const maxEvent = 24 << 20

var (
	errTooLarge = errors.New("one event of the reply is larger than 24 MB")
	errCut      = errors.New("the reply was cut off")
)

// emit is called for each event. Its data is valid only during the call.
type emit func(name string, data []byte) error

// sse splits a server-sent event stream that arrives in chunks of any size. It accepts
// LF, CRLF and CR as line ends, drops a BOM and comments, joins data lines with a
// newline, and ignores unknown fields.
type sse struct {
	line    []byte // a line whose end has not come yet
	skipLF  bool   // the last byte was a CR that ended a line
	begun   bool   // the BOM has been handled
	name    string
	data    []byte
	hasData bool
	known   bool // a comment or a known field was seen: this is an event stream
}

func (s *sse) feed(chunk []byte, out emit) error {
	for len(chunk) > 0 {
		if s.skipLF {
			s.skipLF = false
			if chunk[0] == '\n' {
				chunk = chunk[1:]
				continue
			}
		}
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			end = len(chunk)
		}
		if cr := bytes.IndexByte(chunk[:end], '\r'); cr >= 0 {
			end = cr
		}
		if len(s.line)+len(s.data)+end > maxEvent {
			return errTooLarge
		}
		if end == len(chunk) {
			s.line = append(s.line, chunk...)
			return nil
		}
		line := chunk[:end]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
		}
		s.skipLF = chunk[end] == '\r'
		chunk = chunk[end+1:]
		err := s.take(line, out)
		s.line = emptied(s.line)
		if err != nil {
			return err
		}
	}
	return nil
}

// keptBuffer is the largest buffer that is reused for the next event, in bytes: after one
// event of 20 MB, the rest of a stream must not use that much memory.
const keptBuffer = 256 << 10

// emptied returns the buffer without contents, or nil if it is too large to reuse.
func emptied(b []byte) []byte {
	if cap(b) > keptBuffer {
		return nil
	}
	return b[:0]
}

// take handles one line, without its line end.
func (s *sse) take(line []byte, out emit) error {
	if !s.begun {
		s.begun = true
		line = bytes.TrimPrefix(line, []byte(bom))
	}
	if len(line) == 0 {
		return s.dispatch(out)
	}
	// Some gateways indent the first line; no known field starts with a blank.
	field, value, _ := bytes.Cut(bytes.TrimLeft(line, " \t"), []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if s.hasData {
			s.data = append(s.data, '\n')
		}
		s.data = append(s.data, value...)
		s.hasData, s.known = true, true
	case "event":
		s.name, s.known = string(value), true
	case "", "id", "retry":
		s.known = true
	}
	return nil
}

func (s *sse) dispatch(out emit) error {
	name, data, has := s.name, s.data, s.hasData
	s.name, s.data, s.hasData = "", emptied(s.data), false
	if !has || len(bytes.TrimSpace(data)) == 0 {
		return nil
	}
	return out(name, data)
}

// close ends the stream. Some hosts omit the last blank line, so a complete event counts
// without it; an incomplete one means that the stream was cut off (errCut).
func (s *sse) close(out emit) error {
	if len(s.line) > 0 {
		start := bytes.TrimLeft(s.line, " \t")
		for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
			n := min(len(field), len(start))
			s.known = s.known || field[:n] == string(start[:n])
		}
		line := s.line
		s.line = nil
		if err := s.take(line, out); err != nil {
			return err
		}
	}
	if !s.hasData {
		return nil
	}
	if data := bytes.TrimSpace(s.data); string(data) != "[DONE]" && !json.Valid(data) {
		return errCut
	}
	return s.dispatch(out)
}

// texts splits consecutive JSON objects, separated by blanks and commas, or the elements
// of one array: NDJSON, a Gemini array, or a single body.
type texts struct {
	value    []byte // the value that is being read
	depth    int
	inString bool
	escaped  bool
	array    bool // inside the outer array
	closed   bool // after the outer array
}

var errNotJSON = errors.New("the reply is not JSON")

func (t *texts) feed(chunk []byte, out emit) error {
	from := 0 // where the value that is being read starts in chunk
	for i, c := range chunk {
		if t.depth == 0 {
			begins, err := t.between(c)
			if err != nil {
				return err
			}
			if begins {
				t.depth, from = 1, i
			}
			continue
		}
		if t.inString {
			switch {
			case t.escaped:
				t.escaped = false
			case c == '\\':
				t.escaped = true
			case c == '"':
				t.inString = false
			}
			continue
		}
		switch c {
		case '"':
			t.inString = true
		case '{', '[':
			t.depth++
		case '}', ']':
			if t.depth--; t.depth > 0 {
				continue
			}
			value := chunk[from : i+1]
			if len(t.value) > 0 {
				t.value = append(t.value, value...)
				value = t.value
			}
			err := out("", value)
			t.value = t.value[:0]
			if err != nil {
				return err
			}
		}
	}
	if t.depth > 0 {
		if t.value = append(t.value, chunk[from:]...); len(t.value) > maxEvent {
			return errTooLarge
		}
	}
	return nil
}

// between handles a byte outside all values and reports whether a value begins with it.
func (t *texts) between(c byte) (begins bool, err error) {
	switch c {
	case ' ', '\t', '\r', '\n', ',', 0xEF, 0xBB, 0xBF: // also a BOM
		return false, nil
	case '{':
		return !t.closed, nil
	case '[':
		if t.array || t.closed {
			return false, errNotJSON
		}
		t.array = true
		return false, nil
	case ']':
		if !t.array {
			return false, errNotJSON
		}
		t.array, t.closed = false, true
		return false, nil
	}
	return false, errNotJSON
}

func (t *texts) close() error {
	if t.depth > 0 || t.array {
		return errCut
	}
	return nil
}
