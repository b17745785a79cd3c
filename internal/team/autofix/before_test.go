package autofix

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// red is a Go project in which a test fails, and others pass, before any turn.
const red = `
-- go.mod --
module example.com/red

go 1.26
-- a/a.go --
package a

func One() int { return 1 }
-- a/a_test.go --
package a

import (
	"os"
	"testing"
)

func TestOld(t *testing.T) { t.Errorf("One() = %d, want 2", One()) }

func TestFile(t *testing.T) {
	if b, err := os.ReadFile("data.json"); err != nil || string(b) != "fine\n" {
		t.Errorf("the data is %q, %v", b, err)
	}
}
-- a/data.json --
fine
-- b/b.go --
package b

import "example.com/red/a"

func Two() int { return a.One() + 1 }
-- b/b_test.go --
package b

import "testing"

func TestTwo(t *testing.T) {
	if Two() != 2 {
		t.Errorf("Two() = %d", Two())
	}
}
`

// reason is the closing line's part behind "not verified".
func (r *rig) reason(want string) {
	r.T.Helper()
	if got := r.View().Evidence().Proof(); got != "not verified: "+want {
		r.T.Errorf("closing line\n%s\nwant\nnot verified: %s", got, want)
	}
}

// SPEC 13.3, with the real go: what failed before the turn costs no request, and the
// closing line says so. What the turn breaks, also by a file that is no source, does.
func TestRedBefore(t *testing.T) {
	t.Parallel()
	r := newRig(
		t, red,
		write("a/a.go", "package a\n\n// One is 1.\nfunc One() int { return 1 }\n"), llmtest.Say("done"),
		write("a/data.json", "broken\n"), llmtest.Say("done"), write("a/data.json", "fine\n"), llmtest.Say("mended"),
		write("a/new_test.go", "package a\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { t.Fatal(\"new\") }\n"), llmtest.Say("done"), llmtest.Say("it is so"),
	)
	all := "go test ./..."
	r.told(r.run(nil), "0 "+all+" → 1", "done")
	if n := len(r.Model.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	r.reason("nothing new fails: " + all + ", exit code 1; failed as before: TestOld (example.com/red/a); passed: 2 tests")
	es := r.run(nil)
	r.told(es, "0 "+all+" → 1", "asked", "done") // all is as it was
	contains(t, prompts(es)[0], "\nTestFile (example.com/red/a)\n    a_test.go:12: the data is \"broken\\n\", <nil>\n", "Not yours to fix: 1 test failed in the same way before.")
	if strings.Contains(prompts(es)[0], "TestOld") {
		t.Errorf("it asks for more: %s", prompts(es)[0])
	}
	es = r.run(nil)
	r.told(es, "0 go test ./a (part) → 1", "asked", "done")
	r.reason("go test ./a, exit code 1; newly failing: TestNew (example.com/red/a); failed as before: TestOld (example.com/red/a); passed: 1 test")
	for _, b := range find[event.Baseline](es) {
		if b.Why != "" || len(b.Units) != 1 || len(b.Failed) != 1 {
			t.Errorf("%+v", b)
		}
	}
}

// SPEC 13.3, with the real go: a test that the changes do not affect and that failed before in
// another way is flaky. It costs no request, and the closing line says what is so.
func TestFlakyElsewhere(t *testing.T) {
	t.Parallel()
	// The copy has no .git, so the messages differ.
	const flaky = `
-- .git/HEAD --
ref: refs/heads/main
-- c/c.go --
package c
-- c/c_test.go --
package c

import (
	"os"
	"testing"
)

func TestFlaky(t *testing.T) {
	if _, err := os.Stat("../.git/HEAD"); err == nil {
		t.Fatal("the one")
	}
	t.Fatal("the other")
}
`
	r := newRig(t, red+flaky, write("a/a.go", "package a\n\n// One is 1.\nfunc One() int { return 1 }\n"), llmtest.Say("done"))
	r.told(r.run(nil), "0 go test ./a ./b (part) → 1", "0 go test ./... → 1", "done")
	if n := len(r.Model.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	r.reason("2 checks fail; go test ./a ./b, exit code 1; failed as before: TestOld (example.com/red/a); passed: 2 tests; go test ./..., exit code 1; failing, and before in another way: TestFlaky (example.com/red/c); failed as before: TestOld (example.com/red/a); passed: 2 tests")
}

// SPEC 13.3, with the real go: a test elsewhere that passed before, fails after the change and
// passes when it runs once more is flaky. It costs no request. One that fails again does, and
// so does one in a package that the turn changed.
func TestPassesAgain(t *testing.T) {
	t.Parallel()
	const first = `
import (
	"os"
	"testing"
)

func TestFirst(t *testing.T) {
	if _, err := os.Stat("../.git/HEAD"); err != nil {
		return // in the copy of the files before, it passes
	}
	if _, err := os.Stat("ran"); err != nil {
		os.WriteFile("ran", nil, 0o600)
		t.Fatal("the first time")
	}
}
`
	flaky := "\n-- .git/HEAD --\nref: refs/heads/main\n-- c/c.go --\npackage c\n-- c/c_test.go --\npackage c\n" + first
	r := newRig(
		t, red+flaky,
		write("a/a.go", "package a\n\n// One is 1.\nfunc One() int { return 1 }\n"), llmtest.Say("done"),
		write("d/d_test.go", "package d\n"+first), llmtest.Say("done"), llmtest.Say("it is so"),
	)
	r.told(r.run(nil), "0 go test ./a ./b (part) → 1", "0 go test ./... → 1", "done")
	r.reason("nothing new fails, in 2 checks; go test ./a ./b, exit code 1; failed as before: TestOld (example.com/red/a); passed: 2 tests; go test ./..., exit code 1; failing, and passing when run again: TestFirst (example.com/red/c); failed as before: TestOld (example.com/red/a); passed: 2 tests")
	es := r.run(nil)
	r.told(es, "0 go test ./d (part) → 1", "asked", "done")
	if len(find[event.Baseline](es)) != 1 {
		t.Error("its own package ran once more")
	}
}

// SPEC 13.3, with the real go: packages whose modules are missing could not run, before
// the turn and after it; an import that the turn brings is its own.
func TestModulesMissing(t *testing.T) {
	t.Parallel()
	files := "-- go.mod --\nmodule example.com/m\n\ngo 1.26\n-- ok/ok.go --\npackage ok\n-- ok/ok_test.go --\npackage ok\n\nimport \"testing\"\n\nfunc TestOK(t *testing.T) {}\n"
	for _, p := range []string{"a", "b", "c", "d"} {
		files += "-- " + p + "/" + p + ".go --\npackage " + p + "\n\nimport _ \"github.com/nobody/nothing\"\nimport _ \"example.com/m/ok\"\n"
	}
	r := newRig(
		t, files,
		write("ok/ok.go", "package ok\n\nvar X int\n"), llmtest.Say("done"),
		write("ok/new.go", "package ok\n\nimport _ \"github.com/nobody/new\"\n"), llmtest.Say("done"), llmtest.Say("so be it"),
	)
	r.told(r.run(nil), "0 go test ./... → 1", "done")
	r.reason("nothing new fails: go test ./..., exit code 1; could not run: 4 packages, modules missing; passed: 1 test")
	es := r.run(nil)
	if ps := prompts(es); len(ps) != 1 {
		t.Fatalf("%q", story(es))
	}
	contains(t, prompts(es)[0], "ok/new.go:3:8: no required module provides package github.com/nobody/new")
}

// recorded returns what a program printed.
func recorded(t *testing.T, name string) string {
	b := must.Get(os.ReadFile("../../adapter/checks/testdata/" + name + ".txt"))(t)
	return string(b)
}

// SPEC 13.3: for each tool, over recorded output: what failed before, what could not run
// before and what hung before cost no request, and the closing line tells them apart;
// another failure costs one request, with its cause.
func TestBeforeByTool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, program, files, source, command string
		failed, modules, hangs, broken        string // recorded outputs
		says                                  [3]string
		cause                                 string
	}{
		{
			"go", "go", "-- go.mod --\nmodule x\n-- src.go --\npackage x\n", "src.go", "go test ./...",
			"go-tests", "go-modules", "go-hang", "go-build",
			[3]string{
				"exit code 1; failed as before: x/a, TestF (x/b), TestP (x/b)",
				"exit code 1; could not run: example.com/m/a, example.com/m/b, modules missing; passed: 1 test",
				"exit code 1; still running as before: TestHang/inner (example.com/m/h); passed: 2 tests",
			},
			"x/b\n    b/b.go:3:53: undefined: m\n",
		},
		{
			"python", "python3", "-- pytest.ini --\n-- src.py --\n", "src.py", "python3 -m pytest",
			"python-pytest", "python-modules", "", "make-pytest",
			[3]string{
				"exit code 1; failed as before: test_rate (tests/test_price.py), test_sums_prices (tests/test_cart.py); passed: 3 tests",
				"exit code 1; could not run: tests/test_rates.py, modules missing",
			},
			"test_rate (tests/test_price.py)\n    FileNotFoundError: [Errno 2] No such file or directory: 'rates.json'\n",
		},
		{
			"node", "npm", "-- package.json --\n{\"scripts\": {\"test\": \"node --test\"}}\n-- src.js --\n", "src.js", "npm test",
			"node-tap", "node-modules", "", "node-spec",
			[3]string{
				"exit code 1; failed as before: adds (sum.test.js), inner (sum.test.js); passed: 1 test",
				"exit code 1; could not run: a.test.js, modules missing; passed: 1 test",
			},
			"adds\n    AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:\n    -1 !== 3\n",
		},
		{
			"cargo", "cargo", "-- Cargo.toml --\n[package]\nname = \"shop\"\n-- src/lib.rs --\n", "src/lib.rs", "cargo test",
			"cargo-tests", "cargo-offline", "", "cargo-build",
			[3]string{
				"exit code 1; failed as before: tests::sums_prices, tests::takes_a_coupon; passed: 1 test",
				"exit code 1; could not run: “error: no matching package named `rand` found”, modules missing",
			},
			"src/lib.rs\n    error[E0308]: mismatched types\n",
		},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Parallel()
			for i, out := range []string{c.failed, c.modules, c.hangs} {
				if out == "" {
					continue
				}
				r := newRig(
					t, c.files,
					write(c.source, "one"), llmtest.Say("done"),
					write(c.source, "breaks it"), llmtest.Say("done"), llmtest.Say("left"),
				)
				r.Put("was.out", recorded(t, out))
				r.Put("broken.out", recorded(t, c.broken))
				r.program(c.program, "if grep -q breaks "+c.source+"; then cat broken.out; else cat was.out; fi; exit 1")
				es := r.run(nil)
				if n := len(r.Model.Requests()); n != 2 || len(prompts(es)) != 0 {
					t.Errorf("%s: %d requests: %q", out, n, story(es))
				}
				r.reason("nothing new fails: " + c.command + ", " + c.says[i])
				es = r.run(nil)
				if ps := prompts(es); len(ps) != 1 || len(ps[0]) > promptBytes || !strings.Contains(ps[0], c.cause) {
					t.Errorf("%s: %q: %q", out, story(es), ps)
				}
			}
		})
	}
}

