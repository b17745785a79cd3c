package headless

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

const schemaPath = "../../../doc/stream.schema.json"

// streamSchema says every line of stream-json: an event of each kind with its
// body, and the result. It is made from the types that write them.
func streamSchema(t *testing.T) []byte {
	t.Helper()
	opts := &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[json.RawMessage](): {},
		reflect.TypeFor[time.Duration]():   {Type: "integer", Description: "nanoseconds"},
		reflect.TypeFor[[]byte]():          {Type: "string", Description: "base64"},
		reflect.TypeFor[process.Level]():   {Type: "string", Description: "read-only, workspace or unconfined"},
	}}
	of := func(rt reflect.Type) *jsonschema.Schema {
		s, err := jsonschema.ForType(rt, opts)
		if err != nil {
			t.Fatalf("%v: %v", rt, err)
		}
		return s
	}
	constant := func(v string) *jsonschema.Schema {
		c := any(v)
		return &jsonschema.Schema{Const: &c}
	}
	var lines []*jsonschema.Schema
	for _, kind := range event.Kinds() {
		lines = append(lines, &jsonschema.Schema{
			Type: "object", Title: kind,
			Properties: map[string]*jsonschema.Schema{
				"type":    constant(kind),
				"session": {Type: "string"},
				"seq":     {Type: "integer", Description: "the place in the log; 0: not stored"},
				"cause":   {Type: "integer", Description: "the place of the event that led to it; 0: none"},
				"time":    {Type: "string", Format: "date-time"},
				"body":    of(reflect.TypeOf(event.New(kind))),
			},
			Required: []string{"type", "session", "seq", "cause", "time", "body"},
		})
	}
	result := of(reflect.TypeFor[Result]())
	result.Title = "result"
	result.Properties["type"] = constant("result")
	whole := &jsonschema.Schema{
		Schema:      "https://json-schema.org/draft/2020-12/schema",
		Title:       "pawl run --output-format stream-json",
		Description: "One line of the stream. The last line is the result, which is all that --output-format json prints. A reader skips types and fields that it does not know.",
		OneOf:       append(lines, result),
	}
	out := must.Get(json.MarshalIndent(whole, "", " "))(t)
	return append(out, '\n')
}

func TestSchemaIsCurrent(t *testing.T) {
	golden.File(t, schemaPath, string(streamSchema(t)))
}

// validator checks lines against the schema as it is in doc/. The alternatives
// are told apart by type first, so that an error names the field.
type validator map[string]*jsonschema.Resolved

func newValidator(t *testing.T) validator {
	t.Helper()
	raw := must.Get(os.ReadFile(schemaPath))(t)
	var s jsonschema.Schema
	must.Do(t, json.Unmarshal(raw, &s))
	v := validator{}
	for _, one := range s.OneOf {
		r := must.Get(one.Resolve(nil))(t)
		v[one.Title] = r
	}
	return v
}

func (v validator) check(line []byte) error {
	var x map[string]any
	if err := json.Unmarshal(line, &x); err != nil {
		return fmt.Errorf("%w: %s", err, line)
	}
	kind, _ := x["type"].(string)
	r, ok := v[kind]
	if !ok {
		return fmt.Errorf("no schema for type %q", kind)
	}
	return r.Validate(x)
}

// Every body's zero value, as the plainest of each kind, is valid.
func TestEveryKindIsValid(t *testing.T) {
	v := newValidator(t)
	for _, kind := range event.Kinds() {
		var b bytes.Buffer
		must.Do(t, WriteEvent(&b, event.Event{Session: "s", Seq: 1, Body: event.New(kind)}))
		if err := v.check(b.Bytes()); err != nil {
			t.Errorf("%s: %v\n%s", kind, err, b.Bytes())
		}
	}
}
