package normalize

import (
	"fmt"
	"strings"
	"testing"
)

// SPEC 6.2: pairs of results that differ in what changes from run to run are
// one result.
func TestVolatile(t *testing.T) {
	t.Parallel()
	for _, p := range [][2]string{
		{"Mon Jan  5 10:00:01 UTC 2026", "Tue Feb 17 22:13:59 UTC 2026"},
		{"Date: Mon, 05 Jan 2026 10:00:01 GMT", "Date: Sun, 31 May 2026 23:59:59 GMT"},
		{"Date:   Mon Jan 5 10:00:01 2026 +0100", "Date:   Wed Mar 25 01:02:03 2026 +0100"},
		{"-rw-r--r-- 1 a a 12 Jan  5 10:00 x", "-rw-r--r-- 1 a a 12 Nov 15 23:59 x"},
		{"127.0.0.1 - [05/Jan/2026:10:00:01 +0000] GET", "127.0.0.1 - [25/Feb/2026:11:10:11 +0000] GET"},
		{"backup-20260105T100001Z.tar", "backup-20260225T235959Z.tar"},
		{"run 2026-01-05_10-00-01 done", "run 2026-02-25_11-10-11 done"},
		{"at 1767225600.123456", "at 1767229999.5"},
		{"t=1767225600123456789", "t=1767225600999999999"},
		{"took 12 ms", "took 3 ms"},
		{`{"duration_ms": 12.5, "n": 3}`, `{"duration_ms": 900, "n": 3}`},
		{"elapsed=0.5", "elapsed=12"},
		{"elapsed_time: 0.5", "elapsed_time: 12.25"},
		{"real\t0m0.512s", "real\t1m3.001s"},
		{"===== 3 failed in 0.12s =====", "===== 3 failed in 14.02s ====="},
		{"12.3MB/s", "900.1MB/s"},
		{"4.2 it/s", "4.9 it/s"},
		{"listening on localhost:54321", "listening on localhost:40000"},
		{"http://127.0.0.1:35555/x", "http://127.0.0.1:60001/x"},
		{"[1] 12345\nok", "[1] 992\nok"},
		{"goroutine 12 [running]", "goroutine 9 [running]"},
		{"Process 12345 started", "Process 99 started"},
		{"[main 1a2b3c4] fix", "[main 99aabb0] fix"},
		{"[detached HEAD 1a2b3c4d5] fix", "[detached HEAD 000000f00] fix"},
		{"commit 0123456789012345678901234567890123456789\n x", "commit abcdefabcdefabcdefabcdefabcdefabcdefabcd\n x"},
		{"\x1b[32mok\x1b[0m", "\x1b[1;31mok\x1b[m"},
		{"\x1b]0;title\x07ok", "ok"},
		{"10%\r50%\r100% done\nnext", "3%\r100% done\nnext"},
		{"a\r\nb\r\n", "a\nb\n"},
		{"[... 123 lines omitted ...]", "[... 7 lines omitted ...]"},
		{"... (12,345 characters truncated)", "... (99 characters truncated)"},
		{"/tmp/pytest-of-ann/pytest-123/x", "/tmp/pytest-of-ann/pytest-9999/x"},
		{"/tmp/tmpab12cd34/out", "/tmp/tmpzz99yy88/out"},
		{"<A object at 0x7f12ab34cd56>", "<A object at 0x7f99ab34cd00>"},
	} {
		a, b := Result(p[0]), Result(p[1])
		if a != b {
			t.Errorf("%q and %q\nare %q\nand %q", p[0], p[1], a, b)
		}
		if Result(a) != a {
			t.Errorf("%q becomes %q", a, Result(a))
		}
	}
}

