package evidence

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// outputs are what programs print of runs that end with exit code 0, and how
// many tests ran in them.
var outputs = []struct {
	name, command, out string
	ran                int
}{
	{"go: a package", "go test ./...", "ok  \tm/a\t0.003s\n", 0},
	{"go: two, one of them cached", "go test ./...", "ok  \tm/a\t(cached)\nok  \tm/b\t0.1s\tcoverage: 5.0% of statements\n?   \tm/c\t[no test files]\n", 0},
	{"go: no test files", "go test ./...", "?   \tm\t[no test files]\n", 0},
	{"go: none without files, with coverage", "go test -cover ./...", "\tm\t\tcoverage: 0.0% of statements\n", 0},
	{"go: no tests to run", "go test -run NoSuch ./...", "ok  \tm\t0.003s [no tests to run]\n?   \tm/c\t[no test files]\n", 0},
	{"go: none to run, cached", "go test -run NoSuch ./...", "testing: warning: no tests to run\nPASS\nok  \tm\t(cached) [no tests to run]\n", 0},
	{"go: none to run, with coverage", "go test -run NoSuch -cover ./...", "ok  \tm\t0.003s\tcoverage: 0.0% of statements [no tests to run]\n", 0},
	{"go: no packages", "go test ./...", "go: warning: \"./...\" matched no packages\nno packages to test\n", 0},
	{"go -v", "go test -v ./...", "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n    b_test.go:3: later\n--- SKIP: TestB (0.00s)\nPASS\nok  \tm\t0.003s\n", 1},
	{"go -v: what a test printed without an end of line", "go test -v .", "=== RUN   TestA\nno newline=== RUN   TestA/odd_(name)_–_ü\ny--- PASS: TestA (0.00s)\n    --- PASS: TestA/odd_(name)_–_ü (0.00s)\n=== RUN   TestB\nx--- PASS: TestB (0.00s)\nPASS\nok  \tm\t0.003s\n", 3},
	{"go -v: all skipped", "go test -v ./...", "=== RUN   TestB\n    b_test.go:3: later\n--- SKIP: TestB (0.00s)\nPASS\nok  \tm\t0.003s\n", 0},
	{"go -v: each case in it skipped", "go test -v .", "=== RUN   TestB\n=== RUN   TestB/x\n--- PASS: TestB (0.00s)\n    --- SKIP: TestB/x (0.00s)\n    --- SKIP: TestB/y (0.00s)\nPASS\nok  \tm\t0.003s\n", 0},
	{"go -v: one case in it ran", "go test -v .", "--- PASS: TestB (0.00s)\n    --- SKIP: TestB/x (0.00s)\n    --- PASS: TestB/y (0.00s)\nPASS\nok  \tm\t0.003s\n", 2},
	{"go -v: cases of cases skipped", "go test -v .", "--- PASS: TestB (0.00s)\n    --- PASS: TestB/x (0.00s)\n        --- SKIP: TestB/x/y (0.00s)\nPASS\nok  \tm\t0.003s\n", 0},
	{"go -v: TestMain runs nothing", "go test -v .", "ok  \tm\t0.003s\n", 0},
	{"go -json", "go test -json .", `{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"m","Test":"TestA"}` + "\n" + `{"Time":"2026-01-01T00:00:00Z","Action":"pass","Package":"m","Test":"TestA"}` + "\n", 1},
	{"go -json: skipped", "go test -json .", `{"Time":"2026-01-01T00:00:00Z","Action":"skip","Package":"m","Test":"TestA"}` + "\n" + `{"Time":"2026-01-01T00:00:00Z","Action":"pass","Package":"m"}` + "\n", 0},
	{"go vet", "go vet ./...", "", 0},
	{"go: all skipped, without -v", "go test ./...", "ok  \tm\t0.003s\n", 0},
	{"go: GOFLAGS=-v from elsewhere", "go test ./...", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tm\t0.003s\n", 1},
	{"go: GOFLAGS=-v from elsewhere, all skipped", "go test ./...", "=== RUN   TestA\n--- SKIP: TestA (0.00s)\nPASS\nok  \tm\t0.003s\n", 0},
	{"make: go -v", "make test", "go test ./...\n=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tm\t0.003s\n", 1},
	{"go build", "go build ./...", "ok  \tm\t0.003s\n", 0},
	{"go: built first", "go vet ./... && go test ./...", "ok  \tm\t0.003s\n", 0},
	{"go: in a folder", "cd a && go test ./...", "ok  \tm/a\t0.003s\n", 0},

	{"cargo", "cargo test", "running 2 tests\ntest a ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests m\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", 2},
	{"cargo: none", "cargo test", "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", 0},
	{"cargo: ignored", "cargo test", "running 1 test\ntest a ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", 0},
	{"cargo: all filtered out", "cargo test nosuch", "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 7 filtered out; finished in 0.00s\n", 0},
	{"cargo nextest", "cargo nextest run", "     Summary [   0.010s] 3 tests run: 3 passed, 1 skipped\n", 3},
	{"cargo check", "cargo check", "    Finished `dev` profile\n", 0},

	{"pytest", "pytest", "..s\n=========== 2 passed, 1 skipped in 0.02s ===========\n", 2},
	{"pytest -q", "python3 -m pytest -q", "..                                   [100%]\n2 passed in 0.01s\n", 2},
	{"pytest: subtests", "pytest", "== 1 passed, 2 skipped, 3 subtests passed in 0.02s ==\n", 4},
	{"pytest: expected and unexpected", "pytest", "= 1 xfailed, 1 xpassed in 0.02s =\n", 2},
	{"pytest: skipped", "pytest", "=========== 1 skipped in 0.02s ===========\n", 0},
	{"pytest: deselected", "pytest -k nosuch", "======= 3 deselected in 0.02s =======\n", 0},
	{"pytest: none", "uv run pytest", "=========== no tests ran in 0.01s ===========\n", 0},
	{"pytest: collected only", "pytest --co -q", "a.py::test_a\n\n1 test collected in 0.01s\n", 0},
	{"pytest: warnings", "pytest", "= 1 passed, 2 warnings in 61.02s (0:01:01) =\n", 1},
	{"unittest", "python3 -m unittest", "..\n------\nRan 2 tests in 0.000s\n\nOK\n", 2},
	{"unittest: none", "python3 -m unittest", "\n------\nRan 0 tests in 0.000s\n\nOK\n", 0},
	{"unittest: skipped", "python3 -m unittest -v", "------\nRan 2 tests in 0.000s\n\nOK (skipped=2)\n", 0},
	{"unittest: some skipped", "python3 -m unittest -v", "------\nRan 3 tests in 0.000s\n\nOK (expected failures=1, skipped=2)\n", 1},
	{"unittest: no tests ran", "python3 -m unittest", "Ran 0 tests in 0.000s\n\nNO TESTS RAN (skipped=1)\n", 0},

	{"jest", "npx jest", "PASS ./a.test.js\n\nTests:       1 skipped, 2 passed, 3 total\n", 2},
	{"jest: skipped", "npx jest", "Tests:       3 skipped, 3 total\n", 0},
	{"jest: none", "npx jest --passWithNoTests", "No tests found, exiting with code 0\n", 0},
	{"vitest", "npx vitest run", " Test Files  1 passed (1)\n      Tests  3 passed | 1 skipped (4)\n", 3},
	{"vitest: skipped", "npx vitest run", " Test Files  1 skipped (1)\n      Tests  2 skipped (2)\n", 0},
	{"mocha", "npx mocha", "\n  2 passing (5ms)\n  1 pending\n", 2},
	{"mocha: pending", "npx mocha", "\n  0 passing (1ms)\n  2 pending\n", 0},
	{"node --test", "node --test", "TAP version 13\n# Subtest: x\nok 1 - x\n  ---\n  duration_ms: 3\n  ...\n1..1\n# tests 1\n# pass 1\n", 1},
	{"node --test: a file without tests", "node --test", "TAP version 13\n# Subtest: /w/b.test.js\nok 1 - /w/b.test.js\n1..1\n# tests 1\n# pass 1\n", 0},
	{"node --test: skipped", "node --test", "TAP version 13\nok 1 - x # SKIP\n1..1\n# tests 1\n# pass 0\n# skipped 1\n", 0},
	{"node --test: all within are skipped", "node --test", "TAP version 13\n# Subtest: p\n    ok 1 - c # SKIP\n    1..1\nok 1 - p\n1..1\n# tests 2\n# pass 1\n", 0},
	{"node --test: of a file in node 18", "node --test", "TAP version 13\n# Subtest: /w/a.test.js\n    # Subtest: x\n    ok 1 - x\n    1..1\nok 1 - /w/a.test.js\n1..1\n# tests 1\n# pass 1\n", 1},
	{"node --test: for people", "node --test", "✔ x (0.7ms)\n﹣ y (0.1ms) # SKIP\n▶ p\n  ﹣ d (0.06ms) # SKIP\n✔ p (0.4ms)\n✔ /w/b.test.js (59.6ms)\nℹ tests 6\nℹ pass 4\n", 1},
	{"node --test: none", "node --test", "TAP version 13\n1..0\n# tests 0\n# pass 0\n", 0},
	{"bun", "bun test", "bun test v1.2\n\n 2 pass\n 1 skip\n 0 fail\nRan 3 tests across 1 file. [5ms]\n", 2},
	{"deno", "deno test", "ok | 2 passed | 0 failed (5ms)\n", 2},
	{"npm: jest", "npm test", "\n> shop@1.0.0 test\n> jest\n\nTests:       2 passed, 2 total\n", 2},
	{"npm: echo", "npm test", "\n> shop@1.0.0 test\n> echo 'Tests:       2 passed, 2 total' || true\n\nTests:       2 passed, 2 total\n", 0},
	{"npm: its failure is hidden", "npm test", "\n> shop@1.0.0 test\n> jest; exit 0\n\nTests:       2 passed, 2 total\n", 0},
	{"npm: a linter alone", "npm test", "\n> shop@1.0.0 test\n> eslint .\n\n5 pass\n", 0},
	{"yarn", "yarn test", "yarn run v1.22.19\n$ jest\nTests:       2 passed, 2 total\nDone in 0.5s.\n", 2},
	{"pnpm: none", "pnpm test", "\n> shop@1.0.0 test /w\n> node --test\n\nTAP version 13\n1..0\n# tests 0\n", 0},

	{"make: go", "make test", "go test ./...\nok  \tm\t0.003s\n", 0},
	{"make: go, none", "make test", "go test ./...\n?   \tm\t[no test files]\n", 0},
	{"make: echo", "make test", "all good\n", 0},
	{"make: a failure that it hides", "make test", "go test ./... || true\n--- FAIL: TestA (0.00s)\nFAIL\nFAIL\tm\t0.003s\nok  \tm/b\t0.003s\nFAIL\n", 0},
	{"make: pytest", "make check", "python3 -m pytest\n=== 2 passed in 0.01s ===\n", 2},
	{"make: unittest, none", "make check", "python3 -m unittest\n\nRan 0 tests in 0.000s\n\nOK\n", 0},
	{"make: cargo", "make -s test", "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n", 2},
	{"just", "just test", "go test ./...\nok  \tm\t0.003s\n", 0},
	{"tox", "tox", "=== 2 passed in 0.01s ===\n  py311: OK (0.5 seconds)\n", 2},
	{"a person's own check", "sh ci/check.sh", "ok  \tm\t0.003s\n", 0},
	{"a person's own check that tells nothing", "sh ci/check.sh", "fine\n", 0},

	{"maven", "mvn test", "[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 1\n[INFO] BUILD SUCCESS\n", 2},
	{"maven: none", "mvn test", "[INFO] No tests to run.\n[INFO] BUILD SUCCESS\n", 0},
	{"maven: skipped", "mvn test", "[WARNING] Tests run: 3, Failures: 0, Errors: 0, Skipped: 3\n", 0},
	{"gradle", "./gradlew test", "CartTest > adds() PASSED\n\nBUILD SUCCESSFUL in 1s\n", 1},
	{"gradle tells nothing", "./gradlew test", "> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 1s\n", 0},
	{"dotnet", "dotnet test", "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3, Duration: 5 ms - a.dll\n", 3},
	{"dotnet: skipped", "dotnet test", "Skipped!  - Failed:     0, Passed:     0, Skipped:     3, Total:     3, Duration: 5 ms - a.dll\n", 0},
	{"ctest", "ctest", "1/2 Test #1: a ................   Passed    0.01 sec\n2/2 Test #2: b ................***Skipped   0.00 sec\n\n100% tests passed, 0 tests failed out of 2\n", 1},
	{"ctest: none", "ctest", "No tests were found!!!\n", 0},
	{"ctest: skipped", "ctest", "1/1 Test #1: b ................***Skipped   0.00 sec\n100% tests passed, 0 tests failed out of 1\n", 0},
	{"rspec", "bundle exec rspec", "3 examples, 0 failures, 1 pending\n", 2},
	{"rspec: none", "rspec", "0 examples, 0 failures\n", 0},
	{"minitest", "bin/rails test", "3 runs, 5 assertions, 0 failures, 0 errors, 3 skips\n", 0},
	{"mix", "mix test", "3 tests, 0 failures\n", 3},
	{"mix: excluded", "mix test", "3 tests, 0 failures, 3 excluded\n", 0},
	{"phpunit", "vendor/bin/phpunit", "OK (3 tests, 5 assertions)\n", 3},
	{"phpunit: skipped", "phpunit", "OK, but some tests were skipped!\nTests: 3, Assertions: 0, Skipped: 3.\n", 0},
	{"phpunit: none", "phpunit", "No tests executed!\n", 0},
	{"swift", "swift test", "\t Executed 3 tests, with 0 failures (0 unexpected) in 0.001 (0.002) seconds\n", 3},
	{"swift: skipped", "swift test", "\t Executed 3 tests, with 3 tests skipped and 0 failures (0 unexpected) in 0.001 (0.002) seconds\n", 0},
	{"zig", "zig test a.zig", "All 2 tests passed.\n", 2},

	{"colours", "npx vitest run", "\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m3 passed\x1b[39m\x1b[22m (3)\n", 3},
	{"words are no tests", "go test ./...", "all 12 tests passed\nPASS\n", 0},
	{"something else prints the same", `echo "ok  	m	0.1s" && go test -run NoSuch ./...`, "ok  \tm\t0.1s\nok  \tm\t0.003s [no tests to run]\n", 0},
	{"a log is shown first", "cat old.log && go vet ./...", "ok  \tm\t0.1s\n", 0},
	{"a generator runs first", "go generate ./... && go test ./...", "ok  \tm\t0.1s\n", 0},
	{"make runs first", "make build && go test ./...", "ok  \tm\t0.1s\n", 0},
	{"its output is elsewhere", "go test ./... > out.txt", "", 0},
}

// Whatever a check is known to print is read.
func TestForms(t *testing.T) {
	for _, o := range command.Outputs() {
		if fs, ok := forms[o]; !ok || len(fs) == 0 && o != command.ScriptsOutput {
			t.Errorf("nobody reads output %d", o)
		}
	}
}

// SPEC 13.3: tests are counted from what the program prints, or none is
// claimed; one that was skipped did not run.
func TestCount(t *testing.T) {
	for _, c := range outputs {
		if got := Count(c.command, c.out); got.Ran != c.ran || (got.None == "") != (c.ran > 0) {
			t.Errorf("%s: %+v, want %d", c.name, got, c.ran)
		}
	}
	if got := Count("go test ./...", "ok  \tm\t0.003s\n", "GOFLAGS=-mod=mod -v"); got.Ran != 0 {
		t.Errorf("told to name each test: %+v", got)
	}
}

// SPEC 13.3: whoever ran a check, what it proves is the same: its exit code, if
// a test ran in it.
func TestWhoeverRanIt(t *testing.T) {
	for _, c := range outputs {
		if !command.IsCheck(c.command) {
			continue
		}
		tests := Count(c.command, c.out)
		for who, run := range map[string]event.Body{
			"the model": event.CallDone{ID: "1", Tool: "bash", Command: c.command, Exit: ptr(0), Result: llm.Result{Text: c.out + "exit code 0"}},
			"a person":  event.PersonRan{Command: c.command, Exit: ptr(0), Output: c.out},
			"pawl":      event.Checked{Command: c.command, Exit: ptr(0), Tests: tests.Ran, Untested: tests.None, Wrapped: tests.Wrapped},
		} {
			r := fold(edit("a/a.go", "1", "2"), run)
			want := Unverified
			if c.ran > 0 {
				want = Verified
			} else if r.Built != nil {
				want = Built
			}
			if r.Word() != want || !strings.HasPrefix(r.Proof(), string(want)+": ") {
				t.Errorf("%s, %s: %s", c.name, who, r.Proof())
			}
		}
	}
}

// SPEC 13.3: only a command whose own exit code is that of the line proves
// anything, and only of the files that were changed.
func TestNoProof(t *testing.T) {
	for _, line := range []string{
		"go test ./... || true", "go test ./... | tail -5", "go test ./... ; exit 0", "go test ./...; true", "go test ./... &", "go test ./... & wait",
		`echo "ok  	m	0.1s"`, `echo "ok  	m	0.1s" ; true`, `printf 'ok  \tm\t0.1s\n'`, "cat test.log", "go test ./... && echo ok", "! go test ./...",
		"bash -c 'go test ./... || true'", "function go { true }", "PATH=.:$PATH go test ./...", "GOFLAGS=-exec=true go test ./...",
		"BASH_ENV=x go test ./...", "go() ( printf 'ok  \tm\t0.1s' ) && go test ./...", "go () ( true ) && go test ./...", "go test -exec true ./...", "go test -c ./...",
		"make -i test", "make -n test", "make test GO=true", "make --eval='test:;@true' test", "npm test --if-present", "npm test --script-shell=true",
		"go test ./... || :", "go test ./... |& cat", "$GO test ./...", "go test $(echo ./...) | cat", "if go test ./...; then true; fi", "(go test ./...; true)",
		"cd /tmp/other && go test ./...", "go test -C /tmp/other ./...", "cargo test --manifest-path /tmp/o/Cargo.toml", "pytest /tmp/other",
		"cd other && go test ./...", "cd .. && go test ./...", "make -C ../x test", "npm --prefix /tmp/o test",
		"exit 0; go test ./...", "test -f x || exit 0; go test ./...", "exec true; go test ./...", "trap 'exit 0' EXIT; go test ./...", "set -n; go test ./...",
		"shopt -s expand_aliases; alias go=true\ngo test ./...", "go() { true; }\ngo test ./...", "f() { exit 0; }; f; go test ./...", "$X 0; go test ./...",
		"PATH=.; go test ./...", "export GOFLAGS=-exec=true; go test ./...", "eval exit; go test ./...", ". ./x; go test ./...", "hash -p /bin/true go; go test ./...",
		"while true; do go test ./...; done", "case x in x) go test ./... ;; esac", "sleep 9 & go test ./...", "echo 'ok  	m	0.1s'; go test ./...", "kill $$; go test ./...",
		"go test ./... <<E; true\nE\n", "gofmt -d x.go; go test ./...", "gofmt x.go; go test ./...", "builtin exit 0; go test ./...", "command exit 0; go test ./...", "{ exit 0; }; go test ./...",
	} {
		r := fold(event.Opened{Dir: "/w"}, edit("a/a.go", "1", "2"), event.CallDone{Tool: "bash", Command: line, Exit: ptr(0), Result: llm.Result{Text: passing}})
		if r.Word() != Unverified {
			t.Errorf("%s: %s", line, r.Proof())
		}
	}
	for _, line := range []string{
		"go test ./...", "cd /w && go test ./...", "cd a && go test ./...", "cd /w/a && go test .", "go test -C a ./...", "timeout 60 go test ./...",
		"CGO_ENABLED=0 go test ./... 2>&1", "time go test ./...", "go build ./... && go vet ./... && go test ./...", " go test ./...\n",
		"cd a; go test ./...", "cd a\ngo test ./...", "# the tests\ngo test ./...", "set -e; go vet ./...; go test ./...", "export CI=1; go test ./...", "gofmt -l *.go; go vet ./... && go test ./...", "rm -f x; go test ./...",
	} {
		r := fold(event.Opened{Dir: "/w"}, edit("a/a.go", "1", "2"), event.CallDone{Tool: "bash", Command: line, Exit: ptr(0), Result: llm.Result{Text: passing}})
		if r.Word() != Verified {
			t.Errorf("%s: %s", line, r.Proof())
		}
	}
}

// SPEC 13.3, 16.4: what the agent made of a check proves nothing, in whatever
// turn it did so; a file that is as it was says what it said.
func TestOwnChecksOwnWords(t *testing.T) {
	made := func(path string) event.Body { return edit(path, "1", "2") }
	run := func(line string) event.Body {
		return event.CallDone{ID: "9", Tool: "bash", Command: line, Exit: ptr(0), Result: llm.Result{Text: passing}}
	}
	next := []event.Body{event.Ended{}, event.Prompted{Source: event.Person}, made("a.go")}
	for name, c := range map[string]struct {
		bs   []event.Body
		want Word
	}{
		"a makefile":                    {[]event.Body{made("Makefile"), run("make test")}, Unverified},
		"in the turn before":            {append([]event.Body{made("Makefile")}, append(next, run("make test"))...), Unverified},
		"put back as it was":            {[]event.Body{made("a.go"), made("Makefile"), edit("Makefile", "2", "1"), run("make test")}, Verified},
		"a script that it may call":     {[]event.Body{made("a.go"), made("ci/t.sh"), run("make test")}, Unverified},
		"another file":                  {[]event.Body{made("a.go"), run("make test")}, Verified},
		"a package.json":                {[]event.Body{made("package.json"), run("npm test --silent")}, Unverified},
		"the program itself":            {[]event.Body{made("vendor/bin/phpunit"), run("vendor/bin/phpunit")}, Unverified},
		"go looks at no makefile":       {[]event.Body{made("a.go"), made("Makefile"), run("go test ./...")}, Verified},
		"a person's own file":           {[]event.Body{made("a.go"), event.FileChanged{Tool: "command", Path: "Makefile", Before: "1", After: "2"}, run("make test")}, Verified},
		"a person's command rewrote it": {[]event.Body{made("a.go"), event.FileChanged{Tool: "command", Path: "a.go", Before: "2", After: "3"}, event.PersonRan{Command: "go test ./...", Exit: ptr(0), Output: passing}}, Unverified},
	} {
		if r := fold(c.bs...); r.Word() != c.want {
			t.Errorf("%s: %s", name, r.Proof())
		}
	}
}

// SPEC 13.3: what comes after a run that proves something takes it away only
// where it fails or may have changed something.
func TestNewest(t *testing.T) {
	ran := func(line, out string, exit int) event.Body {
		return event.CallDone{Tool: "bash", Command: line, Exit: ptr(exit), Result: llm.Result{Text: out}}
	}
	change := edit("a.go", "1", "2")
	none := event.Checked{Command: "go test ./...", Exit: ptr(0), Untested: "it ran no tests"}
	for name, c := range map[string]struct {
		bs   []event.Body
		want string
	}{
		"tests, then vet":            {[]event.Body{change, ran("go test ./...", passing, 0), ran("go vet ./...", "", 0)}, "verified: go test ./..., exit code 0, 1 test"},
		"tests fail, then vet":       {[]event.Body{change, ran("go test ./...", "FAIL", 1), ran("go vet ./...", "", 0)}, "not verified: go test ./..., exit code 1; passed: go vet ./..."},
		"tests, then others fail":    {[]event.Body{change, ran("go test ./...", passing, 0), ran("go test ./a", "FAIL", 1)}, "not verified: go test ./a, exit code 1; passed: go test ./..."},
		"without -v":                 {[]event.Body{change, ran("go test ./...", "ok  \tm\t0.1s\n", 0)}, "not verified: go test ./...: without -v it does not show whether a test ran or all were skipped"},
		"without -v, then pawl":      {[]event.Body{change, ran("go test ./...", "ok  \tm\t0.1s\n", 0), event.Checked{Command: "go test ./...", Exit: ptr(0), Tests: 2}}, "verified: go test ./..., exit code 0, 2 tests"},
		"built":                      {[]event.Body{change, ran("go build ./...", "", 0)}, "built: go build ./..., exit code 0, and no test ran"},
		"a linter":                   {[]event.Body{change, ran("ruff check", "", 0)}, "not verified: ruff check: it runs no tests"},
		"tests that do not show":     {[]event.Body{change, ran("go test ./...", "ok  \tx\t0.1s\n", 0), ran("go vet ./...", "", 0)}, "built: go vet ./..., exit code 0; go test ./... too, and without -v it does not show whether a test ran or all were skipped"},
		"pawl found no tests":        {[]event.Body{change, none}, "built: go test ./..., exit code 0, and no test ran"},
		"pawl's word stands":         {[]event.Body{change, ran("go test -count=1 ./...", passing, 0), none}, "built: go test ./..., exit code 0, and no test ran"},
		"one project has none":       {[]event.Body{change, event.Checked{Command: "cd a && go test ./...", Exit: ptr(0), Tests: 3}, none}, "built: go test ./..., exit code 0, and no test ran"},
		"types and tests":            {[]event.Body{change, event.Checked{Command: "npm run typecheck", Exit: ptr(0)}, event.Checked{Command: "npm test", Exit: ptr(0), Tests: 3}}, "verified: npm test, exit code 0, 3 tests"},
		"a person's failing run":     {[]event.Body{change, event.Checked{Command: "go test ./...", Exit: ptr(0), Tests: 3}, event.PersonRan{Command: "go test -race ./...", Exit: ptr(1), Output: "FAIL"}}, "not verified: go test -race ./..., exit code 1; passed: go test ./..."},
		"an old log":                 {[]event.Body{change, event.Checked{Command: "pytest", Exit: ptr(0)}}, "not verified: pytest: its output does not show that a test ran"},
		"a person's command between": {[]event.Body{change, ran("go test ./...", passing, 0), event.PersonRan{Command: "sed -i s/a/b/ a.go", Exit: ptr(0)}}, "not verified: no check ran after the last change; before it: go test ./..., exit code 0"},
	} {
		if got := fold(c.bs...).Proof(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// SPEC 13.3: a package that fails for several reasons is named once.
func TestNamesStandOnce(t *testing.T) {
	c := Check{Failures: []Failure{
		{Failure: event.Failure{Unit: "m/a", Digest: "1"}, Before: true},
		{Failure: event.Failure{Unit: "m/a", Digest: "2"}, Before: true},
		{Failure: event.Failure{Unit: "m/a", Digest: "3"}, Before: true},
		{Failure: event.Failure{Unit: "m/b", Digest: "1"}, Before: true},
	}}
	if got, want := c.details(), "; failed as before: m/a, m/b"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// SPEC 13.3: a panic ends its package in whichever test comes first: the same panic in
// another test is the failure of before, another panic is not.
func TestPanicsAreThePackages(t *testing.T) {
	at := func(name, digest string) string {
		return Failure{Failure: event.Failure{Unit: "m/a", Name: name, Cause: "panic: no engine", Digest: digest}}.key()
	}
	if at("TestA", "1") != at("TestB", "1") || at("TestA", "1") == at("TestA", "2") {
		t.Error("a panic is told by its test")
	}
	fails := func(name string) string {
		return Failure{Failure: event.Failure{Unit: "m/a", Name: name, Cause: "want 1", Digest: "1"}}.key()
	}
	if fails("TestA") == fails("TestB") {
		t.Error("two tests are one")
	}
}

// SPEC 13.3: of packages that fail each test that passed counts too, whatever its name is.
func TestCountInFailingPackages(t *testing.T) {
	const one = "--- PASS: TestA (0.00s)\n--- PASS: TestB (0.00s)\n    --- PASS: TestB/x (0.00s)\n--- FAIL: TestC (0.00s)\nFAIL\nFAIL\tm/%s\t0.003s\n"
	out := "=== RUN   TestA\n" + strings.ReplaceAll(one, "%s", "a") + strings.ReplaceAll(one, "%s", "b") + "FAIL\nexit code 1\n"
	if got := Count("go test -v ./...", out); got.Passed != 6 || got.Ran != 0 {
		t.Errorf("%+v, want 6 passed", got)
	}
}
