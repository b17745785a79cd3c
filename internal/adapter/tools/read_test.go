package tools

import (
	"fmt"
	"strings"
	"testing"
)

const png = "\x89PNG\x0d\x0a\x1a\x0a\x00\x00\x00\x0dIHDR"

// SPEC 4.9, 4.6: several files, ranges, images; Seen is what is shown.
func TestRead(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"a": "one\n\ttwo\nthree\n", "b/c": "x", "crlf": "1\r\n2\r\n", "mixed": "1\r\n2\n", "bom": bom + "1\n", "empty": "", "/out": "a\nb\n",
		"bin": "a\x00b", "utf16": "\xff\xfea\x00", "img.dat": png, "bad": "ok\ncaf\xe9\nok\n", "long": "s\n" + strings.Repeat("x", 5000) + "\ne\n",
	}
	for _, c := range []struct{ args, want, seen string }{
		{`{"files":[{"path":"a"}]}`, "== a (lines 1-3 of 3) ==\n1\tone\n2\t\ttwo\n3\tthree", "a:0-3"},
		{`{"files":[{"path":"a","from":2,"to":9},{"path":"./b/c"}]}`, "== a (lines 2-3 of 3) ==\n2\t\ttwo\n3\tthree\n== b/c (lines 1-1 of 1) ==\n1\tx\n[no newline at the end]", "a:2-3 b/c:0-1"},
		{`{"files":[{"path":"a","to":1}]}`, "== a (lines 1-1 of 3) ==\n1\tone", "a:1-1"},
		{`{"files":[{"path":"crlf"}]}`, "== crlf (lines 1-2 of 2) ==\n1\t1\n2\t2\n[CRLF line endings (edits keep them)]", "crlf:0-2"},
		{`{"files":[{"path":"mixed"}]}`, "== mixed (lines 1-2 of 2) ==\n1\t1\n2\t2\n[mixed line endings (1 CRLF, 1 LF)]", "mixed:0-2"},
		{`{"files":[{"path":"bom"}]}`, "== bom (lines 1-1 of 1) ==\n1\t1\n[byte order mark]", "bom:0-1"},
		{`{"files":[{"path":"/out"}]}`, "== /out (lines 1-2 of 2) ==\n1\ta\n2\tb", "/out:0-2"},
		{`{"files":[{"path":"empty"}]}`, "== empty (empty) ==", "empty:0-0"},
		{`{"files":[{"path":"bad"}]}`, "== bad (lines 1-3 of 3) ==\n1\tok\n2\tcaf\uFFFD\n3\tok", "bad:1-1 bad:3-3"},
		{`{"files":[{"path":"long"}]}`, "== long (lines 1-3 of 3) ==\n1\ts\n2\t" + strings.Repeat("x", 2000) + "… [3000 more bytes of this line not shown]\n3\te", "long:1-1 long:3-3"},
		{`{"files":[{"path":"a","from":9}]}`, "== a ==\nerror: a has 3 lines: nothing at line 9", ""},
		{`{"files":[{"path":"a","from":3,"to":2}]}`, "== a ==\nerror: from 3 is after to 2", ""},
		{`{"files":[{"path":"b"}]}`, "== b ==\nerror: b is a folder: use glob, or ls in bash", ""},
		{`{"files":[{"path":"bin"}]}`, "== bin ==\nerror: bin is a binary file of 3 bytes: it cannot be shown as lines", ""},
		{`{"files":[{"path":"utf16"}]}`, "== utf16 ==\nerror: utf16 is UTF-16 text of 4 bytes: it cannot be shown as lines", ""},
		{`{"files":[{"path":"c"}]}`, "== c ==\nerror: c does not exist; did you mean b/c?", ""},
		{`{"files":[]}`, "files is empty: name at least one file", ""},
	} {
		env, fs := memEnv(files)
		r := call(t, env, Read(), c.args)
		if r.Text != c.want || spans(r.Seen) != c.seen || r.Error != (c.seen == "") {
			t.Errorf("%s: error %v, seen %s\n%q\nwant %q", c.args, r.Error, spans(r.Seen), r.Text, c.want)
		}
		checkSeen(t, c.args, r, fs)
	}
	files["a.pdf"], files["long.pdf"] = "%PDF-1.4 <</Type/Page>>", "%PDF-1.4"+strings.Repeat("<</Type/Page>>", 101)
	files["some.pdf"] = "%PDF-1.4" + strings.Repeat("<</Type/Page>>", 3)
	env, _ := memEnv(files)
	doc := call(t, env, Read(), `{"files":[{"path":"a.pdf"},{"path":"long.pdf"}]}`)
	if doc.Error || len(doc.Images) != 1 || doc.Images[0].Type != "application/pdf" || string(doc.Images[0].Data) != files["a.pdf"] || !strings.Contains(doc.Text, "long.pdf: the PDF of 101 pages") || !strings.Contains(doc.Note, "1 PDF") {
		t.Errorf("%+v", doc)
	}
	env.Limit = 3000
	if r := call(t, env, Read(), `{"files":[{"path":"some.pdf"},{"path":"a.pdf"}]}`); len(r.Images) != 1 || !strings.Contains(r.Text, "some.pdf is a PDF of about 6000 tokens, more than a result takes (4000)") {
		t.Errorf("%+v", r)
	}
	r := call(t, env, Read(), `{"files":[{"path":"img.dat"},{"path":"none"}]}`)
	if r.Error || len(r.Images) != 1 || r.Images[0].Type != "image/png" || string(r.Images[0].Data) != png || !strings.Contains(r.Text, "none does not exist") {
		t.Errorf("%+v", r)
	}
}

