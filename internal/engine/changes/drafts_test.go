package changes_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/edits"
)

// SPEC 16.11: drafts change nothing, and later ones see earlier ones.
func TestDrafts(t *testing.T) {
	t.Parallel()
	r := newTestRecorder(t)
	must.Do(t, r.write(tool.Write{Path: "a", Data: []byte("one\n")}))
	d := changes.NewDrafts(r.files, false)
	first, err := d.Write(t.Context(), "a", []byte("two\n"), edits.HashOf([]byte("one\n")))
	if err != nil || first.Added != 1 || first.Removed != 1 {
		t.Fatalf("%+v, %v", first, err)
	}
	cs, err := d.WriteAll(t.Context(), []tool.Write{{Path: "a", Data: []byte("two\n"), Expect: first.After, MoveTo: "b"}})
	if err != nil || len(cs) != 2 || cs[0].Path != "a" || cs[0].After != "" || cs[1].Path != "b" || cs[1].Before != "" {
		t.Fatalf("%+v, %v", cs, err)
	}
	if f, err := d.Read(t.Context(), "b", 0); err != nil || string(f.Data) != "two\n" {
		t.Errorf("%q, %v", f.Data, err)
	}
	if _, err := d.Read(t.Context(), "a", 0); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if r.read("a") != "one\n" || r.read("b") != "-" {
		t.Errorf("%q %q", r.read("a"), r.read("b"))
	}
}

// SPEC 4.3, 4.7: a preview is the diff of what the call would do, whatever it
// does to a file; it fails where the call would, and changes nothing.
func TestPreview(t *testing.T) {
	t.Parallel()
	patch := func(lines ...string) string {
		raw, _ := json.Marshal(map[string]string{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch"})
		return string(raw)
	}
	git := func(text string) string {
		raw, _ := json.Marshal(map[string]string{"patch": text})
		return string(raw)
	}
	for _, c := range []struct {
		name, args string
		by         tool.Tool
		text       string // what the preview begins with; "": all of it
		counts     string
	}{
		{"a new file", `{"path":"new","content":"x\n"}`, tools.Write(), "--- /dev/null\n+++ b/new\n@@ -0,0 +1,1 @@\n+x\n", "new (new, +1)"},
		{"a new empty file", `{"path":"new","content":""}`, tools.Write(), "new empty file new\n", "new (new, +0)"},
		{"a file replaced", `{"path":"f","content":"b\n"}`, tools.Write(), "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n", "f (+1 -1)"},
		{"a file with its own content", `{"path":"f","content":"a\n"}`, tools.Write(), "", ""},
		{"a binary file", `{"path":"bin","content":"text\n"}`, tools.Write(), "--- a/bin\n+++ b/bin\n(binary)\n", "bin (binary)"},
		{"no content", `{"path":"f"}`, tools.Write(), "this would fail now: content is missing", ""},
		{"an edit", `{"path":"f","old":"a","new":"b"}`, tools.Edit(), "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n", "f (+1 -1)"},
		{"an edit without a place", `{"path":"f","old":"none","new":"b"}`, tools.Edit(), "this would fail now: f: ", ""},
		{"many edits", `{"edits":[{"path":"f","old":"a","new":"b"}]}`, tools.MultiEdit(), "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n", "f (+1 -1)"},
		{"many edits of which one fails", `{"edits":[{"path":"f","old":"a","new":"b"},{"path":"f","old":"none","new":"b"}]}`, tools.MultiEdit(), "this would fail now: edit 2 of 2 failed", ""},
		{"a file deleted", patch("*** Delete File: f"), tools.ApplyPatch(), "--- a/f\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-a\n", "f (deleted, -1)"},
		{"an empty file deleted", patch("*** Delete File: empty"), tools.ApplyPatch(), "delete the empty file empty\n", "empty (deleted, -0)"},
		{"a file moved", patch("*** Update File: f", "*** Move to: d/g", "@@", "-a", "+b"), tools.ApplyPatch(),
			"rename f to d/g\n--- a/f\n+++ b/d/g\n@@ -1,1 +1,1 @@\n-a\n+b\n", "f (deleted, -1), d/g (new, +1)"},
		{"a mode", git("diff --git a/f b/f\nold mode 100644\nnew mode 100755\n"), tools.ApplyPatch(), "mode of f becomes 0755\n", "f (mode)"},
		{"two files", patch("*** Update File: f", "@@", "-a", "+b", "*** Add File: n", "+n"), tools.ApplyPatch(),
			"--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+n\n", "f (+1 -1), n (new, +1)"},
	} {
		r := newTestRecorder(t)
		must.Do(t, r.write(tool.Write{Path: "f", Data: []byte("a\n")}, tool.Write{Path: "empty"}, tool.Write{Path: "bin", Data: []byte("\x00\x01")}))
		d := changes.NewDrafts(r.files, false)
		text, counts, instead := d.Preview(t.Context(), &turn.Pending{Tool: c.by, Args: json.RawMessage(c.args)}, 50_000)
		failing := strings.HasPrefix(c.text, "this would fail")
		if (instead != nil && instead.Outcome != event.OK) != failing || instead != nil && instead.Text == "" {
			t.Errorf("%s: ends with %+v", c.name, instead)
		}
		if text != c.text && !(failing && strings.HasPrefix(text, c.text) && strings.HasSuffix(text, "\n"+c.args)) || counts != c.counts {
			t.Errorf("%s: %q, %q", c.name, text, counts)
		}
		names, err := os.ReadDir(r.dir)
		if err != nil || len(names) != 3 || r.read("f") != "a\n" {
			t.Errorf("%s: %d files, f is %q, %v", c.name, len(names), r.read("f"), err)
		}
	}
}

// SPEC 4.3: a call is done to drafts only where its tool changes nothing but
// files through its Env: others are not run to see what they would do.
func TestPreviewRunsOnlyEdits(t *testing.T) {
	t.Parallel()
	r := newTestRecorder(t)
	for _, c := range []struct {
		kind    tool.Kind
		unknown bool
		want    bool
	}{{tool.Edit, false, true}, {tool.Edit, true, false}, {tool.Exec, false, false}, {tool.Note, false, false}, {tool.Read, false, false}, {"", false, false}} {
		ran := false
		by := tool.Tool{Facts: tool.Facts{Kind: c.kind}, Run: func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			ran = true
			return tool.Result{}, os.WriteFile(filepath.Join(r.dir, "beside"), nil, 0o600)
		}}
		d := changes.NewDrafts(r.files, false)
		p := &turn.Pending{Tool: by, Footprint: tool.Footprint{Unknown: c.unknown}}
		d.Preview(t.Context(), p, 1000)
		d.Narrow(t.Context(), p, []tool.Span{{Path: "none"}}, 1000)
		if ran != c.want {
			t.Errorf("%q, footprint unknown %v: ran %v", c.kind, c.unknown, ran)
		}
	}
}
