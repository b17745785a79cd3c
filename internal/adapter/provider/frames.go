package provider

import (
	"bytes"
	"errors"
	"io"
)

// frames reads a whole body, detects its format by its first byte, and passes its events
// to a decoder as they arrive.
type frames struct {
	framing Framing
	event   emit
	whole   func(body []byte) error

	start []byte // the first bytes of the body, at most 512, for a message
}

// Errors for bodies that are not a reply; they appear in the message.
var (
	errNothing = errors.New("nothing")
	errForeign = errors.New("not a reply")
)

// read reads r to its end. It returns errNothing for an empty body, errForeign for a body
// that is neither events nor JSON (start has its first bytes), errCut for half a stream,
// or an error of r or of the decoder.
func (f *frames) read(r io.Reader) error {
	var feed func([]byte) error
	var last func() error
	var lead []byte // bytes before the format is known: blanks, a BOM
	hold := bodyBuffers.Get().(*[bodyBuffer]byte)
	defer bodyBuffers.Put(hold)
	buf := hold[:]
	for {
		n, err := r.Read(buf)
		chunk := buf[:n]
		if len(f.start) < 512 {
			f.start = append(f.start, chunk[:min(n, 512-len(f.start))]...)
		}
		if feed == nil {
			lead = append(lead, chunk...)
			chunk = lead
			if first, ok := firstByte(lead); ok {
				if feed, last = f.choose(first); feed == nil {
					return errForeign
				}
			} else if len(lead) > 1<<20 {
				return errForeign
			}
		}
		if feed != nil && len(chunk) > 0 {
			lead = nil
			if ferr := feed(chunk); ferr != nil {
				return ferr
			}
		}
		if err == io.EOF {
			if feed == nil {
				return errNothing
			}
			return last()
		}
		if err != nil {
			return err
		}
	}
}

const bom = "\ufeff"

// firstByte returns the first byte after blanks and a BOM; false if it has not come yet.
func firstByte(b []byte) (byte, bool) {
	b = bytes.TrimLeft(b, blanks)
	if len(b) < len(bom) && string(b) == bom[:len(b)] {
		return 0, false
	}
	b = bytes.TrimLeft(bytes.TrimPrefix(b, []byte(bom)), blanks)
	if len(b) == 0 {
		return 0, false
	}
	return b[0], true
}

// choose returns the splitter for a body by its first byte; nil for HTML. last is called
// at the end of the body.
func (f *frames) choose(first byte) (feed func([]byte) error, last func() error) {
	var events sse
	var values texts
	switch {
	case first == '<':
		return nil, nil
	case f.framing == EventStream && first == 0: // a length below 16 MB
		var binary messages
		return func(chunk []byte) error { return binary.feed(chunk, f.event) }, binary.close
	case first != '{' && first != '[':
		return func(chunk []byte) error { return events.feed(chunk, f.event) }, func() error {
			if err := events.close(f.event); err != nil {
				return err
			}
			if !events.known {
				return errForeign
			}
			return nil
		}
	case f.framing == NDJSON || first == '[':
		return func(chunk []byte) error { return values.feed(chunk, f.event) }, values.close
	}
	// One JSON text where events were promised: it is the whole reply, unless another
	// text follows it.
	var only []byte
	count := 0
	each := func(_ string, data []byte) error {
		switch count++; count {
		case 1:
			only = bytes.Clone(data)
			return nil
		case 2:
			if err := f.event("", only); err != nil {
				return err
			}
		}
		return f.event("", data)
	}
	return func(chunk []byte) error { return values.feed(chunk, each) }, func() error {
		if err := values.close(); err != nil {
			return err
		}
		if count == 1 {
			return f.whole(only)
		}
		return nil
	}
}
