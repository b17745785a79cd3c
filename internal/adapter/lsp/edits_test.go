package lsp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// SPEC 12.2: what a server wants changed becomes writes, all of it or none, and
// nothing outside of the workspace.
func TestWorkspaceEdits(t *testing.T) {
	const one = `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":"new"}`
	for _, c := range []struct{ name, edit, want, fails string }{
		{"changes", `{"changes":{"$A":[` + one + `],"$B":[` + one + `]}}`, "a.x=new🐾 | b.x=\ufeffnew", ""},
		{"document changes", `{"documentChanges":[{"textDocument":{"uri":"$A","version":1},"edits":[` + one + `]}]}`, "a.x=new🐾", ""},
		{"without a version", `{"documentChanges":[{"textDocument":{"uri":"$A","version":null},"edits":[` + one + `]}]}`, "a.x=new🐾", ""},
		{"document changes count before changes", `{"changes":{"$B":[` + one + `]},"documentChanges":[{"textDocument":{"uri":"$A"},"edits":[` + one + `]}]}`, "a.x=new🐾", ""},
		{"the same file twice", `{"documentChanges":[{"textDocument":{"uri":"$A"},"edits":[` + one + `]},{"textDocument":{"uri":"$A"},"edits":[` + one + `]}]}`, "a.x=new🐾", ""},
		{"a file is made", `{"documentChanges":[{"kind":"create","uri":"$N"},{"textDocument":{"uri":"$N","version":null},"edits":[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"newText":"made"}]}]}`, "sub/n.x=made", ""},
		{"a file is renamed and edited", `{"documentChanges":[{"kind":"rename","oldUri":"$B","newUri":"$N"},{"textDocument":{"uri":"$N","version":null},"edits":[` + one + `]}]}`, "b.x→sub/n.x=\ufeffnew", ""},
		{"a file is deleted", `{"documentChanges":[{"kind":"delete","uri":"$B"}]}`, "b.x removed", ""},
		{"made and deleted again", `{"documentChanges":[{"kind":"create","uri":"$N"},{"kind":"delete","uri":"$N","options":{"ignoreIfNotExists":true}}]}`, "", ""},
		{"nothing changes", `{"changes":{"$A":[]}}`, "", ""},
		{"another version", `{"documentChanges":[{"textDocument":{"uri":"$A","version":7},"edits":[` + one + `]}]}`, "", "another version"},
		{"changed meanwhile", `{"changes":{"$A":[` + one + `]}}`, "", "changed while"},
		{"outside", `{"changes":{"$A":[` + one + `],"file:///etc/passwd":[` + one + `]}}`, "", "not a file of the workspace"},
		{"outside by dots", `{"changes":{"$A/../../../x":[` + one + `]}}`, "", "not a file of the workspace"},
		{"made outside", `{"documentChanges":[{"kind":"create","uri":"file:///tmp/evil"}]}`, "", "not a file of the workspace"},
		{"renamed to outside", `{"documentChanges":[{"kind":"rename","oldUri":"$A","newUri":"file:///tmp/evil"}]}`, "", "not a file of the workspace"},
		{"no file", `{"changes":{"untitled:1":[` + one + `]}}`, "", "not a file of the workspace"},
		{"a file that is not there", `{"changes":{"$N":[` + one + `]}}`, "", "does not exist"},
		{"made where one is", `{"documentChanges":[{"kind":"create","uri":"$B"}]}`, "", "exists already"},
		{"renamed onto one", `{"documentChanges":[{"kind":"rename","oldUri":"$A","newUri":"$B"}]}`, "", "exists already"},
		{"edits that overlap", `{"changes":{"$A":[` + one + `,` + one + `]}}`, "", "overlap"},
		{"a kind of the future", `{"documentChanges":[{"kind":"chmod","uri":"$A"}]}`, "", "not known"},
		{"a folder", `{"documentChanges":[{"kind":"delete","uri":"$D"}]}`, "", "not a regular file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, map[string]string{"project.x": "", "a.x": "old🐾", "b.x": "\ufeffold", "dir/c.x": ""}, nil)
				defer b.Close()
				b.make = func(process.Program) (*fake, error) {
					f := newFake(t)
					f.answers["textDocument/rename"] = func(json.RawMessage) any {
						if c.name == "changed meanwhile" {
							must.Write(t, b.path("a.x"), "old, by somebody else")
						}
						return json.RawMessage(strings.NewReplacer("$A", toURI(b.path("a.x")), "$B", toURI(b.path("b.x")), "$N", toURI(b.path("sub/n.x")), "$D", toURI(b.path("dir"))).Replace(c.edit))
					}
					return f, nil
				}
				ws, err := b.Rename(t.Context(), tool.CodeAt{Path: "a.x", Line: 1}, "new")
				var got []string
				for _, w := range ws {
					text := fmt.Sprintf("%s=%s", w.Path, w.Data)
					switch {
					case w.Remove:
						text = w.Path + " removed"
					case w.MoveTo != "":
						text = fmt.Sprintf("%s→%s=%s", w.Path, w.MoveTo, w.Data)
					}
					if was, err := b.hash(w.Path); err == nil && w.Expect != was {
						t.Errorf("%s: expects %q of a file that has %q", w.Path, w.Expect, was)
					}
					got = append(got, text)
				}
				if strings.Join(got, " | ") != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%q, %v; want %q, %q", got, err, c.want, c.fails)
				}
			})
		})
	}
}

