package progress

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// SPEC 6.2: of a success the volatile bits are dropped, other digits stay.
func TestResult(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"ok  \tpkg\t0.012s":                           "ok  \tpkg\t<dur>",
		"took 1m2.5s, then 3.21 seconds":              "took <dur>, then <dur>",
		"started 2026-01-31T10:00:00.123Z end":        "started <time> end",
		"2026-01-31 10:00:00,500 INFO x":              "<time> INFO x",
		"at 10:00:00 o'clock":                         "at <time> o'clock",
		"ts=1767225600 and 1767225600123":             "ts=<time> and <time>",
		"goroutine at 0xc000012345":                   "goroutine at <addr>",
		"id 7f3c9a10-1b2c-4d5e-8f90-abcdefabcdef end": "id <id> end",
		"call_0a1b2c3d4e done":                        "<id> done",
		"pid 4711 running, PID: 12":                   "pid <pid> running, PID <pid>",
		"wrote /tmp/go-build12345/b001/x.o":           "wrote <tmp>/*/*/x.o",
		"see /tmp/report.txt":                         "see <tmp>/report.txt",
		"[ 42%] Building 17 of 40":                    "[ 42%] Building 17 of 40",
		"main.go:12:30: x":                            "main.go:12:30: x",
		"3 passed, 2 failed":                          "3 passed, 2 failed",
		"v1.2.3 and 5m long":                          "v1.2.3 and <dur> long",
		"42":                                          "42",
		"":                                            "",
		"été 12µs":                                    "été <dur>",
	} {
		if got := Result(in); got != want {
			t.Errorf("Result(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

// SPEC 6.2: a failure keeps its first and last error line, digits masked, paths
// cut to their base names.
func TestError(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/bin/bash: line 1200: javac: command not found\nexit code 127":                           "bash: line #: javac: command not found",
		"running\n--- FAIL: TestX (0.00s)\n  x_test.go:12: got 3\nFAIL\tpkg/a\t0.1s\nexit code 1": "--- FAIL: TestX (<dur>)\nFAIL\ta\t<dur>",
		"old is not in /home/ann/prj/main.go; nearest is line 40":                                 "old is not in main.go; nearest is line #",
		"exit code 2": "",
		"":            "",
	} {
		if got := Error(in); got != want {
			t.Errorf("Error(%q)\n got %q\nwant %q", in, got, want)
		}
	}
	if n := len(Error(strings.Repeat("error x ", 10000))); n > maxError {
		t.Errorf("%d bytes", n)
	}
}

// SPEC 6.2: results come from anywhere: nothing panics, to normalise again
// changes nothing, and what comes out is not much longer than what went in.
func FuzzNormalise(f *testing.F) {
	for _, s := range []string{
		"0x", "1", "/tmp/", "pid ", "10:00:0", "12µ", "call_", "\xff\xfe", "2026-01-31T", "\x1b[0m1\x1b\x1b[1m2\rx\r\n",
		"Mon Jan  2 15:04:05 CET 2026", "[main 1a2b3c4]", "localhost:54321", "[1] 1234\n", "took: 5ms 3 MB/s", "... 5 lines omitted", "/tmp/tmp/a123",
		`{"output":"x","exit_code":0}`, "# a\ncd x # y\n'q\"", "Exit code: 0\nOutput:\n\n", "Feb 3 10:00 2026, 20260131T100000Z", "took 1m2s",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r := Result(s)
		if again := Result(r); again != r {
			t.Errorf("%q\n1: %q\n2: %q", s, r, again)
		}
		if len(r) > 7*len(s)+16 {
			t.Errorf("%d bytes of %d", len(r), len(s))
		}
		if e := Error(s); len(e) > maxError {
			t.Errorf("an error of %d bytes", len(e))
		}
		if u := Unwrap(s); len(u) > 3*len(s)+8 {
			t.Errorf("%d bytes unwrapped of %d", len(u), len(s))
		}
		if c := CanonicalCommand(s); CanonicalCommand(c) != c {
			t.Errorf("%q\n1: %q\n2: %q", s, c, CanonicalCommand(c))
		}
		limited(s)
		commandKind(s)
		AsksRepeats(s)
		Call{Tool: s, Args: s, Command: s, Result: s}.Step()
		var st Stream
		st.Write(s)
	})
}

// SPEC 6.2: canonical arguments.
func TestCanonicalArgs(t *testing.T) {
	t.Parallel()
	a, b := CanonicalArgs(json.RawMessage(`{"b": 12345678901234567890, "a":[1, {"y":2,"x":1}]}`)), CanonicalArgs(json.RawMessage(`{"a":[1,{"x":1,"y":2}],"b":12345678901234567890}`))
	if a != b || !strings.Contains(a, "12345678901234567890") {
		t.Errorf("%s\n%s", a, b)
	}
	if got := CanonicalArgs(json.RawMessage(`{broken`)); got != "{broken" {
		t.Error(got)
	}
	x, y := describe("bash", json.RawMessage(`{"command":"make","timeout":5,"description":"build"}`)), describe("bash", json.RawMessage(`{"command":"make","description":"build again"}`))
	if x.args != y.args || x.kind != Test {
		t.Errorf("%+v\n%+v", x, y)
	}
}

// SPEC 6.4: what a command does decides how it counts.
func TestCommandKind(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Kind{
		"go test ./...":                     Test,
		"cd sub && npm test":                Test,
		"sleep 30 && tail build.log":        Wait,
		"sleep 2; curl -s localhost/health": Wait,
		"sleep 5":                           Wait,
		"sleep 1 && ./deploy.sh":            Exec,
		"grep -rn foo .":                    Search,
		"cat a.go | head":                   Read,
		"python3 x.py":                      Exec,
		"rm -rf build":                      Exec,
		"if then":                           Exec,
	} {
		if got := commandKind(line); got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
	for tool, want := range map[string]Kind{"read": Read, "grep": Search, "multi_edit": Edit, "bash_output": Wait, "todo": Think, "agent": Exec, "lsp_hover": Read} {
		if got := describe(tool, json.RawMessage(`{}`)).kind; got != want {
			t.Errorf("%s is %s, want %s", tool, got, want)
		}
	}
	for tool, want := range map[string]Kind{"str_replace_editor": Edit, "view": Read, "search_dir": Search, "think": Think, "task_done": Submit, "run_tests": Test, "x": Exec} {
		if got := KindOf(tool, ""); got != want {
			t.Errorf("KindOf(%s) = %s, want %s", tool, got, want)
		}
	}
	for text, want := range map[string]bool{"HTTP 429": true, "Too Many Requests": true, "line 4290": false, "error": false} {
		if limited(text) != want {
			t.Errorf("limited(%q) = %v", text, !want)
		}
	}
}

// SPEC 6.3: repeated text inside one stream.
func TestStream(t *testing.T) {
	t.Parallel()
	feed := func(text string, k int) bool {
		var s Stream
		for len(text) > 0 {
			n := min(k, len(text))
			s.Write(text[:n])
			text = text[n:]
		}
		return s.found
	}
	loop := "Now I will think about it again. "
	long := strings.Repeat("I should check the configuration file before I change the other module, and then see.\n", 12)
	for _, k := range []int{1, 7, 1000, 100000} {
		if !feed("So. "+strings.Repeat(loop, 60), k) || !feed(long, k) {
			t.Errorf("in pieces of %d, the loop is not seen", k)
		}
		if feed(strings.Repeat("-", 5000), k) || feed(strings.Repeat("| 0 | 1 |\n", 300), k) {
			t.Errorf("in pieces of %d, a table is taken for a loop", k)
		}
		var b strings.Builder
		for i := range 400 {
			b.WriteString("line " + strings.Repeat("x", i%17) + " of the plan, which is a long one\n")
		}
		if feed(b.String(), k) {
			t.Errorf("in pieces of %d, ordinary text is taken for a loop", k)
		}
	}
}

// SPEC 6.2: the heading that names a file is not its error, whatever the file
// is called.
func TestErrorBelowHeading(t *testing.T) {
	t.Parallel()
	if got := Error("== missing0.txt ==\nerror: missing0.txt does not exist"); got != "error: missing#.txt does not exist" {
		t.Errorf("%q", got)
	}
	if got := Error("== not found =="); got == "" {
		t.Error("nothing is left")
	}
}

// SPEC 6.3: an action with an error that was seen weighs two, a look that
// failed as well; one that found nothing weighs one.
func TestFailedLooksWeigh(t *testing.T) {
	t.Parallel()
	missing := func(i int) []Step { return []Step{failed(read(fmt.Sprint("gone", i), ""), "does not exist")} }
	if _, _, raw := play(only("staleness"), times(30, missing)...); raw.Halt == nil || *raw.Halt != 10 {
		t.Errorf("failed looks: %v", raw.Halt)
	}
	empty := func(i int) []Step { return []Step{{Tool: "grep", Kind: Search, Args: fmt.Sprint(i), OK: true}} }
	if _, _, raw := play(only("staleness"), times(30, empty)...); raw.Halt == nil || *raw.Halt != 19 {
		t.Errorf("empty looks: %v", raw.Halt)
	}
}
