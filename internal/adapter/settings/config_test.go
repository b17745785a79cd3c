package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/jsonc"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// SPEC 17.5: comments stay, what is wrong is refused with the file as it was.
func TestConfigSet(t *testing.T) {
	const before = "{\n  // which one\n  \"model\": \"openai/gpt-5\", // the old one\n  \"budget\": {\"usd\": 5},\n}\n"
	for _, c := range []struct{ key, value, want, err string }{
		{"model", "anthropic/claude-opus-5", `"model": "anthropic/claude-opus-5", // the old one`, ""},
		{"budget.usd", "2.5", `{"usd": 2.5}`, ""},
		{"budget.preset", "deep", `{"usd": 5, "preset": "deep"}`, ""},
		{"autofix.enable", "false", `"autofix": {"enable": false},`, ""},
		{"permissions.deny", "bash(git push *)", `"permissions": {"deny": ["bash(git push *)"]},`, ""},
		{"permissions.deny", `["a", "b"]`, `"permissions": {"deny": ["a", "b"]},`, ""},
		{`models."openai/gpt-5.1".window`, "100", `"models": {"openai/gpt-5.1": {"window": 100}},`, ""},
		{"modle", "x", "", `did you mean "model"?`},
		{"budget.usdd", "x", "", `did you mean "budget.usd"?`},
		{"budget.zzzzzz", "1", "", "there are preset, usd"},
		{"model.name", "x", "", "has no keys"},
		{"budget.usd", "much", "", "takes a number and not a string"},
		{"budget", "5", "", "takes an object"},
		{"progress.stuck_threshold", "-1", "", "progress"},
		{"retry_for", "soon", "", "not a duration for retries"},
		{"", "x", "", "no such key"},
		{"a..b", "x", "", "no such key"},
		{`models."x`, "1", "", "not closed"},
	} {
		f := Config{Path: filepath.Join(t.TempDir(), "pawl", "config.json")}
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(f.Path), 0o700), os.WriteFile(f.Path, []byte(before), 0o640)))
		err := f.Set(c.key, c.value)
		got, rerr := os.ReadFile(f.Path)
		if rerr != nil {
			t.Fatal(rerr)
		}
		switch {
		case c.err != "" && (err == nil || !strings.Contains(text(err), c.err) || string(got) != before):
			t.Errorf("%s = %s: %v, want %q; the file is\n%s", c.key, c.value, err, c.err, got)
		case c.err == "" && (err != nil || !strings.Contains(string(got), c.want) || !strings.Contains(string(got), "// which one")):
			t.Errorf("%s = %s: %v, want %q in\n%s", c.key, c.value, err, c.want, got)
		}
		if st, err := os.Stat(f.Path); err != nil || st.Mode().Perm() != 0o640 {
			t.Errorf("the mode is %v, %v", st.Mode(), err)
		}
	}
}

func text(err error) string {
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Err != nil {
		return f.Message + ": " + f.Err.Error()
	}
	return err.Error()
}

// A file that is a link stays one, and one that is not there is made.
func TestConfigLink(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "dotfiles.json")
	f := Config{Path: filepath.Join(dir, "config.json")}
	must.Do(t, errors.Join(os.WriteFile(real, []byte("{}"), 0o600), os.Symlink(real, f.Path)))
	must.Do(t, f.Set("model", "offline"))
	if st, err := os.Lstat(f.Path); err != nil || st.Mode().IsRegular() {
		t.Error("the link is gone")
	}
	if got, err := os.ReadFile(real); err != nil || string(got) != `{"model": "offline"}` {
		t.Errorf("%s, %v", got, err)
	}
	g := Config{Path: filepath.Join(dir, "new", "pawl", "config.json")}
	must.Do(t, g.Set("effort", "high"))
	if v, ok, err := g.Get("effort"); err != nil || !ok || string(v) != `"high"` {
		t.Errorf("%s %v %v", v, ok, err)
	}
	if _, ok, err := g.Get("model"); ok || err != nil {
		t.Errorf("model: %v %v", ok, err)
	}
}

func TestConfigAll(t *testing.T) {
	f := Config{Path: filepath.Join(t.TempDir(), "config.json")}
	must.Write(t, f.Path, `{"model": "m", "budget": {"usd": 1}, "models": {"a/b.c": {"window": 3}}, "checks": [{"command": "x"}]}`)
	keys, values, err := f.All()
	if err != nil || strings.Join(keys, " ") != `budget.usd checks model models."a/b.c".window` {
		t.Errorf("%q %v", keys, err)
	}
	for _, k := range keys { // what is listed can be asked for
		if v, ok, err := f.Get(k); err != nil || !ok || !bytes.Equal(v, values[k]) {
			t.Errorf("%s: %s %v %v, want %s", k, v, ok, err, values[k])
		}
	}
}

