package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// decode decodes a file's JSON, already without comments, into a value. An error names
// the line of the mistake and the key that was probably meant.
func decode(path string, raw []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		return wrong(path, raw, d.InputOffset(), "there is text after the closing brace")
	}
	if k := unknownKey(raw, reflect.TypeOf(into)); k != nil {
		text := fmt.Sprintf("unknown key %q", k.name)
		if near := editdistance.Nearest(k.name, k.known); near != "" {
			text += fmt.Sprintf(", did you mean %q?", near)
		} else if len(k.known) > 0 {
			text += ", there are " + strings.Join(k.known, ", ")
		}
		return wrong(path, raw, k.at, text)
	}
	at, text := int64(len(raw)), err.Error()
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at, text = kind.Offset, fmt.Sprintf("%s takes %s and not a %s", kind.Field, people(kind.Type), kind.Value)
		if kind.Field == "" {
			text = "the file holds an object in braces, and not a " + kind.Value
		}
	case errors.Is(err, io.EOF):
		text = "the file is empty"
	case errors.Is(err, io.ErrUnexpectedEOF):
		text = "it ends before a brace or a quotation is closed"
	}
	return wrong(path, raw, at, text)
}

func wrong(path string, raw []byte, at int64, text string) error {
	line := 1 + bytes.Count(raw[:min(int(at), len(raw))], []byte{'\n'})
	return &fault.Error{Category: fault.Configuration, Message: fmt.Sprintf("%s:%d: %s", path, line, strings.TrimPrefix(text, "json: ")), Hint: "correct or remove the file"}
}

// people returns a description of a type for a person who writes a configuration.
func people(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return people(t.Elem())
	case reflect.Bool:
		return "true or false"
	case reflect.Float64, reflect.Float32:
		return "a number"
	case reflect.String:
		return "a string in quotes"
	case reflect.Slice, reflect.Array:
		return "a list in square brackets"
	case reflect.Struct, reflect.Map:
		return "an object in braces"
	}
	return "a whole number"
}

// badKey is a key that is unknown at its place.
type badKey struct {
	name  string
	at    int64    // the offset after the key
	known []string // the keys that are valid there
}

// unknownKey returns the first key of a file that its type does not have; nil if there is
// none or the file is incomplete.
func unknownKey(raw []byte, t reflect.Type) *badKey {
	return keysIn(json.NewDecoder(bytes.NewReader(raw)), t)
}

func keysIn(d *json.Decoder, t reflect.Type) *badKey {
	tok, err := d.Token()
	delim, nested := tok.(json.Delim)
	if err != nil || !nested || delim == '}' || delim == ']' {
		return nil
	}
	fields, elem := inside(t)
	for d.More() {
		child := elem
		if delim == '{' {
			tok, err := d.Token()
			name, ok := tok.(string)
			if err != nil || !ok {
				return nil
			}
			if fields != nil {
				if child, ok = fields.get(name); !ok {
					return &badKey{name: name, at: d.InputOffset(), known: fields.names}
				}
			}
		}
		if bad := keysIn(d, child); bad != nil {
			return bad
		}
	}
	_, _ = d.Token() // the closing delimiter; the caller reports an incomplete file
	return nil
}

// fields are the keys of a struct.
type fields struct {
	names []string
	types []reflect.Type
}

func (f *fields) get(name string) (reflect.Type, bool) {
	for i, n := range f.names {
		if strings.EqualFold(n, name) { // as encoding/json takes them
			return f.types[i], true
		}
	}
	return nil, false
}

// inside returns the contents of a type: the fields of a struct, or the element type of a
// map or a list. Both are nil for a type with its own decoder.
func inside(t reflect.Type) (*fields, reflect.Type) {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil, nil
	}
	switch t.Kind() {
	case reflect.Map, reflect.Slice:
		return nil, t.Elem()
	case reflect.Struct:
		f := &fields{}
		for sf := range t.Fields() {
			name, _, _ := strings.Cut(sf.Tag.Get("json"), ",")
			switch {
			case name == "-" || !sf.IsExported() && !sf.Anonymous:
				continue
			case sf.Anonymous && name == "":
				if in, _ := inside(sf.Type); in != nil {
					f.names, f.types = append(f.names, in.names...), append(f.types, in.types...)
				}
				continue
			case name == "":
				name = sf.Name
			}
			f.names, f.types = append(f.names, name), append(f.types, sf.Type)
		}
		return f, nil
	}
	return nil, nil
}
