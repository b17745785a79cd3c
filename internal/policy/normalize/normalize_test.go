package normalize

import (
	"encoding/json"
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
		RateLimited(s)
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
