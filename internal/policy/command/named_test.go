package command

import (
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// SPEC 16.1, 11.2: what a line runs, tells and takes is known in this table, for
// trust, permission and undo.
func TestNamedFacts(t *testing.T) {
	for program, want := range map[string]string{"make": "Makefile", "just": "justfile", "pnpm": "package.json", "bun": "package.json", "ls": "", "Make": ""} {
		if got := BuildFileOf(program).Files(); (len(got) > 0) != (want != "") || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
	for program, want := range map[string]bool{"sh": true, "python3": true, "then": true, "xargs": true, "ls": false, "cat": false, "SH": false, "": false} {
		if got := RunsArguments(program); got != want {
			t.Errorf("%s runs its arguments: %v", program, got)
		}
	}
	if !OnlyPrints("printf", shellsyntax.Command{}) || OnlyPrints("printf", shellsyntax.Command{Redirects: []shellsyntax.Redirect{{}}}) || OnlyPrints("cat", shellsyntax.Command{}) {
		t.Error("what only prints")
	}
}
