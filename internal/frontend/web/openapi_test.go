package web

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 21.5: doc/openapi.json says what the API is. It is made from the routes, from their
// types, and from the comments of these.
func TestDocumented(t *testing.T) {
	out := must.Get(json.MarshalIndent(openAPI(t), "", " "))(t)
	golden.File(t, "../../../doc/openapi.json", string(out)+"\n")
}

type object = map[string]any

func openAPI(t *testing.T) object {
	s := &schemas{t: t, words: comments(t), made: object{}, opts: &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		typeOf[[]byte](): {Type: "string", ContentEncoding: "base64"},
		typeOf[Rights](): {Type: "string", Enum: []any{Watch, Answer, Steer}},
	}}}
	paths := object{}
	for _, r := range routes() {
		o := object{"summary": r.words, "responses": object{"200": object{"description": "done"}, "default": answer(s.of(typeOf[Problem]()))}}
		o["x-right"] = string(r.right)
		if r.right == "" {
			o["security"] = []any{}
		}
		if r.program {
			o["x-for-programs"] = true
		}
		var parameters []object
		for _, p := range regexp.MustCompile(`{(\w+)}`).FindAllStringSubmatch(r.path, -1) {
			parameters = append(parameters, object{"name": p[1], "in": "path", "required": true, "schema": object{"type": "string"}})
		}
		for _, p := range r.query {
			parameters = append(parameters, object{"name": p, "in": "query", "schema": object{"type": "string"}})
		}
		if parameters != nil {
			o["parameters"] = parameters
		}
		if r.in != nil {
			o["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": s.of(r.in)}}}
		}
		switch {
		case r.out != nil:
			o["responses"].(object)["200"] = answer(s.of(r.out))
		case r.path == "/api/s/{id}/log":
			o["responses"].(object)["200"] = object{"description": "Server-sent events; their data is an event as in stream.schema.json. Last-Event-ID, or after, is the seq of the last one that is known. bye: no more will come.", "content": object{"text/event-stream": object{"schema": object{"$ref": "stream.schema.json"}}}}
		case r.path == "/api/events":
			var kinds []object
			for _, e := range eventTypes {
				kinds = append(kinds, object{"title": e.kind, "description": e.words, "properties": object{"event": object{"const": e.kind}, "id": object{"type": "string"}, "data": s.of(reflect.TypeOf(e.body))}})
			}
			o["responses"].(object)["200"] = object{"description": "Server-sent events; their data is JSON. Last-Event-ID, or after, is where they begin.", "content": object{"text/event-stream": object{"schema": object{"oneOf": kinds}}}}
		}
		path, _ := paths[r.path].(object)
		if path == nil {
			path = object{}
			paths[r.path] = path
		}
		path[strings.ToLower(r.method)] = o
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "pawl serve", "version": "0",
			"description": "What the page of `pawl serve` uses. It may change between versions. A request counts only with a Host that pawl knows, with the cookie of a device that has the right (x-right), as application/json, and not from another origin.",
		},
		"security":   []any{object{"device": []any{}}},
		"paths":      paths,
		"components": object{"schemas": s.made, "securitySchemes": object{"device": object{"type": "apiKey", "in": "cookie", "name": "pawl-PORT", "description": "From /api/pair; PORT is the one that pawl listens at."}}},
	}
}

func answer(schema *jsonschema.Schema) object {
	return object{"description": "JSON", "content": object{"application/json": object{"schema": schema}}}
}

// schemas are those of the types of the API, by name.
type schemas struct {
	t     *testing.T
	words map[string]string
	opts  *jsonschema.ForOptions
	made  object
}

