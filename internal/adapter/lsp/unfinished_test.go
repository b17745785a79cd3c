package lsp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 12.2: while a server reads the project, nothing that it did not find counts as
// absent: no clean file, no unused symbol.
func TestStillReading(t *testing.T) {
	const loading = `{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"begin","title":"Loading packages"}}}`
	const at40 = `{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"report","message":"40 of 321 files"}}}`
	const ended = `{"jsonrpc":"2.0","method":"$/progress","params":{"token":1,"value":{"kind":"end"}}}`
	for name, ask := range map[string]func(*bench) (int, error){
		"diagnostics of a file": func(b *bench) (int, error) {
			ds, err := b.Diagnostics(b.t.Context(), []string{"a.x"})
			return len(ds), err
		},
		"diagnostics of all": func(b *bench) (int, error) {
			ds, err := b.Diagnostics(b.t.Context(), nil)
			return len(ds), err
		},
		"references": func(b *bench) (int, error) {
			ps, err := b.References(b.t.Context(), tool.CodeAt{Path: "a.x", Line: 1})
			return len(ps), err
		},
		"definition": func(b *bench) (int, error) {
			ps, err := b.Definition(b.t.Context(), tool.CodeAt{Path: "a.x", Line: 1})
			return len(ps), err
		},
		"symbols": func(b *bench) (int, error) {
			ps, err := b.Symbols(b.t.Context(), "", "one")
			return len(ps), err
		},
		"a name": func(b *bench) (int, error) {
			h, err := b.Hover(b.t.Context(), tool.CodeAt{Symbol: "one"})
			return len(h), err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n"}, nil)
				defer b.Close()
				b.make = func(process.Program) (*fake, error) {
					f := newFake(t)
					f.answers["initialized"] = func(json.RawMessage) any {
						f.send(json.RawMessage(loading))
						f.send(json.RawMessage(at40))
						return nil
					}
					return f, nil
				}
				n, err := ask(b)
				if n != 0 || !errors.Is(err, errUnfinished) || !strings.Contains(err.Error(), "x is still at work (Loading packages: 40 of 321 files)") {
					t.Errorf("while it loads: %d, %v", n, err)
				}
				if got := b.Status()[0]; got.State != "working" || got.Problem != "Loading packages: 40 of 321 files" {
					t.Errorf("%+v", got)
				}
				f := b.fake(0)
				f.send(json.RawMessage(ended))
				f.publish(b.path("a.x"), 0)
				if _, err := ask(b); errors.Is(err, errUnfinished) {
					t.Errorf("after it: %v", err)
				}
			})
		})
	}
}

// SPEC 12.2: a file about which a server said nothing is not clean, and what another
// server found is shown beside that.
func TestSilentIsNotClean(t *testing.T) {
	for name, c := range map[string]struct {
		pull bool
		want string
	}{
		"it never reports":     {false, "x did not report what is wrong within 30s"},
		"it refuses to report": {true, "x did not report what is wrong: x: no"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, map[string]string{"project.x": "", "a.x": "one\n"}, func(o *Options) { o.Table[0].Pull = c.pull })
				defer b.Close()
				b.make = func(process.Program) (*fake, error) {
					f := newFake(t)
					f.caps = `{"textDocumentSync":2,"diagnosticProvider":{}}`
					f.answers["textDocument/diagnostic"] = func(json.RawMessage) any { return fakeError{-32603, "no"} }
					return f, nil
				}
				if ds, err := b.Diagnostics(b.t.Context(), []string{"a.x"}); len(ds) > 0 || !errors.Is(err, errUnfinished) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, %v", ds, err)
				}
			})
		})
	}
}
