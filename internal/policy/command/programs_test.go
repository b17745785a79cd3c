package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// One row for each program; each tells something, and the lines of its check
// begin as the program is spelled.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	scripts := scriptCheck()
	for _, p := range slices.Concat(otherPrograms(scripts), shellPrograms(), projectPrograms(scripts)) {
		for name := range strings.FieldsSeq(p.names) {
			if seen[name] {
				t.Errorf("%s has two rows", name)
			}
			seen[name] = true
		}
		if p.is == 0 && p.words == 0 && p.flags == "" && p.check == nil && p.wraps == nil && p.executes == nil {
			t.Errorf("nothing is known of %s", p.names)
		}
	}
	for _, k := range checks() {
		if len(k.lines) == 0 {
			t.Errorf("nothing is known of a check: %+v", k)
		}
		for _, l := range k.lines {
			first, _, _ := strings.Cut(l.words, " ")
			if p := known(first); p == nil || p.check != k {
				t.Errorf("%q is in another program's row", l.words)
			}
			if line, _ := spelled(l.words); line != l.words {
				t.Errorf("%q is spelled %q", l.words, line)
			}
		}
	}
}

// What is said of a program holds for its other names and its versions.
func TestSisters(t *testing.T) {
	word := func(s string) shellsyntax.Word { return shellsyntax.Word{Text: s, Known: true} }
	line := func(words ...string) (c shellsyntax.Command) {
		for _, w := range words {
			c.Words = append(c.Words, word(w))
		}
		return c
	}
	for _, c := range []struct {
		what string
		got  bool
	}{
		{"a script of nawk may run commands", slices.Contains(Executing(line("nawk", "{system(1)}")), "\x00")},
		{"php8.2 -r runs code", slices.Contains(Executing(line("php8.2", "-r", "x")), "-r")},
		{"lua5.4 -e runs code", slices.Contains(Executing(line("lua5.4", "-e", "x")), "-e")},
		{"view runs commands as vim does", ExactOnly("view")},
	} {
		if !c.got {
			t.Error("not so: " + c.what)
		}
	}
}

func BenchmarkKnown(b *testing.B) {
	for b.Loop() {
		known("grep")
	}
}