// SPEC 13.3: what nothing in the project can cause is no request, with no look at the
// time before, and is said: no network, no login, a full disk, a program that is missing.
func TestMachineLacksSomething(t *testing.T) {
	t.Parallel()
	for says, out := range map[string]string{
		"could not run: example.com/m/a, example.com/m/b, no network; passed: 1 test": recorded(t, "go-offline"),
		"could not run: TestAsk (x), no login":                                        "--- FAIL: TestAsk (0.01s)\n    ask_test.go:9: google: could not find default credentials\nFAIL\nFAIL\tx\t0.1s\nFAIL\n",
		"could not run: TestBig (x), disk full":                                       "--- FAIL: TestBig (0.01s)\n    big_test.go:9: write /tmp/x: no space left on device\nFAIL\nFAIL\tx\t0.1s\nFAIL\n",
		"could not run: TestGit (x), program missing":                                 "--- FAIL: TestGit (0.01s)\n    git_test.go:9: exec: \"git\": executable file not found in $PATH\nFAIL\nFAIL\tx\t0.1s\nFAIL\n",
	} {
		r := newRig(t, "-- go.mod --\nmodule x\n-- x.go --\npackage x\n", write("x.go", "package x // changed\n"), llmtest.Say("done"))
		r.Put("out", out)
		r.program("go", "cat out; exit 1")
		es := r.run(nil)
		r.told(es, "0 go test ./... → 1", "done")
		r.reason("nothing new fails: go test ./..., exit code 1; " + says)
		if bs := find[event.Baseline](es); len(bs) > 0 {
			t.Errorf("%+v", bs)
		}
	}
}

