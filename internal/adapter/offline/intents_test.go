package offline

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

const mod = "module example.com/x\n\ngo 1.22\n"

func contains(t *testing.T, s string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(s, w) {
			t.Errorf("%q is missing in:\n%s", w, s)
		}
	}
}

// SPEC 5.2: what is asked is read from plain words.
func TestUnderstand(t *testing.T) {
	for prompt, want := range map[string]intent{
		"run go test ./...": {kind: intentRun, command: "go test ./..."},
		"Please run `make check` and tell me what fails": {kind: intentRun, command: "make check"},
		"run the tests":              {kind: intentRun},
		"Run the unit tests.":        {kind: intentRun},
		"do the tests pass?":         {kind: intentRun},
		"does it compile?":           {kind: intentRun, build: true},
		"go vet ./...":               {kind: intentRun, command: "go vet ./..."},
		"why do the tests fail?":     {kind: intentRun},
		"where is Overlaps defined?": {kind: intentWhere, name: "Overlaps"},
		"Where is the function ParseSpan defined and used?": {kind: intentWhere, name: "ParseSpan"},
		"who calls `Merge`?":                              {kind: intentWhere, name: "Merge", callers: true},
		"find all usages of span.Gaps":                    {kind: intentWhere, name: "span.Gaps", callers: true},
		"what calls pick()?":                              {kind: intentWhere, name: "pick", callers: true},
		"rename function Foo to Bar":                      {kind: intentRename, what: "function", old: "Foo", new: "Bar"},
		"rename Room.Book to Reserve":                     {kind: intentRename, old: "Room.Book", new: "Reserve"},
		"please rename the variable a to b in x/y.go":     {kind: intentRename, what: "variable", old: "a", new: "b", file: "x/y.go"},
		"replace `foo bar` with \"baz\" in README.md":     {kind: intentReplace, old: "foo bar", new: "baz", file: "README.md"},
		"change 8080 to 9090 in config.yml":               {kind: intentReplace, old: "8080", new: "9090", file: "config.yml"},
		"fix the bug":                                     {kind: intentFix},
		"fix the build":                                   {kind: intentFix},
		"the tests fail, repair them":                     {kind: intentFix},
		"make it compile":                                 {kind: intentFix},
		"Find and fix the bug that makes the tests fail.": {kind: intentFix},
		"run the tests and fix what fails":                {kind: intentFix},
		"":                                                {kind: intentFix},
		"fix":                                             {kind: intentFix},
		"write a web server":                              {},
		"add a test for Merge":                            {},
		"explain how this project works":                  {},
		"refactor the code to fix it":                     {},
		"What is the meaning of life?":                    {},
		"implement the missing function and make the tests pass": {},
		"hello": {},
	} {
		if got := understand(prompt); got != want && !(want.kind == intentNone && got.kind == intentNone) {
			t.Errorf("%q\n got %+v\nwant %+v", prompt, got, want)
		}
	}
}

// SPEC 5.2: beyond it, one sentence that names what would help.
func TestAbstains(t *testing.T) {
	r := workspace(t)
	_, last := r.do("write me a poem about the sea")
	contains(t, last, "beyond", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "Ollama")
	if strings.Count(last, ". ") > 0 || r.calls != 0 {
		t.Errorf("%d calls, %q", r.calls, last)
	}
}

func TestRunExplains(t *testing.T) {
	r := workspace(t, "go.mod", mod, "x.go", "package x\n\nfunc Two() int { return 3 }\n",
		"x_test.go", "package x\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Errorf(\"Two = %d\", Two())\n\t}\n}\n")
	_, last := r.do("run the tests")
	contains(t, last, "exit code 1", "TestTwo in example.com/x failed at x_test.go:7: Two = 3")
	_, last = r.do("run `ls nowhere`")
	contains(t, last, "failed with exit code", "nowhere")
	_, last = r.do("run `echo hello`")
	contains(t, last, "exit code 0", "hello")
	_, last = r.do("run `no-such-command-here`")
	contains(t, last, "127")
}

func TestRunWithoutProject(t *testing.T) {
	_, last := workspace(t).do("run the tests")
	contains(t, last, "nothing here that I know how to run")
}

// SPEC 5.2, 12.2: without a language server it searches the text, and tells what
// that is worth.
func TestWhereInTheText(t *testing.T) {
	r := workspace(t, "go.mod", mod,
		"a.go", "package x\n\n// Foo is mentioned here.\nfunc Foo() int { return 1 }\n\nfunc (t *T) Bar() {}\n",
		"b/b.go", "package b\n\nimport \"example.com/x\"\n\nvar V = x.Foo()\n",
		"s.py", "def spam():\n    pass\n\nspam()\n")
	_, last := r.do("where is Foo defined and used?")
	contains(t, last, "no language server", "comments", "`pawl lsp`", "a.go:4", "func Foo() int { return 1 }", "b/b.go:5: var V = x.Foo()")
	_, last = r.do("where is T.Bar defined?")
	contains(t, last, "defined at a.go:6")
	_, last = r.do("where is spam defined?")
	contains(t, last, "s.py:1", "s.py:4: spam()")
	_, last = r.do("where is Nothing defined?")
	contains(t, last, "appears nowhere")
}

