package command

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// SPEC 16.1, 11.2: what a line runs, tells and takes is known in this table, for
// trust, permission and undo.
func TestNamedFacts(t *testing.T) {
	word := func(s string) shellsyntax.Word { return shellsyntax.Word{Text: s, Known: true} }
	for _, c := range []struct {
		program     string
		args        []string
		paths, deep bool
	}{
		{"git", []string{"rm", "-r", "d"}, true, true},
		{"git", []string{"-C", "x", "mv", "a", "b"}, true, true},
		{"git", []string{"checkout", "--", "a"}, true, false},
		{"git", []string{"clean", "-f"}, true, false},
		{"git", []string{"add", "a"}, false, false},
		{"git", []string{"commit", "-m", "rm"}, false, false},
		{"hg", []string{"rm", "a"}, false, false},
	} {
		var ws []shellsyntax.Word
		for _, a := range c.args {
			ws = append(ws, word(a))
		}
		if paths, deep := GitPaths(c.program, ws); paths != c.paths || deep != c.deep {
			t.Errorf("%s %q: %v %v", c.program, c.args, paths, deep)
		}
	}
	if !OnlyPrints("printf", shellsyntax.Command{}) || OnlyPrints("printf", shellsyntax.Command{Redirects: []shellsyntax.Redirect{{}}}) || OnlyPrints("cat", shellsyntax.Command{}) {
		t.Error("what only prints")
	}
}