// SPEC 13.3: a test that hangs since the turn is named to the model, once; one that hung
// before is nothing to mend. A test of a stopped check is the last that began.
func TestHangingTest(t *testing.T) {
	t.Parallel()
	files := "-- go.mod --\nmodule x\n-- x.go --\npackage x\n"
	hang := "echo '=== RUN   TestQuick'; echo '--- PASS: TestQuick (0.00s)'; echo '=== RUN   TestHang'; sleep 1000"
	r := newRig(t, files, write("x.go", "package x // hangs\n"), llmtest.Say("done"), llmtest.Say("I do not know."))
	r.program("go", "grep -q hangs x.go || { printf '=== RUN   TestHang\\n--- PASS: TestHang (0.00s)\\nPASS\\nok  \\tx\\t0.1s\\n'; exit 0; }\n"+hang)
	r.fix.Timeout = hangs
	es := r.run(nil)
	r.told(es, "0 go test ./... → it was stopped after 3s without an end", "asked", "done")
	contains(t, prompts(es)[0], "`go test ./...` did not end (it was stopped after 3s without an end)", "TestHang\n    still running when it was stopped: TestHang")
	r.reason("go test ./...: it was stopped after 3s without an end; still running: TestHang; passed: 1 test")
	r = newRig(t, files, write("x.go", "package x // hangs\n"), llmtest.Say("done"))
	r.program("go", hang)
	r.fix.Timeout = hangs
	r.told(r.run(nil), "0 go test ./... → it was stopped after 3s without an end", "done")
	r.reason("go test ./...: it was stopped after 3s without an end; still running as before: TestHang; passed: 1 test")
}