func TestReplace(t *testing.T) {
	r := workspace(t, "conf.yml", "port: 8080\nother: 8080\n")
	_, last := r.do("replace 8080 with 9090 in conf.yml")
	contains(t, last, "2 places", "Not verified")
	if got := r.get("conf.yml"); got != "port: 9090\nother: 9090\n" {
		t.Error(got)
	}
	_, last = r.do("replace 1234 with 9090 in conf.yml")
	contains(t, last, "nothing was changed")
	_, last = r.do("replace a with b in nowhere.txt")
	contains(t, last, "did not go through")
}

// What breaks the project is taken back.
func TestReplacePutsBack(t *testing.T) {
	r := workspace(t, "go.mod", mod, "x.go", "package x\n\nfunc Two() int { return 2 }\n")
	before := r.tree()
	_, last := r.do("replace `int` with `string` in x.go")
	contains(t, last, "took it back", "put back")
	same(t, before, r.tree())
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	for f, w := range want {
		if got[f] != w {
			t.Errorf("%s is now:\n%s\nand was:\n%s", f, got[f], w)
		}
	}
	for f := range got {
		if _, ok := want[f]; !ok {
			t.Errorf("%s was left behind", f)
		}
	}
}

// SPEC 5.2, 12.2: without a language server no symbol is renamed, and it tells why;
// a word of one file of another language is.
func TestRenameWithoutServer(t *testing.T) {
	r := workspace(t, "go.mod", mod, "a.go", "package x\n\nfunc Foo() {}\n", "s.py", "foo = 1\nfoobar = foo\n")
	before := r.tree()
	for _, prompt := range []string{"rename Foo to Bar", "rename function Foo to Bar", "rename Foo to Bar in a.go", "rename T.Foo to Bar", "rename Nowhere to Somewhere"} {
		m := New()
		reply := ask1(t, m, []llm.Message{user(prompt)})
		contains(t, reply.Message.Text(), "only a language server knows", "`pawl lsp`", "Nothing was changed", "replace X with Y")
		if reply.Stop != llm.StopRefusal {
			t.Errorf("%s ends as %s", prompt, reply.Stop)
		}
		_ = m.Close()
	}
	same(t, before, r.tree())
	_, last := r.do("rename foo to bar in s.py")
	contains(t, last, "2 places", "textual change")
	if got := r.get("s.py"); got != "bar = 1\nfoobar = bar\n" {
		t.Error(got)
	}
}

// What a server names is read off its answers, and nothing else of them.
func TestReadSpots(t *testing.T) {
	for text, want := range map[string]string{
		"a/b.go:3:6:func Foo() {\nc.go:10:1":                             "a/b.go:3 c.go:10",
		"a.go:3: function Foo in pkg | func Foo() {\n[4 more not shown]": "a.go:3 function …",
		"Foo stands for 2 symbols; give path and line, or more of the name:\na.go:3: function x.Foo\nb c.go:9: method T.Foo\n…": "a.go:3 function b c.go:9 method …",
		"no definition was found":                             "",
		"note: this: is\n:1:2:x\na.go:x:1:y\na.go:-1:1:y\n\n": "",
	} {
		spots, more := readSpots(text)
		var got []string
		for _, s := range spots {
			got = append(got, strings.TrimSpace(s.where()+" "+s.kind))
		}
		if more {
			got = append(got, "…")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// If several symbols have the name, the prompt's further words select one.
func TestFitting(t *testing.T) {
	all := []spot{{"a.go", 3, "", "function"}, {"a.go", 5, "", "field"}, {"b/b.go", 7, "", "method"}, {"b/b.go", 9, "", "struct"}}
	for _, c := range []struct{ file, what, want string }{
		{"", "", "a.go:3 b/b.go:9"},
		{"", "function", "a.go:3"},
		{"", "method", "b/b.go:7"},
		{"", "type", "b/b.go:9"},
		{"", "field", "a.go:5"},
		{"b", "", "b/b.go:9"},
		{"b/b.go", "function", "b/b.go:7"},
		{"c", "", ""},
		{"", "constant", ""},
	} {
		var got []string
		for _, s := range fitting(all, c.file, c.what) {
			got = append(got, s.where())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