// The result stays within its limit and tells how to get the rest.
func TestReadLimit(t *testing.T) {
	t.Parallel()
	env, fs := memEnv(map[string]string{"a": strings.Repeat("a line of text\n", 1000), "b": "b\n", "c": "c\n"})
	env.Limit = 4000
	r := call(t, env, Read(), `{"files":[{"path":"a"},{"path":"b"},{"path":"c"}]}`)
	if len(r.Text) > env.Limit || !strings.Contains(r.Text, "read again with from ") || !strings.Contains(r.Text, "[not read, the result is full: b, c;") {
		t.Errorf("%d bytes, %s", len(r.Text), r.Text[len(r.Text)-300:])
	}
	checkSeen(t, "limit", r, fs)
	last := r.Seen[len(r.Seen)-1].To
	if !strings.Contains(r.Text, fmt.Sprintf("[lines %d-1000 not shown", last+1)) {
		t.Errorf("%d %s", last, r.Text[len(r.Text)-300:])
	}
	// Too large to be read whole: by ranges.
	fs.large = 1000
	r = call(t, env, Read(), m{"files": []m{{"path": "a", "from": 900, "to": 910}}})
	if r.Error || spans(r.Seen) != "a:900-910" || !strings.HasPrefix(r.Text, "== a (lines 900-910 of 1000) ==\n900\t") {
		t.Errorf("%s %s", spans(r.Seen), r.Text)
	}
	r = call(t, env, Read(), m{"files": []m{{"path": "a"}}})
	if r.Error || len(r.Text) > env.Limit+300 || !strings.Contains(r.Text, "read again with from ") {
		t.Errorf("%d %s", len(r.Text), r.Text[len(r.Text)-200:])
	}
	checkSeen(t, "large", r, fs)
}

// SPEC 4.5: missing content creates, and never empties.
func TestWrite(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, args, want, says string
		fails                        bool
	}{
		{"create", "", `{"path":"new/f","content":"a\nb\n"}`, "a\nb\n", "created new/f, 2 lines", false},
		{"missing content, new file", "", `{"path":"new/f"}`, "", "created empty", false},
		{"replace", "old\n", `{"path":"f","content":"a\n"}`, "a\n", "replaced f, 1 line", false},
		{"missing content, existing file", "old\n", `{"path":"f"}`, "old\n", "content is missing", true},
		{"emptied when asked", "old\n", `{"path":"f","content":""}`, "", "replaced f", false},
		{"the same", "old\n", `{"path":"f","content":"old\n"}`, "old\n", "unchanged", false},
		{"CRLF kept", "1\r\n2\r\n", `{"path":"f","content":"1\n3\n"}`, "1\r\n3\r\n", "CRLF line endings were kept", false},
		{"BOM kept", bom + "1\n", `{"path":"f","content":"2\n"}`, bom + "2\n", "byte order mark was kept", false},
		{"mask", "key\n", `{"path":"f","content":"[masked:key]\n"}`, "key\n", "hides a secret", true},
		{"wrong type", "old\n", `{"path":"f","content":7}`, "old\n", "check: ", true},
		{"no path", "old\n", `{"content":"x"}`, "old\n", "check: ", true},
	} {
		files := map[string]string{}
		p := "new/f"
		if c.file != "" {
			p = "f"
			files[p] = c.file
		}
		env, fs := memEnv(files)
		r := call(t, env, Write(), c.args)
		if r.Error != c.fails || fs.files[p] != c.want || !strings.Contains(r.Text, c.says) {
			t.Errorf("%s: %q %+v", c.name, fs.files, r)
		}
	}
}