// waiting is a shell whose commands wait for a host that the sandbox refused.
type waiting struct {
	tool.Shell
	out  string
	exit *int
}

func (w waiting) Run(ctx context.Context, c tool.Run) (tool.Ran, error) {
	ran, err := w.Shell.Run(ctx, c)
	if c.Root == "" && c.Idle > 0 {
		host := process.Refusal{Act: process.ActHost, What: "a.example:443"}
		ran.Exit, ran.Output, ran.Refused, ran.Waited = w.exit, w.out, []process.Refusal{host}, &host
	}
	return ran, err
}

// SPEC 13.3: a test that waits for a host that the sandbox refused costs no request and no
// look at the time before, and its host is told. What failed beside it is compared.
func TestWaitsForARefusedHost(t *testing.T) {
	t.Parallel()
	const says = "go test ./...: it was stopped: it only waited for a.example:443, which the sandbox refused"
	const hang = "=== RUN   TestQuick\n--- PASS: TestQuick (0.00s)\n=== RUN   TestAsk\n"
	const other = "=== RUN   TestBad\n    x_test.go:9: bad\n--- FAIL: TestBad (0.00s)\nFAIL\nFAIL\tx\t0.1s\n"
	zero, one := 0, 1
	for _, c := range []struct {
		out   string
		exit  *int
		told  string
		fails int // requests, and looks at the time before
	}{
		{"", nil, says, 0},
		{"", &zero, says, 0},
		{hang, nil, says + "; could not run: TestAsk, the sandbox refused: host a.example:443; passed: 1 test", 0},
		{other + hang, nil, says + "; newly failing: TestBad (x); could not run: TestAsk, the sandbox refused: host a.example:443; passed: 1 test", 1},
		// Only the package that waited was ended.
		{hang + "signal: terminated\nFAIL\ty\t65.0s\nFAIL\n", &one, "nothing new fails: go test ./..., exit code 1; could not run: y, the sandbox refused: host a.example:443; passed: 1 test", 0},
	} {
		r := newRig(t, "-- go.mod --\nmodule x\n-- x.go --\npackage x\n", write("x.go", "package x // changed\n"), llmtest.Say("done"), llmtest.Say("I do not know."))
		r.program("go", "exit 0")
		r.Cfg.Shell = waiting{r.Cfg.Shell, c.out, c.exit}
		es := r.run(nil)
		if asked, looked := len(prompts(es)), len(find[event.Baseline](es)); asked != c.fails || looked != c.fails {
			t.Errorf("%q: %d requests, %d looks", c.out, asked, looked)
		}
		r.reason(c.told)
	}
}

