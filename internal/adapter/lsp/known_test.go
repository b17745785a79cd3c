package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// Known asks the servers that run, starts none, and has all lines of what it
// lists.
//
// SPEC 10.1, 12.2
func TestKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "# doc\ndef run\n  body\ndef walk\n"}, nil)
		defer b.Close()
		started := 0
		b.make = func(process.Program) (*fake, error) {
			started++
			f := newFake(t)
			at := func(name string, line int) string {
				return fmt.Sprintf(`{"name":%q,"kind":12,"location":{"uri":%q,"range":{"start":{"line":%d,"character":4},"end":{"line":%d,"character":7}}}}`, name, toURI(b.path("a.x")), line, line)
			}
			f.answers["workspace/symbol"] = func(json.RawMessage) any {
				return json.RawMessage("[" + strings.Join([]string{at("run", 1), at("gone", 9), `{"name":"run","kind":12,"location":{"uri":"file:///usr/lib/c.x","range":{"start":{"line":0,"character":0},"end":{"line":0,"character":1}}}}`}, ",") + "]")
			}
			f.answers["textDocument/documentSymbol"] = func(json.RawMessage) any {
				return json.RawMessage(`[{"name":"run","kind":12,"range":{"start":{"line":1,"character":0},"end":{"line":2,"character":6}},"selectionRange":{"start":{"line":1,"character":4},"end":{"line":1,"character":7}}}]`)
			}
			return f, nil
		}
		if got := b.Known(t.Context(), "run"); len(got) > 0 || started > 0 {
			t.Errorf("without a server: %v, %d started", got, started)
		}
		if _, err := b.Symbols(t.Context(), "a.x", ""); err != nil { // which starts one
			t.Fatal(err)
		}
		got := b.Known(t.Context(), "run")
		if len(got) != 1 || got[0].Path != "a.x" || got[0].Line != 2 || got[0].EndLine != 3 || got[0].Name != "run" {
			t.Errorf("%+v", got)
		}
		if (*Servers)(nil).Known(t.Context(), "run") != nil {
			t.Error("no servers know something")
		}
	})
}