// SPEC 6.2: and what differs in anything else is not.
func TestNotVolatile(t *testing.T) {
	t.Parallel()
	for _, p := range [][2]string{
		{"[ 42%] Building", "[ 43%] Building"},
		{"3 passed, 2 failed", "4 passed, 1 failed"},
		{"10 skipped", "11 skipped"},
		{"main.go:12:30: x", "main.go:13:30: x"},
		{"localhost:8080", "localhost:8081"},
		{"epoch 1 loss 0.93", "epoch 2 loss 0.91"},
		{"index 1a2b3c4..99aabb0 100644", "index 1a2b3c4..99aabb1 100644"},
		{"May 5", "May be 6"},
		{"sha256 1a2b3c4d5e6f", "sha256 1a2b3c4d5e60"},
		{"5 of 7", "6 of 7"},
		{"x[1] 5", "x[1] 6"},
		{"step 1000 of 10000", "step 2000 of 10000"},
		{"50%\r100%", "50%\r99%"},
		{"test_truncated_3 PASSED", "test_truncated_4 PASSED"},
		{"line 5\nomitted", "line 6\nomitted"},
	} {
		if a, b := Result(p[0]), Result(p[1]); a == b {
			t.Errorf("%q and %q are both %q", p[0], p[1], a)
		}
	}
}

// SPEC 5.6, 6.2: what an agent puts around a result is taken off, and nothing of
// the result.
func TestUnwrap(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\n[The command completed with exit code 0.]\n[Current working directory: /w]\n[Python interpreter: /usr/bin/python]\n[Command finished with exit code 0]": "a",
		"a\n(Open file: /x)\n(Current directory: /y)\nbash-$":                "a",
		"<returncode>0</returncode>\n<output>\na\nb\n</output>":              "a\nb",
		"Exit code: 0\nWall time: 0.5 seconds\nOutput:\na":                   "a",
		`{"output":"a\n","metadata":{"exit_code":0,"duration_seconds":0.4}}`: "a",
		`{"stdout":"a","stderr":"b","exit_code":1}`:                          "a\nb",
		"Your command ran successfully and did not produce any output.":      "",
		"<system>Tool ran without output</system>":                           "",
		"(no output)":                "",
		`{"name":"x","content":"y"}`: `{"name":"x","content":"y"}`,
		`{"output":{"deep":1}}`:      `{"output":{"deep":1}}`,
		"{}":                         "{}",
		"Output of the day\na":       "Output of the day\na",
		"    indented\nexit code 0":  "    indented",
		"a\n\nsaid: bash-$":          "a\n\nsaid: bash-$",
		"":                           "",
	} {
		if got := Unwrap(in); got != want {
			t.Errorf("Unwrap(%q)\n got %q\nwant %q", in, got, want)
		}
	}
}

// SPEC 6.2: command lines that do the same are the same.
func TestCanonicalCommand(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"go  test   ./...  # once more":     "go test ./...",
		"# comment\ngo test\n\n  # other\n": "go test",
		"echo 'a  # b'  \"c  # d\"":         "echo 'a  # b' \"c  # d\"",
		"grep '#include' a.c":               "grep '#include' a.c",
		"#!/bin/sh\nx":                      "#!/bin/sh\nx",
		"a \\\n  b":                         "a \\\n b",
		"a#b":                               "a#b",
		"echo \"it's\"  x":                  "echo \"it's\" x",
		"":                                  "",
	} {
		if got := CanonicalCommand(in); got != want {
			t.Errorf("CanonicalCommand(%q) = %q, want %q", in, got, want)
		}
	}
}

// SPEC 6.9: the cost of normalising goes with the length of the text, whatever
// is in it: ns/byte is about the same for each size.
func BenchmarkHostile(b *testing.B) {
	for _, piece := range []string{"\x1b]", "took ", "12:", "1m", "/tmp/", "a\r", "#", "Mon ", "{", "0x", "omitted\n", "[1] ", "\\"} {
		for _, n := range []int{1 << 12, 1 << 16} {
			text := strings.Repeat(piece, n/len(piece))
			b.Run(fmt.Sprintf("%q/%d", piece, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					Result(text)
					Unwrap(text)
					CanonicalCommand(text)
				}
			})
		}
	}
}
