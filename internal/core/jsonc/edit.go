package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// The reasons why a text cannot be changed in place.
var (
	ErrNotObject = errors.New("it is not an object in braces")
	ErrBroken    = errors.New("it is not complete JSON")
)

// member is a key of an object and the position of its value.
type member struct {
	name       string
	from       int // of the key
	start, end int // of the value
}

// object is the content between two braces.
type object struct {
	members     []member
	open, close int // of the braces
}

// Get returns the value at the path of keys, as it is written, and whether there
// is one.
func Get(src []byte, keys ...string) (value []byte, ok bool, err error) {
	at, end, err := whole(src)
	plain := Plain(src)
	for _, key := range keys {
		if err != nil {
			return nil, false, err
		}
		var o object
		if o, err = read(plain, at); err != nil {
			return nil, false, err
		}
		var m *member
		if m, err = o.member(key); m == nil || err != nil {
			return nil, false, err
		}
		at, end = m.start, m.end
	}
	if err != nil {
		return nil, false, err
	}
	return bytes.TrimSpace(plain[at:end]), true, nil
}

// Set puts a value at the path of keys and creates the missing objects. Everything
// else, including comments, stays as it is written. An empty text counts as an
// empty object.
func Set(src, value []byte, keys ...string) ([]byte, error) {
	if len(bytes.TrimSpace(Plain(src))) == 0 {
		src = append(bytes.Clone(src), "{\n}\n"...)
	}
	if !json.Valid(value) || len(keys) == 0 {
		return nil, ErrBroken
	}
	plain := Plain(src)
	at, _, err := whole(src)
	if err != nil {
		return nil, err
	}
	for i, key := range keys {
		o, err := read(plain, at)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(keys[:i], "."), err)
		}
		m, err := o.member(key)
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			for _, k := range backwards(keys[i+1:]) {
				name, _ := json.Marshal(k)
				value = fmt.Appendf(nil, "{%s: %s}", name, value)
			}
			out := o.insert(src, key, value)
			if !json.Valid(Plain(out)) { // such as {,}
				return nil, ErrBroken
			}
			return out, nil
		case i == len(keys)-1:
			return splice(src, m.start, m.end, value), nil
		}
		at = m.start
	}
	return nil, ErrBroken
}

// Remove takes out the value at the path of keys, with its key. Everything else stays as it
// is written; a comma may be left behind the last value.
func Remove(src []byte, keys ...string) ([]byte, error) {
	at, _, err := whole(src)
	plain := Plain(src)
	for i, key := range keys {
		if err != nil {
			return nil, err
		}
		var o object
		if o, err = read(plain, at); err != nil {
			return nil, fmt.Errorf("%s: %w", strings.Join(keys[:i], "."), err)
		}
		m, err := o.member(key)
		switch {
		case err != nil:
			return nil, err
		case m == nil:
			return src, nil
		case i < len(keys)-1:
			at = m.start
			continue
		}
		from, to := m.from, m.end
		if comma := o.close - len(bytes.TrimLeft(src[to:o.close], " \t\r\n")); comma < o.close && src[comma] == ',' {
			to = o.close - len(bytes.TrimLeft(src[comma+1:o.close], " \t"))
		}
		line := bytes.LastIndexByte(src[:from], '\n') + 1
		if end := bytes.IndexByte(src[to:], '\n'); end >= 0 && len(bytes.TrimSpace(src[line:from]))+len(bytes.TrimSpace(src[to:to+end])) == 0 {
			from, to = line, to+end+1 // it had its own line
		}
		return splice(src, from, to, nil), nil
	}
	return src, err
}

func backwards(s []string) []string {
	out := make([]string, 0, len(s))
	for i := len(s) - 1; i >= 0; i-- {
		out = append(out, s[i])
	}
	return out
}

// insert adds a member after the existing ones, on its own line if the closing
// brace has its own line.
func (o object) insert(src []byte, key string, value []byte) []byte {
	name, _ := json.Marshal(key)
	text := fmt.Sprintf("%s: %s", name, value)
	last, comma := o.open+1, false
	if n := len(o.members); n > 0 {
		last = o.members[n-1].end
		comma = hasComma(src[last:o.close])
	}
	line := bytes.LastIndexByte(src[:o.close], '\n') + 1
	if own := len(bytes.TrimSpace(src[line:o.close])) == 0 && line > o.open; own {
		indent := string(src[line:o.close]) + "  "
		if n := len(o.members); n > 0 {
			first := bytes.LastIndexByte(src[:o.members[0].start], '\n') + 1
			if lead := src[first:o.members[0].start]; first > o.open {
				indent = string(lead[:len(lead)-len(bytes.TrimLeft(lead, " \t"))])
			}
		}
		if comma {
			text += ","
		}
		out := splice(src, line, line, []byte(indent+text+"\n"))
		if len(o.members) > 0 && !comma {
			out = splice(out, last, last, []byte(","))
		}
		return out
	}
	before := ""
	if len(o.members) > 0 && !comma {
		before = ", "
	}
	at := o.close
	if !comma {
		at = last
	}
	return splice(src, at, at, []byte(before+text))
}

// hasComma reports whether there is a comma outside of comments between the last
// value and the closing brace.
func hasComma(gap []byte) bool {
	for i := 0; i < len(gap); i++ {
		switch {
		case gap[i] == ',':
			return true
		case bytes.HasPrefix(gap[i:], []byte("//")):
			if n := bytes.IndexByte(gap[i:], '\n'); n >= 0 {
				i += n
			} else {
				return false
			}
		case bytes.HasPrefix(gap[i:], []byte("/*")):
			n := bytes.Index(gap[i+2:], []byte("*/"))
			if n < 0 {
				return false
			}
			i += n + 3
		}
	}
	return false
}

func splice(src []byte, from, to int, with []byte) []byte {
	out := append([]byte{}, src[:from]...)
	return append(append(out, with...), src[to:]...)
}

// member finds a key like encoding/json, ignoring case.
func (o object) member(key string) (*member, error) {
	var found *member
	for i, m := range o.members {
		if strings.EqualFold(m.name, key) {
			if found != nil {
				return nil, fmt.Errorf("%q: %w", key, ErrTwice)
			}
			found = &o.members[i]
		}
	}
	return found, nil
}

// whole finds the one value of a text.
func whole(src []byte) (start, end int, err error) {
	plain := Plain(src)
	if !json.Valid(plain) {
		return 0, 0, ErrBroken
	}
	end = len(bytes.TrimRight(plain, " \t\r\n"))
	return len(plain) - len(bytes.TrimLeft(plain, " \t\r\n")), end, nil
}

// read parses the object that begins at a position of a valid text.
func read(plain []byte, at int) (object, error) {
	o := object{open: at}
	if at >= len(plain) || plain[at] != '{' {
		return o, ErrNotObject
	}
	d := json.NewDecoder(bytes.NewReader(plain[at:]))
	if _, err := d.Token(); err != nil {
		return o, ErrBroken
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok {
			return o, ErrBroken
		}
		// A key begins behind the last value or the brace, a comma and blanks.
		from := o.open + 1
		if n := len(o.members); n > 0 {
			from = o.members[n-1].end
		}
		from += bytes.IndexByte(plain[from:], '"')
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return o, ErrBroken
		}
		end := at + int(d.InputOffset())
		o.members = append(o.members, member{name: name, from: from, start: end - len(value), end: end})
	}
	if _, err := d.Token(); err != nil {
		return o, ErrBroken
	}
	o.close = at + int(d.InputOffset()) - 1
	return o, nil
}
