package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Limits for the data that a server sends, and for data that it has not read.
const (
	messageLimit = 64 << 20 // bytes of one message
	headerLimit  = 8 << 10  // bytes of one header line
	strayLimit   = 1 << 20  // bytes before a header that are not part of a message
	badLimit     = 20       // messages in a row that are not JSON-RPC
	unreadLimit  = 64 << 20 // bytes that wait for the server to read them
)

// Errors of the framing. Each ends the connection.
var (
	errHuge   = errors.New("the server sent a message of over 64 MB")
	errFrames = errors.New("the server does not speak the protocol: its messages have no Content-Length")
	errBad    = errors.New("the server does not speak the protocol: its messages are not JSON-RPC")
	errUnread = errors.New("the server does not read its input")
	errClosed = errors.New("the connection to the server is closed")
)

// stream implements the framing of the protocol: headers, an empty line, a body. It is a
// jsonrpc2.ObjectStream. Writing never waits for the server, so a server that hangs does
// not block the caller.
type stream struct {
	r     *bufio.Reader
	close func() error
	// skipped, if set, is called with input that is not a message.
	skipped func(string)

	mu     sync.Mutex
	wake   *sync.Cond
	queue  [][]byte
	size   int
	closed bool
	failed error
}

// newStream returns a stream on a pair of pipes. closing ends the process of both pipes.
func newStream(r io.Reader, w io.Writer, closing func() error) *stream {
	s := &stream{r: bufio.NewReaderSize(r, 64<<10), close: closing, skipped: func(string) {}}
	s.wake = sync.NewCond(&s.mu)
	go s.write(w)
	return s
}

// write sends the queued messages until the stream is closed or writing fails.
func (s *stream) write(w io.Writer) {
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.closed {
			s.wake.Wait()
		}
		if s.closed {
			s.mu.Unlock()
			return
		}
		next := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()
		_, err := w.Write(next)
		s.mu.Lock()
		s.size -= len(next)
		if err != nil {
			s.failed = err
			s.queue = nil
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *stream) WriteObject(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n", len(body))
	b.Write(body)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return errClosed
	case s.failed != nil:
		return s.failed
	case s.size > 0 && s.size+b.Len() > unreadLimit:
		return errUnread
	}
	s.queue = append(s.queue, b.Bytes())
	s.size += b.Len()
	s.wake.Signal()
	return nil
}

// ReadObject is part of jsonrpc2.ObjectStream. A message that is not JSON-RPC is skipped:
// later ones may be valid.
func (s *stream) ReadObject(v any) error {
	for range badLimit {
		body, err := s.frame()
		if err != nil {
			return err
		}
		if err = json.Unmarshal(body, v); err == nil {
			return nil
		}
		// Fields that were decoded before the error must not be used.
		reflect.ValueOf(v).Elem().SetZero()
		s.skipped(fmt.Sprintf("message of %d bytes: %v", len(body), err))
	}
	return errBad
}

// frame reads the body of the next message. Lines before its headers are other output of
// the server, and are skipped.
func (s *stream) frame() ([]byte, error) {
	length, stray := -1, 0
	for {
		line, err := s.line()
		if err != nil {
			return nil, err
		}
		if line == "" {
			if length >= 0 {
				break
			}
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		switch {
		case ok && strings.EqualFold(strings.TrimSpace(name), "Content-Length"):
			n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 63)
			if err != nil {
				return nil, errFrames
			}
			if n > messageLimit {
				return nil, errHuge
			}
			length = int(n)
		case length >= 0 || ok && strings.EqualFold(strings.TrimSpace(name), "Content-Type"):
		default:
			if stray += len(line) + 1; stray > strayLimit {
				return nil, errFrames
			}
			s.skipped("printed: " + line)
		}
	}
	// The length is only a claim: memory is allocated as bytes arrive.
	var body bytes.Buffer
	if _, err := io.CopyN(&body, s.r, int64(length)); err != nil {
		return nil, err
	}
	return body.Bytes(), nil
}

// line reads one line without its end, cut at headerLimit.
func (s *stream) line() (string, error) {
	var out []byte
	for {
		part, err := s.r.ReadSlice('\n')
		if room := headerLimit - len(out); len(part) > room {
			out = append(out, part[:room]...)
		} else {
			out = append(out, part...)
		}
		switch {
		case err == nil:
			return strings.TrimRight(string(out), "\r\n"), nil
		case errors.Is(err, bufio.ErrBufferFull) && len(out) >= headerLimit:
			return "", errFrames
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

func (s *stream) Close() error {
	s.mu.Lock()
	s.closed = true
	s.queue = nil
	s.wake.Broadcast()
	s.mu.Unlock()
	return s.close()
}
