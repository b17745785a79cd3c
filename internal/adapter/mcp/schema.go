package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
)

// Limits of a tool's description for the model.
const (
	maxDoc    = 2 << 10
	maxSchema = 32 << 10
)

// shown returns a tool's schema in the form for the model: an object, canonical, without
// invisible characters and without keys that model APIs refuse. In any case the server
// validates by its own schema.
func shown(raw json.RawMessage) (json.RawMessage, error) {
	var top map[string]json.RawMessage
	if len(raw) == 0 || string(raw) == "null" {
		top = map[string]json.RawMessage{}
	} else if json.Unmarshal(raw, &top) != nil {
		return nil, errors.New("its schema is not an object")
	}
	var typ string
	if t := top["type"]; t != nil && (json.Unmarshal(t, &typ) != nil || typ != "object") {
		return nil, errors.New("its schema is not of type object")
	}
	top["type"] = json.RawMessage(`"object"`)
	if top["properties"] == nil {
		top["properties"] = json.RawMessage(`{}`)
	}
	for _, k := range []string{"$schema", "$id", "anyOf", "oneOf", "allOf", "not"} { // APIs take none of them at the top
		delete(top, k)
	}
	all, err := json.Marshal(top)
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	out, err := jsonc.Canonical(all)
	if err != nil {
		return nil, fmt.Errorf("its schema: %w", err)
	}
	if out = []byte(visible(string(out))); len(out) > maxSchema {
		return nil, fmt.Errorf("its schema has %d KB, more than %d", len(out)>>10, maxSchema>>10)
	}
	return out, nil
}

// visible returns a text without the characters that a person would not see: a
// description may hide words in them.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r), r >= 0xE0000 && r <= 0xE0FFF, r >= 0xFE00 && r <= 0xFE0F:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// checker returns a check of arguments before a call, for simple schemas. A schema that
// refers to itself is left to the server, since following it may never end.
func checker(schema json.RawMessage) func(json.RawMessage) error {
	resolved := sync.OnceValue(func() *jsonschema.Resolved {
		if bytes.Contains(schema, []byte(`Ref"`)) || bytes.Contains(schema, []byte(`"$ref"`)) {
			return nil
		}
		return resolve(schema)
	})
	return func(in json.RawMessage) error {
		var v map[string]any
		if err := json.Unmarshal(in, &v); err != nil || v == nil {
			return errors.New("arguments are an object")
		}
		if r := resolved(); r != nil {
			if err := r.Validate(v); err != nil {
				return errors.New(cut(err.Error(), 500))
			}
		}
		return nil
	}
}

// resolve returns nil for a schema that the library does not understand.
func resolve(schema json.RawMessage) (r *jsonschema.Resolved) {
	defer func() {
		if recover() != nil {
			r = nil
		}
	}()
	var s jsonschema.Schema
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	r, err := s.Resolve(nil)
	if err != nil {
		return nil
	}
	return r
}
