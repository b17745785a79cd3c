package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// New makes a tool from a typed function. In is a struct whose fields carry
// `json:"name"` (omitempty: optional) and `doc:"one line"` tags, and
// `enum:"a,b"` for a closed set. New panics if In has no schema, since that is a
// mistake in the program.
func New[In any](name, doc string, footprint func(Env, In) (Footprint, error), run func(context.Context, Env, In) (Result, error)) Tool {
	return typed(name, doc, reflect.TypeFor[In](),
		func(env Env, in any) (Footprint, error) { return footprint(env, *in.(*In)) },
		func(ctx context.Context, env Env, in any) (Result, error) { return run(ctx, env, *in.(*In)) })
}

// typed is New without its type parameter: what is in it is compiled once.
func typed(name, doc string, t reflect.Type, footprint func(Env, any) (Footprint, error), run func(context.Context, Env, any) (Result, error)) Tool {
	// Schemas are resolved at first use, so they cost nothing at start-up.
	resolved := sync.OnceValues(func() (*jsonschema.Resolved, error) {
		s, err := schemaOf(t)
		if err != nil {
			return nil, err
		}
		return s.Resolve(nil)
	})
	decode := func(in json.RawMessage) (any, error) {
		v := reflect.New(t).Interface()
		return v, json.NewDecoder(bytes.NewReader(in)).Decode(v)
	}
	return Tool{
		Spec: llm.ToolSpec{Name: name, Doc: doc, Schema: mustSchema(name, t)},
		Check: func(in json.RawMessage) error {
			if err := checker(resolved)(in); err != nil {
				return err
			}
			_, err := decode(in)
			return err
		},
		Footprint: func(env Env, in json.RawMessage) (Footprint, error) {
			v, err := decode(in)
			if err != nil {
				return Footprint{}, err
			}
			return footprint(env, v)
		},
		Run: func(ctx context.Context, env Env, in json.RawMessage) (Result, error) {
			v, err := decode(in)
			if err != nil {
				return Result{}, err
			}
			return run(ctx, env, v)
		},
	}
}

// Raw makes a tool from outside, such as an MCP server's: its arguments have a
// JSON schema and no Go type. run gets arguments that fit the schema. With a nil
// footprint its footprint is unknown, so it asks and runs alone in the workspace.
func Raw(spec llm.ToolSpec, footprint func(Env, json.RawMessage) (Footprint, error), run func(context.Context, Env, json.RawMessage) (Result, error)) Tool {
	resolved := sync.OnceValues(func() (*jsonschema.Resolved, error) {
		var s jsonschema.Schema
		if err := json.Unmarshal(spec.Schema, &s); err != nil {
			return nil, fmt.Errorf("the schema of %s: %w", spec.Name, err)
		}
		return s.Resolve(nil)
	})
	if footprint == nil {
		footprint = func(Env, json.RawMessage) (Footprint, error) { return Footprint{Unknown: true}, nil }
	}
	return Tool{Spec: spec, Check: checker(resolved), Footprint: footprint, Run: run}
}

// checker validates arguments against a schema.
func checker(resolved func() (*jsonschema.Resolved, error)) func(json.RawMessage) error {
	return func(in json.RawMessage) error {
		r, err := resolved()
		if err != nil {
			return err
		}
		var v any
		if err := json.Unmarshal(in, &v); err != nil {
			return err
		}
		if err := r.Validate(v); err != nil {
			return errors.New(plainValidation(err))
		}
		return nil
	}
}

func plainValidation(err error) string {
	s := err.Error()
	if i := strings.LastIndex(s, ": "); i > 0 && strings.HasPrefix(s, "validating") {
		s = strings.TrimPrefix(s[strings.Index(s, ": ")+2:], "")
	}
	return s
}
