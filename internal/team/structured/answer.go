// Package structured holds the last answer of a run to a JSON schema: a model that answers
// in another form is told what does not fit and asked again.
//
// It promises that Value is exactly the value that the schema was checked with, that at
// most Tries more answers are asked for, and that an answer which does not fit is
// reported as that. It repairs nothing: a value that pawl made up is not the model's.
package structured

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/engine/verify"
)

// Tries is how many more answers are asked for.
const Tries = 2

// Answer is the form of an answer, and the answer. It implements verify.Verifier, for one prompt.
type Answer struct {
	schema   string
	resolved *jsonschema.Resolved

	asked int
	value json.RawMessage
	why   string
}

// New reads a JSON schema. One that refers to other documents is refused: nothing is
// fetched.
func New(schema []byte) (s *Answer, err error) {
	defer func() {
		if p := recover(); p != nil { // the library's answer to some schemas
			s, err = nil, fmt.Errorf("the JSON schema cannot be used: %v", p)
		}
	}()
	var compact bytes.Buffer
	if err := json.Compact(&compact, schema); err != nil {
		return nil, fmt.Errorf("the JSON schema is not JSON: %w", err)
	}
	if compact.Bytes()[0] != '{' {
		return nil, errors.New("the JSON schema is not an object")
	}
	var parsed jsonschema.Schema
	if err := json.Unmarshal(schema, &parsed); err != nil {
		return nil, fmt.Errorf("the JSON schema cannot be read: %w", err)
	}
	resolved, err := parsed.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("the JSON schema cannot be used: %w", err)
	}
	return (&Answer{schema: compact.String(), resolved: resolved}).Fresh(), nil
}

// Instruction tells the model about the form.
func (s *Answer) Instruction() string {
	return "Your last answer to each prompt is read by a program. It is one JSON value that fits the following JSON schema, and nothing else: no words before or after it, no code fence.\n" + s.schema
}

// Value returns the answer, or why there is none.
func (s *Answer) Value() (value json.RawMessage, why string) { return s.value, s.why }

// Fresh returns the same form for another prompt.
func (s *Answer) Fresh() *Answer {
	return &Answer{schema: s.schema, resolved: s.resolved, why: "the run ended before its answer"}
}

func (s *Answer) Next(_ context.Context, t *verify.TurnEnd) (prompt string, err error) {
	value, bad := s.read(t.LastReply())
	if bad == nil {
		s.value, s.why = value, ""
		return "", nil
	}
	s.value, s.why = nil, bad.Error()
	if s.asked == Tries {
		return "", nil
	}
	s.asked++
	return fmt.Sprintf("A program reads your last answer, and it does not fit: %s.\nGive the whole answer again, as one JSON value that fits this schema, and nothing else:\n%s", bad, s.schema), nil
}

// read returns the JSON value of an answer, which may stand in a code fence.
func (s *Answer) read(text string) (json.RawMessage, error) {
	text = unfenced(strings.TrimSpace(text))
	dec := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON value")
	}
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, fmt.Errorf("it is not JSON: %w", err)
	}
	if err := s.fits(value); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return nil, err
	}
	return compact.Bytes(), nil
}

func (s *Answer) fits(value any) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the schema cannot be checked: %v", p)
		}
	}()
	return s.resolved.Validate(value)
}

// unfenced returns the content of a code fence, if the text is one and nothing else.
func unfenced(text string) string {
	rest, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	_, body, ok := strings.Cut(rest, "\n")
	if !ok {
		return text
	}
	if body, ok = strings.CutSuffix(body, "```"); !ok || strings.Contains(body, "\n```") {
		return text
	}
	return body
}
