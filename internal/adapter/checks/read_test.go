package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// SPEC 13.3: what a check printed is read down to what matters, within bounds.
// The name of a recorded output begins with the kind of its check.
func TestRead(t *testing.T) {
	exits := map[string]int{"node-missing": 127}
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 15 {
		t.Fatalf("%d outputs, %v", len(names), err)
	}
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".txt")
		t.Run(base, func(t *testing.T) {
			raw, err := os.ReadFile(name)
			must.Do(t, err)
			kind, _, _ := strings.Cut(base, "-")
			exit, ok := exits[base]
			switch {
			case strings.HasSuffix(base, "-stopped"):
				exit = Stopped
			case !ok:
				exit = 1
			}
			r := Read(kind, string(raw), exit)
			got := fmt.Sprintf("failures: %d\nbroken: %s\n\n%s\n", r.Failures, r.Broken, r.Text)
			for _, f := range r.Failed[:min(len(r.Failed), 6)] {
				got += fmt.Sprintf("\n== %q of %q, hangs %v, unrun %q, sure %v\n%s\n", f.Name, f.Unit, f.Hangs, f.Unrun, f.Sure, f.Cause)
			}
			golden.File(t, strings.TrimSuffix(name, ".txt")+".golden", got)
		})
	}
}

// Whatever comes, what is kept is bounded, text, and not empty where something
// was printed.
func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for i, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(raw), i%7)
	}
	f.Add("", 0)
	f.Add("\n \n", 1)
	f.Add(strings.Repeat("x", 50_000), 2)
	f.Add("--- FAIL: T\n"+strings.Repeat("é", 9_000)+"\nFAIL\tx\n", 0)
	kinds := []string{kindGo, kindNode, kindPython, kindCargo, kindMake, kindJust, kindOwn}
	f.Fuzz(func(t *testing.T, out string, n int) {
		r := Read(kinds[max(n, -n, 0)%len(kinds)], out, 1)
		if len(r.Text) > limit+100 {
			t.Errorf("%d bytes are kept", len(r.Text))
		}
		if !utf8.ValidString(r.Text) || !utf8.ValidString(r.Broken) {
			t.Errorf("not text: %q", r.Text)
		}
		if r.Broken == "" && len(r.Failed) == 0 {
			t.Error("nothing failed")
		}
		if r.Failures < 0 {
			t.Errorf("%d failures", r.Failures)
		}
		if visible := strings.TrimSpace(strings.Join(evidence.Lines(out), "")); visible != "" && strings.TrimSpace(r.Text) == "" {
			t.Errorf("nothing is kept of %q", out)
		}
	})
}

// A colour, a progress bar and a title are not part of what matters.
func TestReadTakesOutEscapes(t *testing.T) {
	r := Read(kindOwn, "\x1b[31merror\x1b[0m: 1%\rerror: 100%\n", 1)
	if r.Text != "error: 100%" {
		t.Errorf("%q", r.Text)
	}
	r = Read(kindOwn, "\x1b]0;a title\aerror: \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ one\x1bPq\x1b[1m two\n\x1b]0;no end", 1)
	if r.Text != "error: link one two" {
		t.Errorf("%q", r.Text)
	}
}

// SPEC 13.3: what make and just could not run because a program is missing
// checked nothing, and is not the model's to mend.
func TestReadMissingProgram(t *testing.T) {
	for out, want := range map[string]string{
		"nosuch --check\nmake: nosuch: No such file or directory\nmake: *** [Makefile:2: test] Error 127\n":                 "it could not run: nosuch is not installed",
		"/bin/sh: 1: nosuch: not found\nmake[1]: *** [Makefile:2: test] Error 127\nmake: *** [Makefile:1: check] Error 2\n": "it could not run: nosuch is not installed",
		"sh: nosuch: command not found\nerror: Recipe `test` failed on line 2 with exit code 127\n":                         "it could not run: nosuch is not installed",
		"FAIL: a.sh not found, it ended with exit code 127\nmake: *** [Makefile:2: test] Error 1\n":                         "",
		"FAIL: page not found\nmake: *** [Makefile:2: test] Error 1\n":                                                      "",
		"FAIL: No such file a.txt\nerror: Recipe `test` failed on line 2 with exit code 1\n":                                "",
	} {
		if r := Read(kindMake, out, 2); r.Broken != want {
			t.Errorf("%q: %q, want %q", out, r.Broken, want)
		}
	}
}

// SPEC 13.3: what tests print that run side by side belongs to the test that go test names,
// not to the one whose end comes next.
func TestReadTestsSideBySide(t *testing.T) {
	out := `=== RUN   TestA
=== PAUSE TestA
=== RUN   TestB
=== PAUSE TestB
=== CONT  TestA
=== CONT  TestB
    b_test.go:9: network error of B
=== NAME  TestA
    a_test.go:3: wrong sum of A
--- FAIL: TestA (0.00s)
=== NAME  TestB
    b_test.go:12: and more of B
--- FAIL: TestB (0.01s)
FAIL
FAIL	example.com/x	0.02s
FAIL`
	f := readGo(strings.Split(out, "\n"))
	if len(f.blocks) != 2 {
		t.Fatalf("%+v", f.blocks)
	}
	a, b := strings.Join(f.blocks[0].lines, "\n"), strings.Join(f.blocks[1].lines, "\n")
	if f.blocks[0].name != "TestA" || !strings.Contains(a, "wrong sum of A") || strings.Contains(a, "of B") {
		t.Errorf("%s: %s", f.blocks[0].name, a)
	}
	if f.blocks[1].name != "TestB" || !strings.Contains(b, "network error of B") || !strings.Contains(b, "and more of B") || strings.Contains(b, "of A") {
		t.Errorf("%s: %s", f.blocks[1].name, b)
	}
}

// SPEC 13.3: nothing of a test still runs after its end, also where the end of a part of it
// cannot be read.
func TestPartsEndWithTheirTest(t *testing.T) {
	out := "=== RUN   TestA\n=== RUN   TestA/one\n=== RUN   TestA/two\n--- PASS: TestA (0.02s)\n    --- PASS: TestA/one (0.01s)\n    --- PASS: [masked:secret] (0.01s)\n=== RUN   TestB\n=== RUN   TestB/slow"
	got := stillRunning(strings.Split(out, "\n"))
	if len(got) != 1 || got[0].name != "TestB/slow" {
		t.Errorf("%+v", got)
	}
}

// SPEC 13.3: parts of a test that run side by side fail in any order, and for the same cause.
func TestPartsFailInAnyOrder(t *testing.T) {
	part := func(name, why string) string {
		return "    --- FAIL: TestLLM/" + name + " (0.01s)\n        llm_test.go:9: " + why + "\n"
	}
	read := func(parts ...string) string {
		r := Read("go", "--- FAIL: TestLLM (0.02s)\n"+strings.Join(parts, "")+"FAIL\nFAIL\texample.com/x\t0.1s\nFAIL\n", 1)
		var all []string
		for _, f := range r.Failed {
			all = append(all, f.Name+" "+f.Digest)
		}
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
	a, b := part("a", "no response"), part("b", "no request")
	if one, other := read(a, b), read(b, a); one == "" || one != other {
		t.Errorf("%s\n%s", one, other)
	}
	if one, other := read(a, b), read(a, part("b", "no answer")); one == other {
		t.Errorf("another cause is the same: %s", one)
	}
}
