package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

type m map[string]any

// The edit corpus of issue 5. SPEC 4.5, 4.10.
func TestEdit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file string
		args       m
		want       string // the file after; "" unchanged
		says       string // in the result
		fails      bool
	}{
		{"exact", "a\nb\nc\n", m{"old": "b", "new": "B"}, "a\nB\nc\n", "edited f (+1 -1) at line 2", false},
		{"delete", "a\nb\nc\n", m{"old": "b\n", "new": ""}, "a\nc\n", "edited f", false},
		{"no final newline", "a\nb", m{"old": "b", "new": "c"}, "a\nc", "edited", false},
		{"$ and backslashes are literal", `x := "$1\n"`, m{"old": `$1\n`, "new": `${2}\\$&`}, `x := "${2}\\$&"`, "edited", false},
		{"CRLF kept", "a\r\nb\r\nc\r\n", m{"old": "a\nb\n", "new": "a\nx\ny\n"}, "a\r\nx\r\ny\r\nc\r\n", "line endings", false},
		{"CRLF in a one-line match", "a\r\nb\r\n", m{"old": "b", "new": "x\ny"}, "a\r\nx\r\ny\r\n", "edited", false},
		{"CRLF given for an LF file", "a\nb\n", m{"old": "a\r\nb", "new": "x\r\ny"}, "x\ny\n", "line endings", false},
		{"line endings alone", "a\r\nb\r\n", m{"old": "a\r\n", "new": "a\n"}, "", "line endings only", true},
		{"mixed endings", "a\r\nb\nc\r\n", m{"old": "b\nc", "new": "x\ny\nz"}, "a\r\nx\ny\r\nz\r\n", "edited", false},
		{"mixed endings, other place", "a\r\nb\r\nc\n", m{"old": "a\nb", "new": "x\ny\nz"}, "x\r\ny\r\nz\r\nc\n", "edited", false},
		{"BOM kept", bom + "a\nb\n", m{"old": "a\n", "new": "x\n"}, bom + "x\nb\n", "edited", false},
		{"BOM in old", bom + "a\nb\n", m{"old": bom + "a\n", "new": "x\n"}, bom + "x\nb\n", "edited", false},
		{"invalid UTF-8 around", "\xff\xfea\n\xe9b\n", m{"old": "a", "new": "x"}, "\xff\xfex\n\xe9b\n", "edited", false},
		{"two matches", "x = 1\ny\nx = 1\n", m{"old": "x = 1", "new": "z"}, "", "matches 2 places, at line 1, 3", true},
		{"overlapping matches", "aaa", m{"old": "aa", "new": "b"}, "", "matches 2 places", true},
		{"replace_all", "x\ny\nx\n", m{"old": "x", "new": "zz", "replace_all": true}, "zz\ny\nzz\n", "2 replacements", false},
		{"replace_all over CRLF", "x\r\ny\r\nx\r\ny\r\n", m{"old": "x\ny", "new": "z", "replace_all": true}, "z\r\nz\r\n", "2 replacements", false},
		{"spaces for tabs", "func f() {\n\tif x {\n\t\treturn 1\n\t}\n}\n", m{"old": "    if x {\n        return 1\n    }", "new": "    if x {\n        y()\n        return 1\n    }"}, "func f() {\n\tif x {\n\t\ty()\n\t\treturn 1\n\t}\n}\n", "dashes differed", false},
		{"a depth that no line has", "func f() {\n\tif x {\n\t\treturn 1\n\t}\n}\n", m{"old": "    if x {\n        return 1\n    }", "new": "    if x {\n        for {\n            y()\n        }\n        return 1\n    }"}, "", "is unclear", true},
		{"wrong depth", "class A:\n    def f(self):\n        return 1\n", m{"old": "def f(self):\n    return 1\n", "new": "def f(self):\n    if x:\n        return 2\n    return 1\n"}, "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n", "dashes differed", false},
		{"trailing spaces", "a  \nb\nc\n", m{"old": "a\nb", "new": "a\nB"}, "a  \nB\nc\n", "dashes differed", false},
		{"inner spaces", "x  =   1 // one\n", m{"old": "x = 1 // one", "new": "x = 2 // one"}, "x = 2 // one\n", "dashes differed", false},
		{"inner spaces of a part of a line", "x  =   1 // one\n", m{"old": "x = 1", "new": "x = 2"}, "", "not found", true},
		{"two inexact matches", "a  b\nc\na   b\n", m{"old": "a b", "new": "x"}, "", "matches 2 places, at line 1, 3", true},
		{"inexact matches are never all replaced", "a  b\nc\na   b\n", m{"old": "a b", "new": "x", "replace_all": true}, "", "matches 2 places", true},
		{"typographic quotes", "say(“hello”) // it’s\n", m{"old": `say("hello") // it's`, "new": `say("bye") // it's`}, "say(“bye”) // it’s\n", "typographically", false},
		{"already applied", "a\nnewValue := 1\n", m{"old": "oldValue := 1", "new": "newValue := 1"}, "", "already applied: the new text is at line 2", false},
		{"insertion already made", "func a() {}\nfunc b() {}\n", m{"old": "func a() {}\n", "new": "func a() {}\nfunc b() {}\n"}, "", "already applied", false},
		{"a short text is no proof", "a\n}\n", m{"old": "gone", "new": "}"}, "", "not found", true},
		{"not found", "func Alpha() {\n\treturn 1\n}\n", m{"old": "func Alpha() {\n\treturn 2\n}", "new": "x"}, "", "1\tfunc Alpha() {\n2\t\treturn 1\n3\t}", true},
		{"a place that is not clear", strings.Repeat("}\n", 60) + "x\n\t}\n}\n", m{"old": "\t\tx\n\t}\n}", "new": "\t\t})\n\t}\n}\n"}, "", "so the right one for the new lines is unclear\nThe nearest lines are below, as they are now: copy old from them exactly", true},
		{"nothing like it", "a\nb\n", m{"old": "completely different", "new": "x"}, "", "nothing in the file is like it\nThese are all its lines, as they are now", true},
		{"empty old", "a\n", m{"old": "", "new": "x"}, "", "old is empty", true},
		{"no old", "a\n", m{"new": "x"}, "", "old is empty", true},
		{"old equals new", "a\n", m{"old": "a", "new": "a"}, "", "are the same", true},
		{"empty file", "", m{"old": "", "new": "x\n"}, "x\n", "edited", false},
		{"binary", "a\x00b", m{"old": "a", "new": "x"}, "", "binary", true},
		{"mask", "key = abc\n", m{"old": "abc", "new": "[masked:openai]"}, "", "hides a secret", true},
		{"mask that was there", "a [masked:x] b\n", m{"old": "a [masked:x]", "new": "c [masked:x]"}, "c [masked:x] b\n", "edited", false},

		{"range", "1\n2\n3\n4\n", m{"from": 2, "to": 3, "new": "x"}, "1\nx\n4\n", "edited f (+1 -2) at line 2", false},
		{"one line", "1\n2\n3\n", m{"from": 2, "new": "x\ny\n"}, "1\nx\ny\n3\n", "edited", false},
		{"range deleted", "1\n2\n3\n", m{"from": 1, "to": 2, "new": ""}, "3\n", "edited", false},
		{"insert before", "1\n2\n", m{"from": 2, "to": 1, "new": "x"}, "1\nx\n2\n", "edited", false},
		{"insert at the top", "1\n2\n", m{"from": 1, "to": 0, "new": "x"}, "x\n1\n2\n", "edited", false},
		{"insert at the end", "1\n2", m{"from": 3, "to": 2, "new": "x\n"}, "1\n2\nx", "edited", false},
		{"last line without newline", "1\n2", m{"from": 2, "new": "x\n"}, "1\nx", "edited", false},
		{"last line gets its newline", "1\n2", m{"from": 2, "to": 2, "new": "2\n"}, "1\n2\n", "edited f (+1 -1) at line 2", false},
		{"last lines get their newline", "1\n2\n3", m{"from": 2, "to": 3, "new": "2\n3\n"}, "1\n2\n3\n", "edited f (+1 -1) at line 3", false},
		{"last line gets its newline in CRLF", "1\r\n2", m{"from": 2, "new": "2\n"}, "1\r\n2\r\n", "edited", false},
		{"last line has its newline", "1\n2\n", m{"from": 2, "new": "2\n"}, "", "already applied", false},
		{"last line as it is", "1\n2", m{"from": 2, "new": "2"}, "", "already applied", false},
		{"range in CRLF", "1\r\n2\r\n", m{"from": 2, "new": "x\ny"}, "1\r\nx\r\ny\r\n", "edited", false},
		{"range that is so already", "1\n2\n", m{"from": 2, "new": "2"}, "", "already applied", false},
		{"range behind the end", "1\n2\n", m{"from": 3, "to": 4, "new": "x"}, "", "has 2 lines", true},
		{"range backwards", "1\n2\n", m{"from": 5, "to": 2, "new": "x"}, "", "before from", true},
		{"range and old", "1\n", m{"from": 1, "old": "1", "new": "x"}, "", "not both", true},
		{"to without from", "1\n", m{"to": 1, "new": "x"}, "", "from is missing", true},
		{"zeros mean not given", "a\n", m{"old": "a", "new": "b", "from": 0, "to": 0}, "b\n", "edited", false},
	} {
		env, fs := memEnv(map[string]string{"f": c.file})
		c.args["path"] = "f"
		r := call(t, env, Edit(), c.args)
		want := c.want
		if c.fails || strings.Contains(c.says, "already applied") {
			want = c.file
		}
		if r.Error != c.fails || fs.files["f"] != want || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: error %v, file %q, want %q\n%s", c.name, r.Error, fs.files["f"], want, r.Text)
		}
		checkSeen(t, c.name, r, fs)
	}
}

