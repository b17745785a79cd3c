package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// field is one argument of a tool, read from the struct tags.
type field struct {
	name, doc string
	enum      []string
	required  bool
	typ       reflect.Type
}

func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		name = cmp.Or(name, f.Name)
		e := field{name: name, doc: f.Tag.Get("doc"), required: !strings.Contains(opts, "omitempty"), typ: f.Type}
		if v := f.Tag.Get("enum"); v != "" {
			e.enum = strings.Split(v, ",")
		}
		out = append(out, e)
	}
	return out
}

// mustSchema writes the schema of a struct with its properties in the order of
// the fields. Maps would lose this order, and a model reads the properties in it.
// It needs only reflection, so it is fast enough for start-up.
// Schema returns the schema of a struct of arguments, for a tool that offers fewer than it
// takes. It panics as New does.
func Schema[In any](tool string) json.RawMessage { return mustSchema(tool, reflect.TypeFor[In]()) }

func mustSchema(tool string, t reflect.Type) json.RawMessage {
	var b bytes.Buffer
	if err := writeType(&b, t, "", nil); err != nil {
		panic(fmt.Sprintf("tool %s: %v", tool, err))
	}
	return b.Bytes()
}

func writeType(b *bytes.Buffer, t reflect.Type, doc string, enum []string) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	kind, ok := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Slice: "array", reflect.Struct: "object",
		reflect.Int: "integer", reflect.Int64: "integer", reflect.Float64: "number",
	}[t.Kind()]
	if !ok {
		return fmt.Errorf("no schema for %s", t)
	}
	fmt.Fprintf(b, `{"type":%q`, kind)
	if doc != "" {
		b.WriteString(`,"description":`)
		b.Write(quote(doc))
	}
	if enum != nil {
		b.WriteString(`,"enum":`)
		b.Write(quote(enum))
	}
	switch kind {
	case "array":
		b.WriteString(`,"items":`)
		if err := writeType(b, t.Elem(), "", nil); err != nil {
			return err
		}
	case "object":
		b.WriteString(`,"properties":{`)
		required := []string{}
		for i, f := range fieldsOf(t) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(quote(f.name))
			b.WriteByte(':')
			if err := writeType(b, f.typ, f.doc, f.enum); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			if f.required {
				required = append(required, f.name)
			}
		}
		b.WriteString(`}`)
		if len(required) > 0 {
			b.WriteString(`,"required":`)
			b.Write(quote(required))
		}
		b.WriteString(`,"additionalProperties":false`)
	}
	b.WriteByte('}')
	return nil
}

func quote(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // strings and lists of strings always encode
	return bytes.TrimRight(b.Bytes(), "\n")
}

func schemaOf(t reflect.Type) (*jsonschema.Schema, error) {
	var b bytes.Buffer
	if err := writeType(&b, t, "", nil); err != nil {
		return nil, err
	}
	s := new(jsonschema.Schema)
	return s, json.Unmarshal(b.Bytes(), s)
}
