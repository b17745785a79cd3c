package offline

import (
	"strings"
	"testing"
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

func TestWhere(t *testing.T) {
	r := workspace(t, "go.mod", mod,
		"a.go", "package x\n\n// Foo is mentioned here.\nfunc Foo() int { return 1 }\n",
		"b/b.go", "package b\n\nimport \"example.com/x\"\n\nvar V = x.Foo()\n",
		"s.py", "def spam():\n    pass\n\nspam()\n")
	_, last := r.do("where is Foo defined and used?")
	contains(t, last, "a.go:4 (func)", "func Foo() int { return 1 }", "b/b.go:5: var V = x.Foo()")
	if strings.Contains(last, "a.go:3") {
		t.Errorf("a comment counts as a use:\n%s", last)
	}
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

func TestRename(t *testing.T) {
	r := workspace(t, "go.mod", mod,
		"a/a.go", "package a\n\n// Foo is one.\nfunc Foo() int { return 1 }\n\ntype T struct{ Foo int }\n\nfunc (t T) Bar() int { Foo := t.Foo; return Foo }\n\nvar text = \"Foo\"\n",
		"a/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestFoo(t *testing.T) {\n\tif Foo() != 1 || text != \"Foo\" || (T{Foo: 2}).Bar() != 2 {\n\t\tt.Error(Foo())\n\t}\n}\n",
		"b/b.go", "package b\n\nimport \"example.com/x/a\"\n\nfunc One() int { return a.Foo() + a.T{Foo: 3}.Foo }\n")
	_, last := r.do("rename function Foo to First")
	contains(t, last, "4 places in 3 files", "exit code 0")
	contains(t, r.get("a/a.go"), "// First is one.\nfunc First() int", "struct{ Foo int }", "Foo := t.Foo; return Foo", `"Foo"`)
	contains(t, r.get("b/b.go"), "a.First() + a.T{Foo: 3}.Foo")
	contains(t, r.get("a/a_test.go"), "if First() != 1", "t.Error(First())", "T{Foo: 2}")

	_, last = r.do("rename T.Foo to Num")
	contains(t, last, "the field", "exit code 0")
	contains(t, r.get("b/b.go"), "a.First() + a.T{Num: 3}.Num")
	contains(t, r.get("a/a.go"), "Foo := t.Num; return Foo")

	before := r.tree()
	_, last = r.do("rename First to T")
	contains(t, last, "taken already")
	_, last = r.do("rename First to func")
	contains(t, last, "keyword")
	_, last = r.do("rename Nowhere to Somewhere")
	contains(t, last, "appears in no Go file")
	same(t, before, r.tree())
}

// A method is renamed with the interface that asks for it.
func TestRenameMethod(t *testing.T) {
	r := workspace(t, "go.mod", mod,
		"x.go", "package x\n\ntype Speaker interface{ Say() string }\n\ntype Dog struct{}\n\nfunc (Dog) Say() string { return \"wuff\" }\n\ntype Other struct{}\n\nfunc (Other) Say(n int) {}\n\nfunc Loud(s Speaker) string { return s.Say() }\n\nvar _ Speaker = Dog{}\n")
	_, last := r.do("rename Dog.Say to Speak")
	contains(t, last, "exit code 0", "3 places")
	contains(t, r.get("x.go"), "interface{ Speak() string }", "func (Dog) Speak()", "func (Other) Say(n int)", "s.Speak()")
}

func TestRenameAmbiguous(t *testing.T) {
	r := workspace(t, "go.mod", mod, "a/a.go", "package a\n\nfunc Foo() {}\n", "b/b.go", "package b\n\nfunc Foo() {}\n")
	before := r.tree()
	_, last := r.do("rename Foo to Bar")
	contains(t, last, "2 things", "a/a.go:3", "b/b.go:3", "nothing was changed")
	same(t, before, r.tree())
	_, last = r.do("rename Foo to Bar in b/b.go")
	contains(t, last, "exit code 0")
	contains(t, r.get("b/b.go"), "func Bar()")
	contains(t, r.get("a/a.go"), "func Foo()")
}