// of returns a reference to a type's schema.
func (s *schemas) of(t reflect.Type) *jsonschema.Schema {
	if t.Name() == "" { // struct{}
		return &jsonschema.Schema{Type: "object"}
	}
	if known := s.opts.TypeSchemas[t]; known != nil {
		return known
	}
	for _, f := range reflect.VisibleFields(t) {
		of := f.Type
		if of.Kind() == reflect.Slice {
			of = of.Elem()
		}
		if of.Kind() == reflect.Struct && of.PkgPath() == t.PkgPath() {
			s.of(of)
		}
	}
	made, err := jsonschema.ForType(t, s.opts)
	if err != nil {
		s.t.Fatal(t, err)
	}
	if made.Description = s.words[t.Name()]; made.Description == "" {
		s.t.Errorf("%s has no comment", t.Name())
	}
	made.AdditionalProperties = nil // a reader skips what it does not know
	for name, p := range made.Properties {
		if words := s.words[t.Name()+"."+name]; words != "" {
			with := *p
			with.Description = words
			made.Properties[name] = &with
		}
	}
	s.made[t.Name()] = made
	ref := &jsonschema.Schema{Ref: "#/components/schemas/" + t.Name()}
	s.opts.TypeSchemas[t] = ref
	return ref
}

// comments returns those of the types and fields of this package.
func comments(t *testing.T) map[string]string {
	out := map[string]string{}
	line := func(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }
	files := must.Get(filepath.Glob("*.go"))(t)
	for _, name := range files {
		f := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments))(t)
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE || g.Lparen.IsValid() {
				continue
			}
			of := g.Specs[0].(*ast.TypeSpec)
			out[of.Name.Name] = line(g.Doc)
			st, ok := of.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, field := range st.Fields.List {
				if field.Tag != nil {
					name, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
					out[of.Name.Name+"."+name] = strings.TrimSpace(line(field.Doc) + " " + line(field.Comment))
				}
			}
		}
	}
	return out
}

var (
	inScript = regexp.MustCompile("ask\\('(\\w+)', (of\\(\\w+, )?(?:'([^']*)'|`([^`?]*))")
	filled   = regexp.MustCompile(`\$?{[^}]*}`)
	reaches  = regexp.MustCompile(`\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|WebTransport|EventSource\(|\bimport\(|/api/`)
)

// SPEC 21.5: the page uses the routes of the API and nothing else, and it uses all that are
// not for programs alone.
func TestThePageUsesTheAPI(t *testing.T) {
	uses := map[string]bool{}
	if err := fs.WalkDir(assets(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(assets(), path)
		allowed := map[string][]string{"api.js": {"fetch(", "/api/"}, "stream.js": {"EventSource("}}[path]
		for _, found := range reaches.FindAllString(string(raw), -1) {
			if !slices.Contains(allowed, found) {
				t.Errorf("%s has %s: only api.js asks pawl, and only stream.js listens to it", path, found)
			}
		}
		if path != "api.js" {
			return err
		}
		text := string(raw)
		calls := inScript.FindAllStringSubmatch(text, -1)
		if n := strings.Count(text, "ask(") - 1; n != len(calls) || strings.Count(text, "fetch(") != 1 {
			t.Errorf("api.js asks in %d places, of which %d can be read, and has more than one fetch", n, len(calls))
		}
		for _, c := range calls {
			to := c[3] + c[4]
			if c[2] != "" {
				to = "/api/s/{}" + to
			}
			uses[c[1]+" "+filled.ReplaceAllString(to, "{}")] = true
		}
		stream := regexp.MustCompile(`address: '([^']+)', kinds: \[([^\]]+)\]`).FindStringSubmatch(text)
		uses["GET "+stream[1]] = true
		var kinds []string
		for _, e := range eventTypes {
			kinds = append(kinds, "'"+e.kind+"'")
		}
		if want := strings.Join(kinds, ", "); stream[2] != want {
			t.Errorf("the page listens to %s, and pawl sends %s", stream[2], want)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, r := range routes() {
		name := fmt.Sprintf("%s %s", r.method, filled.ReplaceAllString(r.path, "{}"))
		if uses[name] == r.program {
			t.Errorf("%s: the page uses it: %v; for programs: %v", name, uses[name], r.program)
		}
		delete(uses, name)
	}
	for name := range uses {
		t.Error("the page uses what is not in the API:", name)
	}
}
