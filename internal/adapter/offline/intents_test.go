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
		"run the tests":               {kind: intentRun},
		"Run the unit tests.":         {kind: intentRun},
		"go vet ./...":                {kind: intentRun, command: "go vet ./..."},
		"why do the tests fail?":      {},
		"does it compile?":            {},
		"fix the bug":                 {kind: intentFix},
		"fix the build":               {kind: intentFix},
		"the tests fail, repair them": {kind: intentFix},
		"make it compile":             {kind: intentFix},
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
		"hello":                             {},
		"where is Overlaps defined?":        {},
		"rename function Foo to Bar":        {},
		"change 8080 to 9090 in config.yml": {},
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
	contains(t, last, "no go.mod", "Say which command")
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
