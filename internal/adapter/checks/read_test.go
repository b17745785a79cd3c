package checks

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write the golden files anew")

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
			if err != nil {
				t.Fatal(err)
			}
			kind, _, _ := strings.Cut(base, "-")
			exit, ok := exits[base]
			if !ok {
				exit = 1
			}
			r := Read(kind, string(raw), exit)
			got := fmt.Sprintf("failures: %d\nbroken: %s\n\n%s\n", r.Failures, r.Broken, r.Text)
			golden := strings.TrimSuffix(name, ".txt") + ".golden"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("it is\n%s\nwant\n%s", got, want)
			}
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
		if r.Failures < 0 {
			t.Errorf("%d failures", r.Failures)
		}
		if visible := strings.TrimSpace(strings.Join(linesOf(out), "")); visible != "" && strings.TrimSpace(r.Text) == "" {
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
}
