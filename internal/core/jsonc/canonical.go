package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// The reasons why a value has no canonical form.
var (
	ErrTwice = errors.New("a key is there twice")
	ErrDeep  = errors.New("it is nested too deeply")
)

// maxDepth limits the nesting of a canonical value.
const maxDepth = 64

// Canonical returns a JSON value in the one form that all equal values share:
// sorted keys and no whitespace. A value with a duplicate key has no such form,
// since readers differ on which one counts.
func Canonical(raw []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var out bytes.Buffer
	if err := canonical(d, &out, 0); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the value")
	}
	return out.Bytes(), nil
}

func canonical(d *json.Decoder, out *bytes.Buffer, depth int) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	delim, nested := t.(json.Delim)
	if !nested {
		return scalar(out, t)
	}
	if depth == maxDepth {
		return ErrDeep
	}
	out.WriteByte(byte(delim))
	if delim == '[' {
		for i := 0; d.More(); i++ {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := canonical(d, out, depth+1); err != nil {
				return err
			}
		}
	} else if err := members(d, out, depth); err != nil {
		return err
	}
	end, err := d.Token()
	if err != nil {
		return err
	}
	out.WriteByte(byte(end.(json.Delim)))
	return nil
}

func members(d *json.Decoder, out *bytes.Buffer, depth int) error {
	values := map[string][]byte{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key := t.(string) // a decoder allows nothing else here
		if _, twice := values[key]; twice {
			return fmt.Errorf("%w: %q", ErrTwice, key)
		}
		var v bytes.Buffer
		if err := canonical(d, &v, depth+1); err != nil {
			return err
		}
		values[key] = v.Bytes()
	}
	for i, key := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := scalar(out, key); err != nil {
			return err
		}
		out.WriteByte(':')
		out.Write(values[key])
	}
	return nil
}

func scalar(out *bytes.Buffer, v any) error {
	b, err := json.Marshal(v)
	out.Write(b)
	return err
}
