package lsp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// projects makes a workspace of n projects m1, m2, …, each with a file whose text
// is what text returns. Its servers know each name that a line "def" defines.
func projects(t *testing.T, n int, text func(i int) string) *bench {
	files := map[string]string{}
	for i := 1; i <= n; i++ {
		files[fmt.Sprintf("m%d/project.x", i)] = ""
		files[fmt.Sprintf("m%d/f.x", i)] = text(i)
	}
	b := newBench(t, files, nil)
	b.make = func(c process.Program) (*fake, error) {
		f := newFake(t)
		f.answers["workspace/symbol"] = func(json.RawMessage) any { return defined(filepath.Join(c.Dir, "f.x"), "p") }
		f.answers["textDocument/hover"] = func(params json.RawMessage) any {
			return map[string]any{"contents": c.Dir + " says " + string(params)}
		}
		return f, nil
	}
	return b
}

// defined lists what the lines of a file define.
func defined(file, in string) json.RawMessage {
	content, err := os.ReadFile(file)
	if err != nil {
		return json.RawMessage(`[]`)
	}
	var out []string
	for i, l := range strings.Split(string(content), "\n") {
		if name, ok := strings.CutPrefix(l, "def "); ok {
			out = append(out, fmt.Sprintf(`{"name":%q,"kind":12,"containerName":%q,"location":{"uri":%q,"range":{"start":{"line":%d,"character":4},"end":{"line":%d,"character":7}}}}`, name, in, toURI(file), i, i))
		}
	}
	return json.RawMessage("[" + strings.Join(out, ",") + "]")
}

// SPEC 12.2: a name is looked for in all projects of the workspace. In several of
// them it is ambiguous; where not all were asked it is never the only one, and
// never said not to exist.
func TestNamesInProjects(t *testing.T) {
	same := func(int) string { return "def Foo\n" }
	own := func(i int) string { return fmt.Sprintf("def Func%d\n", i) }
	for _, c := range []struct {
		name   string
		n      int
		text   func(int) string
		broken string // the project whose server does not start
		symbol string
		want   []string
		not    string
		starts int
	}{
		{"one name in two projects", 2, same, "", "Foo", []string{"Foo stands for 2 symbols", "m1/f.x:1", "m2/f.x:1"}, "not asked", 2},
		{"the package does not tell them apart", 2, same, "", "p.Foo", []string{"stands for 2 symbols"}, "not asked", 2},
		{"the path does", 2, same, "", "m2.Foo", []string{"/m2 says"}, "stands for", 2},
		{"the last of many projects", 20, own, "", "Func20", []string{"/m20 says"}, "stands for", 1},
		{"a use elsewhere is no second definition", 2, func(i int) string { return []string{"", "def Foo\n", "call Foo\n"}[i] }, "", "Foo", []string{"/m1 says"}, "stands for", 2},
		{"more projects than are asked", examplesLimit + 2, same, "", "Foo", []string{"stands for one of these symbols; ", "not asked were these projects: m8, m9", "m1/f.x:1", "\n…"}, "", examplesLimit},
		{"found only beyond what is asked", examplesLimit + 1, func(i int) string {
			if i == examplesLimit+1 {
				return "\ndef Foo\n"
			}
			return "call Foo\n"
		}, "", "Foo", []string{"Foo may be in a project that was not asked", "m9"}, "no symbol", examplesLimit},
		{"a server that does not start", 2, same, "m2", "Foo", []string{"stands for one of these symbols; ", "not asked were these projects: m2", "m1/f.x:1"}, "", 1},
		{"a name that is nowhere", 3, own, "", "Foo", []string{"no symbol Foo"}, "not asked", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := projects(t, c.n, c.text)
				defer b.Close()
				works := b.make
				b.make = func(p process.Program) (*fake, error) {
					if c.broken != "" && filepath.Base(p.Dir) == c.broken {
						return nil, errors.New("it breaks")
					}
					return works(p)
				}
				text, err := b.Hover(t.Context(), tool.CodeAt{Symbol: c.symbol})
				if err != nil {
					text = err.Error()
				}
				for _, w := range c.want {
					if !strings.Contains(text, w) {
						t.Errorf("no %q in: %s", w, text)
					}
				}
				if c.not != "" && strings.Contains(text, c.not) {
					t.Errorf("%q in: %s", c.not, text)
				}
				if n := b.started(); n != c.starts {
					t.Errorf("%d servers were started, want %d", n, c.starts)
				}
			})
		})
	}
}

// SPEC 12.2: a symbol that several servers know is one symbol, and the server of
// its own project is asked about it.
func TestNameOfAnImport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := projects(t, 2, func(i int) string { return []string{"", "call Foo\n", "def Foo\n"}[i] })
		defer b.Close()
		works := b.make
		b.make = func(c process.Program) (*fake, error) {
			f, err := works(c)
			f.answers["workspace/symbol"] = func(json.RawMessage) any { return defined(b.path("m2/f.x"), "p") }
			return f, err
		}
		if text, err := b.Hover(t.Context(), tool.CodeAt{Symbol: "Foo"}); err != nil || !strings.Contains(text, "/m2 says") {
			t.Errorf("%q, %v", text, err)
		}
	})
}

// SPEC 12.2: lists of the whole workspace say so where not all projects were asked.
func TestListsOfProjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := projects(t, examplesLimit+1, func(int) string { return "def Foo\n" })
		defer b.Close()
		if _, err := b.Symbols(t.Context(), "", "Foo"); err == nil || !strings.Contains(err.Error(), "8 symbols are known, and there may be more: not asked were these projects: m9") {
			t.Errorf("%v", err)
		}
		if ds, err := b.Diagnostics(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "m9") {
			t.Errorf("%v, %v", ds, err)
		}
	})
}

// SPEC 12.3: a server that hangs is told of in words, not as a missed deadline.
func TestTryHung(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := projects(t, 1, func(int) string { return "" })
		defer b.Close()
		b.make = func(process.Program) (*fake, error) {
			f := newFake(t)
			f.answers["initialize"] = func(json.RawMessage) any { return silence{} }
			return f, nil
		}
		began := time.Now()
		_, err := b.Try(t.Context(), Here{server: &b.table[0]})
		if err == nil || !strings.Contains(err.Error(), "did not answer within 30s") || strings.Contains(err.Error(), "deadline") {
			t.Errorf("%v", err)
		}
		if took := time.Since(began); took != 30*time.Second {
			t.Errorf("it took %s", took)
		}
		time.Sleep(time.Minute) // the start comes to its end
	})
}
