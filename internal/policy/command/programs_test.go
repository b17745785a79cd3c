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
	for _, p := range slices.Concat(textPrograms(), filePrograms(), shellPrograms(), languagePrograms(scripts), projectPrograms(scripts), systemPrograms()) {
		for name := range strings.FieldsSeq(p.names) {
			if seen[name] {
				t.Errorf("%s has two rows", name)
			}
			seen[name] = true
		}
		if p.is == 0 && p.usage == nil && p.effect == nil && p.words == 0 && p.flags == "" && p.check == nil && p.copies == "" && p.destroys == nil && p.breaks == nil {
			t.Errorf("nothing is known of %s", p.names)
		}
		if p.usage != nil && p.effect != nil {
			t.Errorf("%s has two ways to read its arguments", p.names)
		}
	}
	for _, k := range checks() {
		if k.closed == nil && k.options == nil && len(k.lines) == 0 {
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

// What is said of a program holds for its other names and its versions, and
// what is not in the table is not known to be harmless.
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
		{"git grep looks for text", FindsText([]string{"git", "grep", "x"}) && !FindsText([]string{"git", "log"})},
		{"php8.2 -r runs code", slices.Contains(Executing(line("php8.2", "-r", "x")), "-r")},
		{"lua5.4 -e runs code", slices.Contains(Executing(line("lua5.4", "-e", "x")), "-e")},
		{"view runs commands as vim does", RunsOthers("view") && ExactOnly("view")},
		{"grm $x cannot be granted always", Sensitive(shellsyntax.Command{Words: []shellsyntax.Word{word("grm"), {Text: "$x"}}})},
		{"fgrep looks for text", FindsText([]string{"fgrep", "x"})},
		{"md5 shows no content", !ShowsContent("md5")},
		{"sh -V may read code", Effects(line("sh", "-V")).Kind == Other},
		{"rustc --version may fetch a toolchain", Effects(line("rustc", "--version")).Kind == Other},
		{"an unknown program may do anything", Effects(line("frobnicate", "--version")).Kind == Other && !Reader("frobnicate") && ShowsContent("frobnicate")},
		{"mkfs.ext4 makes a file system", Breaks("mkfs.ext4", line("mkfs.ext4", "/dev/sda")) != ""},
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
