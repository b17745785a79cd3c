package session_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// The edit corpus of issue 5, through the real tools and the real workspace.

const (
	corpusBOM = "\ufeff"
	nbsp      = "\u00a0"
)

type j map[string]any

var editTools = tool.Set{tools.Edit(), tools.MultiEdit(), tools.Write(), tools.ApplyPatch()}

// change runs a call as the engine does: validated, measured, previewed, run.
func change(t testing.TB, files tool.Files, name string, in any) tool.Result {
	t.Helper()
	raw := must.Get(json.Marshal(in))(t)
	tl, _ := editTools.Find(name)
	env := tool.Env{Files: files, Limit: 20_000}
	if err := tl.Check(raw); err != nil {
		return tool.Errorf("check: %s", err)
	}
	if _, err := tl.Footprint(env, raw); err != nil {
		return tool.Errorf("footprint: %s", err)
	}
	r, err := tl.Run(t.Context(), env, raw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

func folder(t testing.TB, files map[string]string) (*workspace.Workspace, string) {
	t.Helper()
	dir := must.Dir(t)
	for name, text := range files {
		p := filepath.Join(dir, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(p), 0o755), os.WriteFile(p, []byte(text), 0o644)))
	}
	ws := must.Get(workspace.Open(dir, workspace.Options{}))(t)
	t.Cleanup(func() { _ = ws.Close() })
	return ws, dir
}

func edit(old, text string) j { return j{"path": "f", "old": old, "new": text} }

func multi(pairs ...string) j {
	var es []j
	for i := 0; i < len(pairs); i += 2 {
		es = append(es, edit(pairs[i], pairs[i+1]))
	}
	return j{"edits": es}
}

func blocks(lines ...string) j {
	return j{"patch": "*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n"}
}