func TestLs(t *testing.T) {
	t.Parallel()
	env, _ := memEnv(map[string]string{"a.go": "12345", "b/c": "", "x.o": "", "odd\nname": ""})
	if r := call(t, env, Ls(), `{}`); r.Text != "a.go  5 bytes\nb/\n\"odd\\nname\"  0 bytes\nx.o  0 bytes  (ignored)" {
		t.Errorf("%q", r.Text)
	}
	if r := call(t, env, Ls(), `{"path":"bx"}`); !r.Error || !strings.Contains(r.Text, "did you mean b/?") {
		t.Errorf("%q", r.Text)
	}
	env.Limit = 120
	if r := call(t, env, Ls(), `{"path":"."}`); !strings.Contains(r.Text, "2 more entries not shown") {
		t.Errorf("%q", r.Text)
	}
}

func TestGlobTool(t *testing.T) {
	t.Parallel()
	env, _ := memEnv(map[string]string{"a.go": "", "b/c.go": ""})
	for args, want := range map[string]string{
		`{"pattern":"**/*.go"}`: "a.go\nb/c.go", `{"pattern":"*.go","path":"b"}`: "b/c.go", `{"pattern":"/ws/b/*.go"}`: "b/c.go",
		`{"pattern":"*.rs"}`: "no files match *.rs",
	} {
		if r := call(t, env, Glob(), args); r.Text != want || r.Error {
			t.Errorf("%s: %q", args, r.Text)
		}
	}
	if got := (globArgs{Pattern: "/etc/*.conf"}).split(env); got.Path != "/etc" || got.Pattern != "*.conf" {
		t.Errorf("%+v", got)
	}
	if got := (globArgs{Pattern: "/*.conf"}).split(env); got.Path != "/" || got.Pattern != "*.conf" {
		t.Errorf("%+v", got)
	}
	fp, err := Glob().Footprint(env, []byte(`{"pattern":"/etc/**/*.conf"}`))
	if err != nil || spans(fp.Reads) != "/etc:0-0" {
		t.Errorf("%+v %v", fp, err)
	}
}

func TestGrepTool(t *testing.T) {
	t.Parallel()
	env, fs := memEnv(map[string]string{"a": "x1\ny\nx2\nx3\n", "b": "x4\n"})
	r := call(t, env, Grep(), `{"pattern":"x"}`)
	if r.Text != "a\n1:x1\n3:x2\n4:x3\nb\n1:x4" || spans(r.Seen) != "a:1-1 a:3-4 b:1-1" || r.Note != "4 matches in 2 files" {
		t.Errorf("%q %s %s", r.Text, spans(r.Seen), r.Note)
	}
	checkSeen(t, "grep", r, fs)
	if r := call(t, env, Grep(), `{"pattern":"x","files_only":true}`); r.Text != "a\nb" || len(r.Seen) != 0 {
		t.Errorf("%q", r.Text)
	}
	if r := call(t, env, Grep(), `{"pattern":"zzz"}`); r.Text != "no matches in 2 files" || r.Error {
		t.Errorf("%q", r.Text)
	}
	if r := call(t, env, Grep(), `{"pattern":"("}`); !r.Error {
		t.Errorf("%q", r.Text)
	}
}

// SPEC 4.1: however many files and lines are asked for, the result fits its limit: it is not
// cut a second time.
func TestReadFits(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for i, width := range []int{10, 80, 700, 1900, 3000} {
		texts[fmt.Sprintf("f%d", i)] = strings.Repeat(strings.Repeat("x", width)+"\n", 400)
	}
	env, _ := memEnv(texts)
	for limit := 2600; limit < 12_000; limit += 173 {
		env.Limit = limit
		for first := range 5 {
			var files []string
			for i := range 4 {
				files = append(files, fmt.Sprintf(`{"path":"f%d","from":%d,"to":%d}`, (first+i)%5, 1+i, 3+limit%97))
			}
			r := call(t, env, Read(), `{"files":[`+strings.Join(files, ",")+`]}`)
			if len(r.Text) > limit {
				t.Fatalf("limit %d, first f%d: %d bytes", limit, first, len(r.Text))
			}
		}
	}
}
