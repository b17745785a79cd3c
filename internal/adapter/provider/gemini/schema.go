package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
)

// This file converts JSON Schema to the part of OpenAPI's schemas that Gemini accepts.
// Unsupported parts are omitted: pawl checks the arguments with the whole schema.

// Limits: how deep recursive references are followed, and into how many schemas one
// schema may expand.
const (
	maxDepth   = 12
	maxSchemas = 2000
)

func toolError(name string, err error) error { return fmt.Errorf("tool %s: its schema: %w", name, err) }

// parameters returns a tool's converted schema. It is empty for a tool without arguments:
// its declaration must not have parameters.
func parameters(raw json.RawMessage) ([]byte, error) {
	c := &converter{}
	root, err := members(raw)
	if err != nil {
		return nil, err
	}
	c.root = root
	props, _ := members(root.get("properties"))
	if len(props) == 0 && len(root.get("$ref")) == 0 && len(root.get("anyOf")) == 0 && len(root.get("allOf")) == 0 {
		return nil, nil
	}
	return c.schema(nil, raw, 0)
}

type converter struct {
	root object
	n    int // schemas written so far
}

// object is a JSON object with its order: what a model reads first matters.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

func (o object) get(key string) json.RawMessage {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

var errNotObject = errors.New("not a JSON object")

func members(raw json.RawMessage) (object, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errNotObject
	}
	var out object
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		var v json.RawMessage
		if err != nil || !ok || dec.Decode(&v) != nil {
			return nil, errNotObject
		}
		out = append(out, member{key, v})
	}
	return out, nil
}

func (c *converter) schema(b []byte, raw json.RawMessage, depth int) ([]byte, error) {
	s, err := members(raw)
	if c.n++; err != nil || depth > maxDepth || c.n > maxSchemas { // true, false, or a reference to itself: anything
		return append(b, `{"type":"object"}`...), nil
	}
	if ref := text(s.get("$ref")); ref != "" {
		if to := c.follow(ref); to != nil {
			return c.schema(b, to, depth+1)
		}
	}
	if all := list(s.get("allOf")); len(all) > 0 && len(s.get("properties")) == 0 {
		return c.schema(b, all[0], depth+1)
	}
	w := writer{b: append(b, '{')}
	kind, nullable := typeOf(s)
	if kind != "" {
		w.put("type", quoted(kind))
	}
	for _, m := range s {
		switch m.key {
		case "description", "title", "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum", "pattern":
			w.put(m.key, m.value)
		case "nullable":
			nullable = nullable || string(m.value) == "true"
		case "format":
			if f := text(m.value); f == "date-time" || f == "int32" || f == "int64" || f == "float" || f == "double" {
				w.put(m.key, m.value)
			}
		case "const":
			if text(m.value) != "" {
				w.put("enum", append(append([]byte{'['}, m.value...), ']'))
			}
		case "enum":
			if kind == "string" || kind == "" {
				if words := texts(m.value); len(words) > 0 {
					w.put("enum", words)
				}
			}
		case "items":
			w.nested("items", func(b []byte) ([]byte, error) { return c.schema(b, m.value, depth+1) })
		case "properties":
			w.nested("properties", func(b []byte) ([]byte, error) { return c.properties(b, m.value, depth+1) })
		case "required":
			if names := c.required(s, m.value); len(names) > 0 {
				w.put("required", names)
			}
		case "anyOf", "oneOf":
			w.nested("anyOf", func(b []byte) ([]byte, error) { return c.choices(b, m.value, depth+1) })
		}
	}
	if kind == "array" && len(s.get("items")) == 0 {
		w.put("items", []byte(`{"type":"string"}`)) // the API requires one
	}
	if nullable {
		w.put("nullable", []byte("true"))
	}
	return append(w.b, '}'), w.err
}

// typeOf returns the single type of a schema; null among several types makes it nullable.
func typeOf(s object) (kind string, nullable bool) {
	raw := s.get("type")
	if kind = text(raw); kind != "" {
		return strings.ToLower(kind), false
	}
	for _, v := range list(raw) {
		if t := text(v); t == "null" {
			nullable = true
		} else if kind == "" {
			kind = t
		}
	}
	if kind == "" && len(s.get("properties")) > 0 {
		kind = "object"
	}
	if kind == "" && len(s.get("enum"))+len(s.get("const")) > 0 {
		kind = "string"
	}
	return kind, nullable
}

func (c *converter) properties(b []byte, raw json.RawMessage, depth int) ([]byte, error) {
	props, err := members(raw)
	if err != nil {
		return nil, err
	}
	w := writer{b: append(b, '{')}
	for _, p := range props {
		w.nested(p.key, func(b []byte) ([]byte, error) { return c.schema(b, p.value, depth) })
	}
	return append(w.b, '}'), w.err
}

// choices appends alternatives without a bare null, which nullable expresses.
func (c *converter) choices(b []byte, raw json.RawMessage, depth int) ([]byte, error) {
	b = append(b, '[')
	first := true
	for _, v := range list(raw) {
		if s, err := members(v); err == nil && text(s.get("type")) == "null" {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		var err error
		if b, err = c.schema(b, v, depth); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// required returns the names that are properties: the API refuses others.
func (c *converter) required(s object, raw json.RawMessage) []byte {
	props, err := members(s.get("properties"))
	if err != nil {
		return nil
	}
	var b []byte
	for _, v := range list(raw) {
		if name := text(v); len(props.get(name)) > 0 {
			if b == nil {
				b = []byte{'['}
			} else {
				b = append(b, ',')
			}
			b = lax.AppendString(b, name)
		}
	}
	if b != nil {
		b = append(b, ']')
	}
	return b
}

// follow returns the schema that an internal reference names.
func (c *converter) follow(ref string) json.RawMessage {
	path, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := c.root
	for i, step := range strings.Split(path, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		v := at.get(step)
		if i == strings.Count(path, "/") {
			return v
		}
		next, err := members(v)
		if err != nil {
			return nil
		}
		at = next
	}
	return nil
}

// writer writes the members of an object.
type writer struct {
	b    []byte
	some bool
	err  error
}

func (w *writer) key(key string) {
	if w.some {
		w.b = append(w.b, ',')
	}
	w.some = true
	w.b = append(lax.AppendString(w.b, key), ':')
}

func (w *writer) put(key string, value []byte) {
	w.key(key)
	w.b = append(w.b, value...)
}

func (w *writer) nested(key string, value func([]byte) ([]byte, error)) {
	if w.err != nil {
		return
	}
	w.key(key)
	b, err := value(w.b)
	if err != nil {
		w.err = err
		return
	}
	w.b = b
}

func quoted(s string) []byte { return lax.AppendString(nil, s) }

// text returns a JSON string's value, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

func list(raw json.RawMessage) []json.RawMessage {
	var out []json.RawMessage
	if json.Unmarshal(raw, &out) != nil {
		return nil
	}
	return out
}

// texts returns a list with the strings of a list, nil if there are none.
func texts(raw json.RawMessage) []byte {
	var b []byte
	for _, v := range list(raw) {
		if s := text(v); s != "" {
			if b == nil {
				b = []byte{'['}
			} else {
				b = append(b, ',')
			}
			b = lax.AppendString(b, s)
		}
	}
	if b != nil {
		b = append(b, ']')
	}
	return b
}
