package lsp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 12.2: names as any language writes them stand for symbols.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		want string
		file string
		in   string
		name string
		fits bool
	}{
		{"Func", "a/b.go", "x.com/m/a", "Func", true},
		{"a.Func", "a/b.go", "x.com/m/a", "Func", true},
		{"b.Func", "a/c.go", "x.com/m/a", "Func", false},
		{"T.Method", "a/b.go", "", "(*T).Method", true},
		{"(*T).Method", "a/b.go", "x.com/m/a", "T.Method", true},
		{"a.T.Method", "a/b.go", "x.com/m/a", "T.Method", true},
		{"a.Method", "a/b.go", "x.com/m/a", "T.Method", true}, // a part may be left out
		{"T.method", "a/b.go", "", "T.Method", false},
		{"Method", "a/b.go", "", "OtherMethod", false},
		{"Class#method", "lib/x.rb", "Class", "method", true},
		{"mod::func", "src/mod.rs", "", "func", true},
		{"crate::area::square", "src/area.rs", "area", "square", false},
		{"utils.helper", "src/utils.py", "", "helper", true},
		{"Überklasse.größe", "a.ts", "Überklasse", "größe", true},
		{"漢字", "a.ts", "", "漢字", true},
		{"कक्षा.नाम", "a.py", "कक्षा", "नाम", true},
		{"cafe\u0301.Open", "a.ts", "cafe\u0301", "Open", true},
	} {
		file := strings.TrimSuffix(c.file, c.file[strings.LastIndexByte(c.file, '.'):])
		if got := fits(parts(c.want), append(parts(file), parts(c.in)...), c.name); got != c.fits {
			t.Errorf("%s for %s in %q of %s: %v", c.want, c.name, c.in, c.file, got)
		}
	}
	for _, c := range []struct {
		line, name string
		at         int
	}{
		{"x := foobar(foo)", "foo", 12}, {"foo", "foo", 0}, {"foo_ foo", "foo", 5}, {"éfoo foo", "foo", 6}, {"🐾foo", "foo", 4}, {"नामी नाम", "नाम", 13}, {"cafe\u0301 cafe", "cafe", 7}, {"foobar", "foo", -1}, {"", "foo", -1}, {"foo", "", -1},
	} {
		if got := wordAt(c.line, c.name); got != c.at {
			t.Errorf("%s in %q: %d, want %d", c.name, c.line, got, c.at)
		}
	}
	for _, c := range []struct {
		line string
		at   int
		want string
	}{{"x := foo(1)", 5, "foo"}, {"x := foo(1)", 7, "foo"}, {"x := foo(1)", 3, ""}, {"漢字 x", 3, "漢字"}, {"🐾foo", 4, "foo"}, {"foo", 3, "foo"}} {
		if got := wordHere(c.line, c.at); got != c.want {
			t.Errorf("byte %d of %q: %q", c.at, c.line, got)
		}
	}
}

// SPEC 12.2: a name that stands for several symbols is asked about, with the
// places, and never guessed.
func TestAmbiguousNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "def run\n", "b.x": "def run\ncall run\n"}, nil)
		defer b.Close()
		b.make = func(process.Program) (*fake, error) {
			f := newFake(t)
			f.answers["workspace/symbol"] = func(json.RawMessage) any {
				at := func(file, name, in string) string {
					return fmt.Sprintf(`{"name":%q,"kind":12,"containerName":%q,"location":{"uri":%q,"range":{"start":{"line":0,"character":4},"end":{"line":0,"character":7}}}}`, name, in, toURI(file))
				}
				return json.RawMessage("[" + strings.Join([]string{at(b.path("a.x"), "run", "A"), at(b.path("b.x"), "run", "B"), at(b.path("b.x"), "runner", "B"), at("/usr/lib/c.x", "run", "C")}, ",") + "]")
			}
			f.answers["textDocument/hover"] = func(params json.RawMessage) any {
				return map[string]any{"contents": string(params)}
			}
			return f, nil
		}
		_, err := b.Hover(t.Context(), tool.CodeAt{Symbol: "run"})
		if err == nil || !strings.Contains(err.Error(), "2 symbols") || !strings.Contains(err.Error(), "a.x:1: function A.run\nb.x:1: function B.run") {
			t.Errorf("%v", err)
		}
		text, err := b.Hover(t.Context(), tool.CodeAt{Symbol: "B.run"})
		if err != nil || !strings.Contains(text, "b.x") || !strings.Contains(text, `"character":4`) {
			t.Errorf("%q, %v", text, err)
		}
		for _, c := range []struct {
			at    tool.CodeAt
			fails string
		}{
			{tool.CodeAt{Symbol: "walk"}, "no symbol walk"},
			{tool.CodeAt{Symbol: "C.run"}, "no symbol C.run"}, // outside of the workspace
			{tool.CodeAt{}, "give path and line"},
			{tool.CodeAt{Path: "a.x", Line: 9}, "no line 9"},
			{tool.CodeAt{Path: "a.x", Line: 1, Symbol: "walk"}, "has no walk: def run"},
			{tool.CodeAt{Path: "b.x", Symbol: "walk"}, "no walk in b.x"},
			{tool.CodeAt{Path: "none.x", Line: 1}, "no such file"},
		} {
			if _, err := b.Hover(t.Context(), c.at); err == nil || !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%+v: %v", c.at, err)
			}
		}
		if got := b.fake(0).opened; !slices.Contains(got, toURI(b.path("b.x"))) {
			t.Errorf("opened %v", got)
		}
	})
}