func (b *bench) hash(name string) (tool.Hash, error) {
	s, _, err := load(b.path(name))
	if err != nil {
		return "", err
	}
	if name == "b.x" {
		s = bom + s
	}
	return edits.HashOf([]byte(s)), nil
}

// SPEC 12.2: of a server's commands only those run that do nothing but hand over
// an edit, and an edit that nobody asked for is refused.
func TestActions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, map[string]string{"project.x": "", "a.x": "old"}, func(o *Options) { o.Table[0].Edits = []string{"x.fix"} })
		defer b.Close()
		edit := fmt.Sprintf(`{"changes":{%q:[{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"newText":"new"}]}}`, toURI(b.path("a.x")))
		b.make = func(process.Program) (*fake, error) {
			f := newFake(t)
			f.caps = strings.Replace(f.caps, `"codeActionProvider":true`, `"codeActionProvider":{"resolveProvider":true}`, 1)
			f.answers["textDocument/didOpen"] = func(json.RawMessage) any { f.publish(b.path("a.x"), 1, "wrong"); return nil }
			f.answers["textDocument/codeAction"] = func(params json.RawMessage) any {
				if !strings.Contains(string(params), `"wrong"`) {
					t.Errorf("asked without the diagnostics: %s", params)
				}
				return json.RawMessage(`[{"title":"By edit","edit":` + edit + `},{"title":"Resolved","data":{"secret":7}},
					{"title":"Known command","command":{"title":"","command":"x.fix","arguments":[1]}},{"title":"Known bare","command":"x.fix"},
					{"title":"Shell command","command":{"title":"","command":"x.run_shell"}},{"title":"Unknown bare","command":"x.run_shell"},
					{"title":"Edit and unknown command","edit":` + edit + `,"command":{"title":"","command":"x.run_shell"}},
					{"title":"Disabled","disabled":{"reason":"not here"}},{"title":""},7]`)
			}
			f.answers["codeAction/resolve"] = func(params json.RawMessage) any {
				if !strings.Contains(string(params), `"secret":7`) {
					t.Errorf("resolved without what only the server reads: %s", params)
				}
				return json.RawMessage(`{"title":"Resolved","edit":` + edit + `}`)
			}
			f.answers["workspace/executeCommand"] = func(params json.RawMessage) any {
				if !strings.Contains(string(params), "x.fix") {
					t.Errorf("ran %s", params)
				}
				f.send(map[string]any{"jsonrpc": "2.0", "id": 900, "method": "workspace/applyEdit", "params": json.RawMessage(`{"edit":` + edit + `}`)})
				return nil
			}
			return f, nil
		}
		at := tool.CodeAt{Path: "a.x", Line: 1}
		as, err := b.Actions(t.Context(), at, 1)
		var titles []string
		for _, a := range as {
			titles = append(titles, a.Title)
		}
		if want := "By edit, Resolved, Known command, Known bare, Edit and unknown command, Disabled"; err != nil || strings.Join(titles, ", ") != want {
			t.Errorf("%q, %v", titles, err)
		}
		for title, fails := range map[string]string{
			"By edit": "", "Resolved": "", "Known command": "", "known bare": "", "Edit and unknown command": "",
			"Shell command": "no single action", "Unknown bare": "no single action", "Disabled": "not here", "Known": "no single action",
		} {
			ws, err := b.Act(t.Context(), at, 1, title)
			if (err != nil) != (fails != "") || err != nil && !strings.Contains(err.Error(), fails) || err == nil && (len(ws) != 1 || string(ws[0].Data) != "new") {
				t.Errorf("%s: %+v, %v", title, ws, err)
			}
		}
	})
}
