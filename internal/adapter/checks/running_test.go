package checks

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// SPEC 13.3: of a check that was stopped only what was running is named; the outputs are
// recorded ones.
func TestStillRunning(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ kind, out, want string }{
		"a line that a test did not end": {kindGo, "=== RUN   TestA\nno newline=== RUN   TestA/odd_(name)_–_ü\ny--- PASS: TestA (0.00s)\n    --- PASS: TestA/odd_(name)_–_ü (0.00s)\n=== RUN   TestB\n", "TestB"},
		"a package that ended by itself": {kindGo, "=== RUN   TestB\nFAIL\texample.com/x\t0.005s\n=== RUN   TestC\n", "TestC"},
		"a package without tests":        {kindGo, "?   \texample.com/a\t[no test files]\nok  \texample.com/b\t(cached)\n=== RUN   TestC\n", "TestC"},
		"a build that failed":            {kindGo, "# example.com/a\n./a.go:3:5: undefined: x\nFAIL\texample.com/a [build failed]\n=== RUN   TestC\n", "TestC"},
		"an output cut in the middle":    {kindGo, "=== RUN   TestA\n=== RUN   TestA/b\n[… 900 lines, 70000 bytes left out; the whole is in /tmp/x …]\n--- PASS: TestY (0.00s)\n=== RUN   TestZ\n", "TestZ"},
		"a doc test":                     {kindCargo, "running 2 tests\ntest src/lib.rs - add (line 5) ... ok\ntest src/lib.rs - wait (line 12) has been running for over 60 seconds\n", "src/lib.rs - wait (line 12)"},
		"a doc test that ended":          {kindCargo, "test src/lib.rs - wait (line 12) has been running for over 60 seconds\ntest src/lib.rs - wait (line 12) ... ok\n", ""},
		"pytest, expected failures":      {kindPython, "tests/test_a.py .xXs\ntests/test_b.py .xX", "tests/test_b.py"},
	} {
		var got []string
		for _, b := range stillRunning(evidence.Lines(c.out)) {
			got = append(got, strings.TrimSpace(b.name+b.unit))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// SPEC 13.3: two doc tests of a file are two tests.
func TestDocTestsAreToldApart(t *testing.T) {
	t.Parallel()
	out := "running 2 tests\ntest src/lib.rs - add (line 5) ... FAILED\ntest src/lib.rs - sub (line 12) ... FAILED\n\nfailures:\n\n---- src/lib.rs - add (line 5) stdout ----\nTest executable failed (exit status: 101).\n\nstderr:\nthread 'main' panicked at src/lib.rs:3:1:\nassertion `left == right` failed\n\n---- src/lib.rs - sub (line 12) stdout ----\nTest executable failed (exit status: 101).\n\nfailures:\n    src/lib.rs - add (line 5)\n    src/lib.rs - sub (line 12)\n\ntest result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.50s\n"
	var got []string
	for _, f := range Read(kindCargo, out, 101).Failed {
		got = append(got, f.Name)
	}
	if want := "src/lib.rs - add (line 5), src/lib.rs - sub (line 12)"; strings.Join(got, ", ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}