// SPEC 13.3: a check that is stopped, before the turn as well, shows no hang by the test that
// it was stopped in; and a failure beside one is compared alone.
func TestStoppedInAnotherTest(t *testing.T) {
	t.Parallel()
	const files = "-- go.mod --\nmodule x\n-- x.go --\npackage x\n"
	for _, before := range []string{"echo '=== RUN   TestOther'; sleep 1000", "echo '=== RUN   TestOther'; echo '--- FAIL: TestOther (0.00s)'; sleep 1000", "sleep 1000"} {
		r := newRig(t, files, write("x.go", "package x // changed\n"), llmtest.Say("done"))
		r.program("go", "grep -q changed x.go || { "+before+"; exit 1; }\necho '=== RUN   TestLate'; sleep 1000")
		r.fix.Timeout = hangs
		r.told(r.run(nil), "0 go test ./... → it was stopped after 3s without an end", "done")
		r.reason("go test ./...: it was stopped after 3s without an end; still running: TestLate")
	}
	r := newRig(t, files, write("x.go", "package x // changed\n"), llmtest.Say("done"))
	r.program("go", "printf '=== RUN   TestBad\\n    x_test.go:9: bad\\n--- FAIL: TestBad (0.00s)\\nFAIL\\nFAIL\\tx\\t0.1s\\n'\n[ \"$*\" = 'test x' ] && exit 1\necho '=== RUN   TestLate'; sleep 1000")
	r.fix.Timeout = hangs
	r.told(r.run(nil), "0 go test ./... → it was stopped after 3s without an end", "done")
	r.reason("go test ./...: it was stopped after 3s without an end; still running: TestLate; failed as before: TestBad (x)")
}

// SPEC 13.3: equal causes are told once, with how many they are, and the line of a cause
// is whole, however much is printed.
func TestCausesAreFolded(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	for i := range 40 {
		name := "TestCase" + string(rune('A'+i%26)) + string(rune('a'+i/26))
		out.WriteString("--- FAIL: " + name + " (0.00s)\n    case_test.go:9: the rates are gone: " + strings.Repeat("long ", 40) + "END\n")
	}
	for i := range 300 {
		out.WriteString("noise " + strings.Repeat("x", i%7) + "\n")
	}
	out.WriteString("FAIL\nFAIL\tx\t0.1s\nFAIL\n")
	r := newRig(t, "-- go.mod --\nmodule x\n-- x.go --\npackage x\n", write("x.go", "package x // breaks\n"), llmtest.Say("done"), llmtest.Say("no"))
	r.Put("out", out.String())
	r.program("go", "grep -q breaks x.go || exit 0; cat out; exit 1")
	p := prompts(r.run(nil))[0]
	contains(t, p, "TestCaseAa (x), TestCaseBa (x), TestCaseCa (x) and 37 more\n    case_test.go:9: the rates are gone: long ", "long END\n", "[all output: ")
	if len(p) > promptBytes || strings.Count(p, "the rates are gone") != 1 {
		t.Errorf("%d bytes\n%s", len(p), p)
	}
}
