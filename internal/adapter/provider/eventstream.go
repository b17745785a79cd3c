package provider

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// The framing of Amazon's event streams. A message consists of its length, the length of
// its headers, their checksum, the headers, the payload, and a checksum of everything
// before.
const (
	preludeSize = 12 // two lengths and their checksum
	trailerSize = 4
	// maxHeaders is the format's limit for the headers of a message, in bytes.
	maxHeaders = 128 << 10
)

var (
	errChecksum = errors.New("a message of the event stream has a wrong checksum")
	errHeaders  = errors.New("the headers of a message of the event stream cannot be read")
)

// ExceptionPrefix begins the name of an event that is an error. The type of the exception
// follows it.
const ExceptionPrefix = "exception:"

// messages splits an event stream that arrives in chunks of any size. It emits a message
// only after it has verified both checksums.
type messages struct {
	buf []byte
}

func (m *messages) feed(chunk []byte, out emit) error {
	m.buf = append(m.buf, chunk...)
	used := 0
	defer func() {
		if used > 0 { // so that a large message is not moved with each chunk
			m.buf = append(emptied(m.buf), m.buf[used:]...)
		}
	}()
	for {
		rest := m.buf[used:]
		size, err := messageSize(rest)
		if err != nil {
			return err
		}
		if size == 0 || len(rest) < size {
			return nil
		}
		used += size
		if err := dispatch(rest[:size], out); err != nil {
			return err
		}
	}
}

// messageSize returns the size of the message that b begins with; 0 while it is not
// known. The lengths are used only after their checksum is verified.
func messageSize(b []byte) (int, error) {
	if len(b) < preludeSize {
		return 0, nil
	}
	if crc32.ChecksumIEEE(b[:8]) != binary.BigEndian.Uint32(b[8:]) {
		return 0, errChecksum
	}
	size, headers := uint64(binary.BigEndian.Uint32(b)), uint64(binary.BigEndian.Uint32(b[4:]))
	switch {
	case size > maxEvent:
		return 0, errTooLarge
	case headers > maxHeaders, size < preludeSize+headers+trailerSize:
		return 0, errHeaders
	}
	return int(size), nil
}

// dispatch verifies the checksum of a whole message and emits it.
func dispatch(b []byte, out emit) error {
	end := len(b) - trailerSize
	if crc32.ChecksumIEEE(b[:end]) != binary.BigEndian.Uint32(b[end:]) {
		return errChecksum
	}
	split := preludeSize + int(binary.BigEndian.Uint32(b[4:]))
	h, err := messageHeaders(b[preludeSize:split])
	if err != nil {
		return err
	}
	payload := b[split:end]
	switch h[":message-type"] {
	case "exception":
		return out(ExceptionPrefix+h[":exception-type"], payload)
	case "error":
		said, err := json.Marshal(map[string]string{"message": h[":error-message"]})
		if err != nil {
			return err
		}
		return out(ExceptionPrefix+h[":error-code"], said)
	}
	if len(payload) == 0 {
		return nil
	}
	return out(h[":event-type"], payload)
}

// headerSizes is the size of a header's value by its type, in bytes; -1: a length of two
// bytes precedes the value.
var headerSizes = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: -1, 7: -1, 8: 8, 9: 16}

const stringHeader = 7

// messageHeaders returns the text headers of a message whose name begins with a colon.
func messageHeaders(b []byte) (map[string]string, error) {
	out := map[string]string{}
	for len(b) > 0 {
		n := int(b[0])
		if n == 0 || len(b) < 1+n+1 {
			return nil, errHeaders
		}
		name, kind := string(b[1:1+n]), b[1+n]
		b = b[2+n:]
		if int(kind) >= len(headerSizes) {
			return nil, fmt.Errorf("%w: type %d", errHeaders, kind)
		}
		size := headerSizes[kind]
		if size < 0 {
			if len(b) < 2 {
				return nil, errHeaders
			}
			size, b = int(binary.BigEndian.Uint16(b)), b[2:]
		}
		if len(b) < size {
			return nil, errHeaders
		}
		if kind == stringHeader && strings.HasPrefix(name, ":") {
			out[name] = string(b[:size])
		}
		b = b[size:]
	}
	return out, nil
}

// close returns errCut if the stream ends inside a message.
func (m *messages) close() error {
	if len(m.buf) > 0 {
		return errCut
	}
	return nil
}
