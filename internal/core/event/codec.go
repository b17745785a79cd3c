package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

var types = func() map[string]reflect.Type {
	m := make(map[string]reflect.Type, len(bodies))
	for _, b := range bodies {
		m[b.Kind()] = reflect.TypeOf(b)
	}
	return m
}()

// Kinds lists the kinds of all bodies that this version knows.
func Kinds() []string {
	out := make([]string, len(bodies))
	for i, b := range bodies {
		out[i] = b.Kind()
	}
	return out
}

// New returns an empty body of a kind, nil for an unknown one.
func New(kind string) Body {
	if t, ok := types[kind]; ok {
		return reflect.Zero(t).Interface().(Body)
	}
	return nil
}

// Encode returns a body's JSON; for an Unknown, the JSON that was read.
func Encode(b Body) ([]byte, error) {
	if u, ok := b.(Unknown); ok {
		return u.Raw, nil
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(b); err != nil {
		return nil, fmt.Errorf("encode %s: %w", b.Kind(), err)
	}
	return bytes.TrimRight(out.Bytes(), "\n"), nil
}

// Decode reads a body. An unknown kind or version becomes an Unknown and is not
// an error; JSON that does not fit a known body is an error.
func Decode(kind string, version int, raw []byte) (Body, error) {
	t, ok := types[kind]
	if !ok || VersionOf(reflect.Zero(t).Interface().(Body)) < version {
		return Unknown{Name: kind, V: version, Raw: bytes.Clone(raw)}, nil
	}
	p := reflect.New(t)
	if err := json.Unmarshal(raw, p.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return Completed(p.Elem().Interface().(Body)), nil
}