// checkSeen: every line said to be seen stands in the result as it is in the
// file of that hash, or is named there as a changed one.
func checkSeen(t testing.TB, name string, r tool.Result, fs *memFiles) {
	t.Helper()
	for _, sp := range r.Seen {
		text := fs.files[sp.Path]
		if memHash(text) != sp.Hash {
			t.Errorf("%s: seen of another content", name)
			continue
		}
		ls := splitLines(strings.TrimPrefix(text, bom))
		for n := sp.From; n <= sp.To && n > 0; n++ {
			if named(r.Text, n) {
				continue
			}
			if !strings.Contains("\n"+r.Text+"\n", "\n"+itoa(n)+"\t"+bare(ls[n-1])+"\n") && !grepped(r.Text, sp.Path, n, bare(ls[n-1])) {
				t.Errorf("%s: line %d is said to be seen and is not in\n%s", name, n, r.Text)
			}
		}
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestEditFiles(t *testing.T) {
	t.Parallel()
	env, fs := memEnv(map[string]string{"dir/main.go": "x\n"})
	if r := call(t, env, Edit(), m{"path": "main.go", "old": "x", "new": "y"}); !r.Error || !strings.Contains(r.Text, "dir/main.go") {
		t.Errorf("%+v", r)
	}
	if r := call(t, env, Edit(), m{"path": "dir", "old": "x", "new": "y"}); !r.Error || !strings.Contains(r.Text, "folder") {
		t.Errorf("%+v", r)
	}
	if r := call(t, env, Edit(), m{"path": "new.go", "old": "", "new": "y\n"}); r.Error || fs.files["new.go"] != "y\n" {
		t.Errorf("%+v", r)
	}
	if r := call(t, env, Edit(), m{"path": "/ws/dir/../dir/main.go", "old": "x", "new": "y"}); r.Error || fs.files["dir/main.go"] != "y\n" {
		t.Errorf("%+v", r)
	}
	fs.fail = &tool.StaleError{Path: "new.go", Want: "h"}
	if r := call(t, env, Edit(), m{"path": "new.go", "old": "y", "new": "z"}); !r.Error || !strings.Contains(r.Text, "nothing was written") {
		t.Errorf("%+v", r)
	}
	fs.fail = context.Canceled
	if _, err := Edit().Run(context.Background(), env, json.RawMessage(`{"path":"new.go","old":"y","new":"z"}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The footprint tells the truth: absolute outside, lines of the range form,
// hashes, blind only where all is replaced, quoted where the old text occurs once.
// SPEC 4.1, 4.6, 20.4.
func TestFootprints(t *testing.T) {
	t.Parallel()
	env, _ := memEnv(map[string]string{"f": "1\n2\n3\n", "e": "", "/out": "o\n"})
	h := memHash("1\n2\n3\n")
	for _, c := range []struct {
		tl   tool.Tool
		args string
		want tool.Span
		fp   bool
		once bool
	}{
		{Edit(), `{"path":"./f","old":"1","new":"2"}`, tool.Span{Path: "f", Hash: h}, false, true},
		{Edit(), `{"path":"/ws/f","from":2,"to":3,"new":"2"}`, tool.Span{Path: "f", Hash: h, From: 2, To: 3}, false, false},
		{Edit(), `{"path":"f","from":2,"to":1,"new":"2"}`, tool.Span{Path: "f", Hash: h, From: 1, To: 2}, false, false},
		{Edit(), `{"path":"f","from":4,"to":3,"new":"2"}`, tool.Span{Path: "f", Hash: h, From: 3, To: 3}, false, false},
		{Edit(), `{"path":"../out","old":"o","new":"2"}`, tool.Span{Path: "/out", Hash: memHash("o\n")}, false, true},
		{Write(), `{"path":"f","content":"2"}`, tool.Span{Path: "f", Hash: h, From: 1, To: 3}, true, false},
		{Write(), `{"path":"e","content":"2"}`, tool.Span{Path: "e", Hash: memHash("")}, false, false},
		{Write(), `{"path":"new","content":"2"}`, tool.Span{Path: "new"}, false, false},
		{MultiEdit(), `{"edits":[{"path":"f","old":"1","new":"2"},{"path":"./f","old":"3","new":"4"}]}`, tool.Span{Path: "f", Hash: h}, false, true},
		{ApplyPatch(), `{"patch":"--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+x\n"}`, tool.Span{Path: "f", Hash: h}, false, true},
	} {
		fp, err := c.tl.Footprint(env, json.RawMessage(c.args))
		if err != nil || len(fp.Writes) != 1 || fp.Writes[0] != c.want || fp.Blind != c.fp || len(fp.Quoted) > 0 != c.once || len(fp.Reads) != 0 {
			t.Errorf("%s %s: %+v, %v", c.tl.Spec.Name, c.args, fp, err)
		}
	}
	fp, err := Read().Footprint(env, json.RawMessage(`{"files":[{"path":"f","from":2},{"path":"/out"}]}`))
	if err != nil || spans(fp.Reads) != "f:2-0 /out:0-0" || len(fp.Writes) != 0 {
		t.Errorf("%+v %v", fp, err)
	}
}

// An edit and its inverse give the original bytes back, also in a file with
// CRLF line endings that old and new do not have.
func TestEditInverse(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{"a", "b\n", "\n", "\t", " ", "$1", `\`, "“", "é", "\xff", "xyz\n", "}"})
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string, most int) string {
			return strings.Join(rapid.SliceOfN(piece, 0, most).Draw(t, name), "")
		}
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		old, fresh := "<<"+text("old", 5)+">>", "[["+text("new", 5)+"]]"
		head, tail := text("head", 8), text("tail", 8)
		if eol == "\r\n" {
			tail += "\n" // a file without a line ending has none to keep
			head = "\n" + head
		}
		body, want := withEnding(head+old+tail, eol), withEnding(head+fresh+tail, eol)
		r, miss := replace(body, old, fresh, false, true)
		if miss != nil || r.body != want {
			t.Fatalf("%q, want %q", r.body, want)
		}
		back, miss := replace(r.body, fresh, old, false, true)
		if miss != nil || back.body != body {
			t.Fatalf("back: %q, want %q", back.body, body)
		}
	})
}

// Replacing never panics and never changes anything on a miss.
func FuzzReplace(f *testing.F) {
	f.Add("a\r\nb\n", "a\nb", "c", false)
	f.Add("\xef", "1", "0", true)
	f.Add("x “y” z", `"y"`, "…", true)
	f.Add("\tif x {\n\t}\n", "    if x {\n    }", "    if y {\n        z\n    }", false)
	f.Fuzz(func(t *testing.T, body, old, text string, all bool) {
		r, miss := replace(body, old, text, all, true)
		if miss == nil && !r.already && len(r.regions) == 0 {
			t.Errorf("%q changed nowhere", r.body)
		}
	})
}

// SPEC 4.5: corrections that can change what is meant are made only where that
// was asked for, and are reported.
func TestAutoCorrect(t *testing.T) {
	t.Parallel()
	for _, correct := range []bool{false, true} {
		env, fs := memEnv(map[string]string{"f": "x\ny\nx\n", "g": "x  y\nx   y\n"})
		env.Correct = correct
		r := call(t, env, Edit(), m{"path": "f", "old": "x", "new": "z"})
		want := map[bool]string{false: "x\ny\nx\n", true: "z\ny\nz\n"}[correct]
		if r.Error == correct || fs.files["f"] != want || correct != strings.Contains(r.Text, "replace_all was added, since the text matches 2 places") {
			t.Errorf("%v: %q\n%s", correct, fs.files["f"], r.Text)
		}
		if r := call(t, env, Edit(), m{"path": "g", "old": "x y", "new": "z"}); !r.Error {
			t.Errorf("inexact matches are never all replaced: %q\n%s", fs.files["g"], r.Text)
		}
		r = call(t, env, Write(), m{"path": "f"})
		if r.Error == correct || (fs.files["f"] == "") != correct || correct != strings.Contains(r.Text, "the file was emptied") {
			t.Errorf("%v: %q\n%s", correct, fs.files["f"], r.Text)
		}
	}
}

// SPEC 4.9, 4.10: atomic over files, later edits see earlier ones.
func TestMultiEdit(t *testing.T) {
	t.Parallel()
	env, fs := memEnv(map[string]string{"a": "one\ntwo\n", "b": "three\n"})
	r := call(t, env, MultiEdit(), m{"edits": []m{
		{"path": "a", "old": "one", "new": "zero\none"}, {"path": "a", "old": "zero\none\ntwo", "new": "all"}, {"path": "b", "old": "three", "new": "3"},
	}})
	if r.Error || fs.files["a"] != "all\n" || fs.files["b"] != "3\n" || r.Note == "" {
		t.Errorf("%+v %q", r, fs.files)
	}
	checkSeen(t, "multi_edit", r, fs)
	r = call(t, env, MultiEdit(), m{"edits": []m{{"path": "a", "old": "all", "new": "none"}, {"path": "b", "old": "four", "new": "4"}}})
	if !r.Error || fs.files["a"] != "all\n" || !strings.Contains(r.Text, "edit 2 of 2 failed, so none was made") {
		t.Errorf("%+v %q", r, fs.files)
	}
	r = call(t, env, MultiEdit(), m{"edits": []m{{"path": "a", "old": "all", "new": "x\nall"}, {"path": "./a", "old": "gone", "new": "4"}}})
	if !r.Error || len(r.Seen) != 0 {
		t.Errorf("lines of a text that was never written are not seen: %+v", r)
	}
	if r := call(t, env, MultiEdit(), `{"edits":[]}`); !r.Error {
		t.Errorf("%+v", r)
	}
}

// named reports whether a result names a line as changed.
func named(text string, n int) bool {
	for _, m := range regexp.MustCompile(` at lines? ([0-9, -]+)`).FindAllStringSubmatch(text, -1) {
		for _, part := range strings.Split(m[1], ", ") {
			from, to, more := strings.Cut(strings.TrimSpace(part), "-")
			if !more {
				to = from
			}
			a, _ := strconv.Atoi(from)
			b, _ := strconv.Atoi(to)
			if a <= n && n <= b {
				return true
			}
		}
	}
	return false
}

// SPEC 20.3: the result of an edit names what changed and does not repeat it, and shows
// lines only where it is not sure that they are as the model gave them.
func TestEditResultsRepeatNothing(t *testing.T) {
	t.Parallel()
	var long strings.Builder
	for i := range 74 {
		fmt.Fprintf(&long, "inserted %d\n", i)
	}
	var many strings.Builder
	for i := range 30 {
		fmt.Fprintf(&many, "x\ny%d\n", i)
	}
	for _, c := range []struct {
		name, file string
		tool       tool.Tool
		args       m
		want, seen string
	}{
		{"one line", "a\nb\nc\n", Edit(), m{"path": "f", "old": "b", "new": "B"}, "edited f (+1 -1) at line 2", "f:2-2"},
		{"a part of a line", "a\nx = b\nc\n", Edit(), m{"path": "f", "old": "b", "new": "B"}, "edited f (+1 -1) at line 2", ""},
		{"many lines", "a\nb\n", Edit(), m{"path": "f", "old": "b\n", "new": long.String() + "b\n"}, "edited f (+74 -0) at lines 2-75", "74"},
		{"deleted", "a\nb\nc\n", Edit(), m{"path": "f", "old": "b\n", "new": ""}, "edited f (+0 -1) at line 2", ""},
		{"inserted beside its like", "{\na\n},\n{\nb\n},\n", Edit(), m{"path": "f", "from": 4, "to": 3, "new": "{\nnew\n},"}, "edited f (+3 -0) at lines 5-7", "f:5-5 f:6-6 f:7-7"},
		{"inserted, and another above", "a\n1\n2\n3\n{\nb\n},\n", MultiEdit(), m{"edits": []m{{"path": "f", "old": "{\nb\n", "new": "{\nnew\n},\n{\nb\n"}, {"path": "f", "old": "a\n", "new": "a\na\n"}}}, "edited f, 2 replacements (+4 -0) at lines 2, 7-9", "f:2-2 f:7-7 f:8-8 f:9-9"},
		{"by line", "a\nb\nc\n", Edit(), m{"path": "f", "from": 2, "to": 3, "new": "x\ny\nz"}, "edited f (+3 -2) at lines 2-4", "f:2-2 f:3-3 f:4-4"},
		{"all", many.String(), Edit(), m{"path": "f", "old": "x", "new": "z", "replace_all": true}, "edited f, 30 replacements (+30 -30) at lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39 and 10 places more", "20"},
		{"several", "a\nb\nc\n", MultiEdit(), m{"edits": []m{{"path": "f", "old": "c", "new": "C"}, {"path": "f", "old": "a\n", "new": "A\nA2\n"}}}, "edited f, 2 replacements (+3 -2) at lines 1-2, 4", "f:1-1 f:2-2 f:4-4"},
		{"a patch", "a\nb\nc\n", ApplyPatch(), m{"patch": "*** Begin Patch\n*** Update File: f\n@@\n a\n-b\n+B\n c\n*** End Patch"}, "edited f (+1 -1) at line 2", "f:2-2"},
		{"emptied", "a\n", Edit(), m{"path": "f", "old": "a\n", "new": ""}, "edited f (+0 -1) at line 1", ""},
		{"other whitespace", "a\n\tb()\nc\n", Edit(), m{"path": "f", "old": "  b()\n", "new": "  B()\n"}, "edited f (+1 -1) at line 2\nnote: whitespace, quotes or dashes differed from the given text; the file's indentation was kept\n1\ta\n2\t\tB()\n3\tc", "f:1-3"},
	} {
		env, fs := memEnv(map[string]string{"f": c.file})
		r := call(t, env, c.tool, c.args)
		if r.Error || r.Text != c.want {
			t.Errorf("%s: %q, want %q", c.name, r.Text, c.want)
		}
		if got := spans(r.Seen); got != c.seen && strconv.Itoa(len(r.Seen)) != c.seen {
			t.Errorf("%s: seen %s, want %s", c.name, got, c.seen)
		}
		if r.Diff == "" {
			t.Errorf("%s: the screen gets no diff", c.name)
		}
		checkSeen(t, c.name, r, fs)
	}
}