// schema makes the schema of the configuration from the types that read it.
func schema(t *testing.T) []byte {
	t.Helper()
	s := must.Get(jsonschema.ForType(reflect.TypeFor[Settings](), &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{reflect.TypeFor[json.RawMessage](): {Type: "object"}}}))(t)
	optional(s)
	s.Title = "pawl's configuration"
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	for key, values := range map[string][]any{
		"effort": {"minimal", "low", "medium", "high", "xhigh", "max"}, "mode": {"ask", "plan", "accept-edits", "auto", "yolo"}, "sandbox": {"workspace", "read-only", "off"},
		"route": {"auto", "off", "read", "edit", "run", "profile"},
	} {
		s.Properties[key].Enum = values
	}
	s.Properties["budget"].Properties["preset"].Enum = []any{"quick", "standard", "deep", "unlimited"}
	s.Properties["store"].Properties["durability"].Enum = []any{"normal", "full"}
	s.Properties["swarm"].Properties["notes"].Enum = []any{"sqlite", NotesJSON, NotesNATS}
	s.Properties["screen"].Properties["theme"].Enum = []any{"dark", "light", "contrast", "plain"}
	s.Properties["search"].Properties["api"].Enum = []any{"brave", "tavily", "searxng"}
	s.Properties["tools"].Properties["auto_correct"].Enum = []any{"safe", "all"}
	w := s.Properties["window"].Properties
	w["tokenizer"].Enum, w["status"].Enum, w["compact"].Enum = []any{"bpe", "estimate"}, []any{"auto", "always"}, []any{"auto", "off"}
	for group, values := range map[string]any{
		"": map[string]any{"sandbox": "workspace", "mode": "ask", "retry_for": "5m", "route": "auto"}, "progress": progress.Default(), "window": window.Config{}.Defaults(),
		"kept": Kept{SessionMB: 2048, FileMB: 64}, "resources": Resources{MemoryMB: 100, DiskMB: 100}, "swarm": Swarm{Notes: "sqlite", WorkerTokens: 300_000, WorkerSteps: 50},
		"store": Store{Durability: "normal"}, "tools": Tools{AutoCorrect: "safe"}, "agents": map[string]int{"depth": Agents{}.Levels()},
		"autofix": map[string]any{"enable": true, "attempts": 3, "timeout_seconds": 300}, "lsp": map[string]any{"enable": true, "memory_mb": 4096},
	} {
		of := s
		if group != "" {
			of = s.Properties[group]
		}
		b := must.Get(json.Marshal(values))(t)
		var fields map[string]json.RawMessage
		must.Do(t, json.Unmarshal(b, &fields))
		for key, value := range fields {
			of.Properties[key].Default = value
		}
	}
	b := must.Get(json.MarshalIndent(s, "", "  "))(t)
	return append(b, '\n')
}

// optional lets every key be left out.
func optional(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Required = nil
	for _, p := range s.Properties {
		optional(p)
	}
	optional(s.Items)
	optional(s.AdditionalProperties)
}

// SPEC 17.5: the published schema is that of the code, and takes the
// configuration of the page.
func TestSchemaIsCurrent(t *testing.T) {
	want := schema(t)
	golden.File(t, "../../../doc/config.schema.json", string(want))
	var s jsonschema.Schema
	must.Do(t, json.Unmarshal(want, &s))
	r := must.Get(s.Resolve(nil))(t)
	texts := map[string]bool{`{"$schema": "x"}`: true, `{"modle": "x"}`: false, `{"budget": {"usd": "5"}}`: false, `{"mode": "wild"}`: false}
	for _, example := range examples(t) {
		texts[example] = true
		if err := decode("a page", jsonc.Plain([]byte(example)), new(Settings)); err != nil {
			t.Errorf("%s: %v", example, err)
		}
	}
	for text, ok := range texts {
		var v any
		must.Do(t, json.Unmarshal(jsonc.Plain([]byte(text)), &v))
		if err := r.Validate(v); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// examples are the settings that the pages show: every block of JSON with comments,
// and those of hooks.
func examples(t *testing.T) (out []string) {
	t.Helper()
	pages := must.Get(filepath.Glob("../../../doc/*.md"))(t)
	for _, page := range pages {
		b := must.Get(os.ReadFile(page))(t)
		for _, m := range regexp.MustCompile("(?ms)^```(jsonc?)\n(.*?)^```").FindAllStringSubmatch(string(b), -1) {
			if m[1] == "jsonc" || strings.Contains(m[2], `"hooks"`) {
				out = append(out, m[2])
			}
		}
	}
	if len(out) < 7 {
		t.Fatalf("only %d examples were found", len(out))
	}
	return out
}