// SPEC 4.5, 4.10; issue 5 "Edit corpus".
func TestCorpus(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300_000)
	for _, c := range []struct {
		name, file string // what f holds
		tool       string
		in         j
		want       string   // of f; "=" as it was
		says       []string // parts of the result
		fails      bool
	}{
		{"CRLF", "a\r\nb\r\nc\r\n", "edit", edit("a\nb", "a\nx\nb"), "a\r\nx\r\nb\r\nc\r\n", []string{"line endings differed"}, false},
		{"CRLF, replace_all", "a\r\nb\r\na\r\nb\r\n", "edit", j{"path": "f", "old": "a\nb", "new": "c\nd", "replace_all": true}, "c\r\nd\r\nc\r\nd\r\n", []string{"2 replacements"}, false},
		{"CRLF, whole", "a\r\nb\r\n", "write", j{"path": "f", "content": "x\ny\n"}, "x\r\ny\r\n", []string{"CRLF line endings were kept"}, false},
		{"CRLF, patched from LF", "a\r\nb\r\nc\r\n", "apply_patch", j{"patch": "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n"}, "a\r\nB\r\nBB\r\nc\r\n", []string{"edited f (+2 -1)"}, false},
		{"LF, patched from CRLF", "a\nb\nc\n", "apply_patch", j{"patch": "--- a/f\r\n+++ b/f\r\n@@ -1,3 +1,3 @@\r\n a\r\n-b\r\n+B\r\n c\r\n"}, "a\nB\nc\n", []string{"edited f (+1 -1)"}, false},
		{"mixed endings stay mixed", "a\r\nb\nc\r\nd\n", "edit", edit("c", "c1\nc2"), "a\r\nb\nc1\r\nc2\r\nd\n", []string{"edited f"}, false},
		{"mixed endings in the match", "a\r\nb\nc\r\n", "edit", edit("a\nb\nc", "a\nB\nc"), "a\r\nB\nc\r\n", []string{"line endings differed"}, false},
		{"BOM", corpusBOM + "a\nb\n", "edit", edit("a\nb", "x\ny"), corpusBOM + "x\ny\n", nil, false},
		{"BOM, whole", corpusBOM + "a\n", "write", j{"path": "f", "content": "x\n"}, corpusBOM + "x\n", []string{"byte order mark was kept"}, false},
		{"BOM, patched", corpusBOM + "a\nb\n", "apply_patch", blocks("*** Update File: f", "@@", "-a", "+x", " b"), corpusBOM + "x\nb\n", nil, false},
		{"BOM and CRLF", corpusBOM + "a\r\nb\r\n", "edit", edit("a\nb\n", "x\ny\nz\n"), corpusBOM + "x\r\ny\r\nz\r\n", nil, false},
		{"tabs given as spaces", "func f() {\n\tif x {\n\t\ty()\n\t}\n}\n", "edit", edit("    if x {\n        y()\n    }", "    if x {\n        z()\n    }"), "func f() {\n\tif x {\n\t\tz()\n\t}\n}\n", []string{"dashes differed"}, false},
		{"spaces given as tabs", "if x:\n    y()\n    z()\n", "edit", edit("\ty()\n\tz()", "\ty()\n\tw()\n\tz()"), "if x:\n    y()\n    w()\n    z()\n", []string{"dashes differed"}, false},
		{"tabs and spaces in one file", "\ta\n    b\n\tc\n", "edit", edit("a\nb\nc", "a\nB\nc"), "=", []string{"is unclear"}, true},
		{"no final newline", "a\nb", "edit", edit("b", "B"), "a\nB", nil, false},
		{"no final newline, added on purpose", "a\nb", "edit", edit("a\nb", "a\nb\n"), "a\nb\n", nil, false},
		{"no final newline, patched", "a\nb", "apply_patch", blocks("*** Update File: f", "@@", "-b", "+B"), "a\nB", nil, false},
		{"no final newline, marked in a diff", "a\nb", "apply_patch", j{"patch": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+B\n\\ No newline at end of file\n"}, "a\nB", nil, false},
		{"Unicode quotes in the file", "x := “a” // it’s\n", "edit", edit(`x := "a" // it's`, `x := "b" // it's`), "x := “b” // it’s\n", []string{"typographically"}, false},
		{"Unicode quotes in old", "x := \"a\"\n", "edit", edit("x := “a”", "x := “b”"), "x := \"b\"\n", []string{"typographically"}, false},
		{"non-breaking spaces", "a" + nbsp + "b = 1" + nbsp + "// c\n", "edit", edit("a b = 1 // c", "a b = 2 // c"), "a" + nbsp + "b = 2" + nbsp + "// c\n", nil, false},
		{"non-breaking spaces over lines", "a" + nbsp + "b\n\tc" + nbsp + "d\n", "edit", edit("a b\n    c d", "a b\n    c e"), "a" + nbsp + "b\n\tc e\n", []string{"differed"}, false},
		{"quotes and whitespace", "\tsay(“a”)\n\tsay(“b”)\n", "edit", edit("    say(\"a\")\n    say(\"b\")", "    say(\"a\")\n    say(\"c\")"), "\tsay(“a”)\n\tsay(“c”)\n", []string{"dashes differed"}, false},
		{"regular expressions are text", "m(`a.*[b]+(c|d)$`)\nm(`aXXb`)\n", "edit", edit("`a.*[b]+(c|d)$`", "`^$1\\1${x}$&`"), "m(`^$1\\1${x}$&`)\nm(`aXXb`)\n", nil, false},
		{"backslashes", `p := "C:\\new\\t" + "\n"`, "edit", edit(`"C:\\new\\t" + "\n"`, `"\\\n$"`), `p := "\\\n$"`, nil, false},
		{"empty old, empty file", "", "edit", edit("", "a\n"), "a\n", nil, false},
		{"empty old", "a\n", "edit", edit("", "b\n"), "=", []string{"old is empty"}, true},
		{"old equals new", "a\n", "edit", edit("a", "a"), "=", []string{"the same"}, true},
		{"applied already", "func f() int {\n\treturn compute(2)\n}\n", "edit", edit("\treturn compute(1)", "\treturn compute(2)"), "=", []string{"already applied", "at line 2", "2\t\treturn compute(2)"}, false},
		{"chance is no proof of it", "x()\nreturn nil\n}\n\nfunc g() {\n", "edit", edit("y(1, 2, 3)", "return nil"), "=", []string{"not found"}, true},
		{"nor is what is there twice", "return compute(2)\nreturn compute(2)\n", "edit", edit("return compute(1)", "return compute(2)"), "=", []string{"not found"}, true},
		{"overlapping edits", "abcdef\n", "multi_edit", multi("abcd", "ABCD", "cdef", "CDEF"), "=", []string{"edit 2 of 2 failed, so none was made", "ABCDef", "none of which was written"}, true},
		{"a later edit sees an earlier one", "a\nb\n", "multi_edit", multi("a", "one\ntwo", "two\nb", "three"), "one\nthree\n", []string{"2 replacements"}, false},
		{"an earlier edit makes a later one ambiguous", "a\nb\n", "multi_edit", multi("a", "b", "b", "c"), "=", []string{"matches 2 places, at line 1, 2"}, true},
		{"n matches", "x\ny\nx\nz\nx\n", "edit", edit("x", "w"), "=", []string{"matches 3 places, at line 1, 3, 5", "1\tx\n", "3\tx\n", "5\tx"}, true},
		{"nearest lines", "func Alpha() {\n\treturn 1\n}\n\nfunc Beta() {\n\treturn 2\n}\n", "edit", edit("func Beta() {\n\treturn 3\n}", "x"), "=", []string{"not found", "5\tfunc Beta() {\n6\t\treturn 2\n7\t}"}, true},
		{"copied with line numbers", "a\nif x {\n\ty()\n}\n", "edit", edit("2\tif x {\n3\t\ty()\n4\t}", "2\tif x {\n3\t\tz()\n4\t}"), "=", []string{"not found", "2\tif x {"}, true},
		{"a table of numbers is no copy", "1\ta\n2\tb\n", "edit", edit("1\ta\n2\tb", "1\ta\n2\tc"), "1\ta\n2\tc\n", nil, false},
		{"escaped as HTML", "if a < b && c > d {\n", "edit", edit("if a &lt; b &amp;&amp; c &gt; d {", "if a &lt;= b {"), "=", []string{"not found", "1\tif a < b"}, true},
		{"HTML is HTML", "<p>a &lt; b</p>\n", "edit", edit("a &lt; b", "a &lt;= b"), "<p>a &lt;= b</p>\n", nil, false},
		{"invalid UTF-8", "caf\xe9 = 1\n\xff\xfe\n", "edit", edit("= 1", "= 2"), "caf\xe9 = 2\n\xff\xfe\n", nil, false},
		{"NUL", "a\x00b\n", "edit", edit("a", "b"), "=", []string{"binary"}, true},
		{"very long line", "head " + long + " tail\n", "edit", edit("head ", "HEAD "), "HEAD " + long + " tail\n", []string{"edited f (+1 -1) at line 1"}, false},
		{"emptied on purpose", "a\n", "edit", edit("a\n", ""), "", nil, false},
		{"never emptied silently", "a\n", "write", j{"path": "f"}, "=", []string{"content is missing, and f exists"}, true},

		{"patch: fence", "a\nb\n", "apply_patch", j{"patch": "```diff\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n```\n"}, "A\nb\n", nil, false},
		{"patch: fenced blocks", "a\nb\n", "apply_patch", j{"patch": "Here it is:\n```\n*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n*** End Patch\n```\n"}, "A\nb\n", nil, false},
		{"patch: heredoc", "a\nb\n", "apply_patch", j{"patch": "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n@@\n-a\n+A\n*** End Patch\nEOF\n"}, "A\nb\n", nil, false},
		{"patch: heredoc of a diff", "a\nb\n", "apply_patch", j{"patch": "patch -p1 <<'EOF'\n--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\nEOF\n"}, "A\nb\n", nil, false},
		{"patch: stars at the end", "a\nb\n", "apply_patch", j{"patch": "*** Begin Patch ***\n*** Update File: f ***\n@@\n-a\n+A\n*** End Patch ***\n"}, "A\nb\n", nil, false},
		{"patch: no End Patch", "a\nb\n", "apply_patch", j{"patch": "*** Begin Patch\n*** Update File: f\n@@\n-a\n+A"}, "=", []string{"cut off"}, true},
		{"patch: wrong counts", "a\nb\nc\n", "apply_patch", j{"patch": "--- a/f\n+++ b/f\n@@ -1,99 +1,2 @@\n a\n-b\n+B\n c\n"}, "a\nB\nc\n", nil, false},
		{"patch: wrong line", "1\n2\n3\n4\n5\na\nb\n", "apply_patch", j{"patch": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+B\n"}, "1\n2\n3\n4\n5\na\nB\n", []string{"line 1 was found at line 6"}, false},
		{"patch: times behind the names", "a\n", "apply_patch", j{"patch": "--- f\t2024-01-01 00:00:00\n+++ f\t2024-01-02 00:00:00\n@@ -1 +1 @@\n-a\n+A\n"}, "A\n", nil, false},
		{"patch: several hunks", "a\nb\nc\nd\ne\nf\n", "apply_patch", blocks("*** Update File: f", "@@", " a", "-b", "+B", "@@", "-e", "+E"), "a\nB\nc\nd\nE\nf\n", []string{"2 replacements"}, false},
		{"patch: behind a line", "f:\n x\ng:\n x\n", "apply_patch", blocks("*** Update File: f", "@@ g:", "- x", "+ y"), "f:\n x\ng:\n y\n", nil, false},
		{"patch: an insertion says where", "f:\n x\ng:\n x\n", "apply_patch", blocks("*** Update File: f", "@@ f:", "+ new"), "f:\n new\n x\ng:\n x\n", nil, false},
		{"patch: whitespace", "if x {\n\ty()\n}\n", "apply_patch", blocks("*** Update File: f", "@@", " if x {", "-    y()", "+    z()", " }"), "if x {\n\tz()\n}\n", []string{"dashes differed"}, false},
		{"patch: context that is not there", "a\nb\n", "apply_patch", blocks("*** Update File: f", "@@", " zzz", "-b", "+B"), "=", []string{"not found", "2\tb"}, true},
		{"patch: no such file", "a\n", "apply_patch", blocks("*** Update File: g", "@@", "-a", "+b"), "=", []string{"g does not exist"}, true},
		{"patch: add what exists", "a\n", "apply_patch", blocks("*** Add File: f", "+b"), "=", []string{"exists already"}, true},
		{"patch: delete what is other", "a\nb\n", "apply_patch", j{"patch": "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"}, "=", []string{"lines that the patch does not"}, true},
		{"patch: trailing blank line", "a\nb\n", "apply_patch", j{"patch": "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\n\n"}, "A\nb\n", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ws, dir := folder(t, map[string]string{"f": c.file})
			r := change(t, ws, c.tool, c.in)
			want := c.want
			if want == "=" {
				want = c.file
			}
			got, err := os.ReadFile(filepath.Join(dir, "f"))
			if err != nil || string(got) != want || r.Error != c.fails {
				t.Errorf("error %v, %v, f is %.200q, want %.200q\n%.2000s", r.Error, err, got, want, r.Text)
			}
			for _, s := range c.says {
				if !strings.Contains(r.Text, s) {
					t.Errorf("does not say %q:\n%.2000s", s, r.Text)
				}
			}
			if es, _ := os.ReadDir(dir); len(es) != 1 {
				t.Errorf("left behind: %v", es)
			}
		})
	}
}
