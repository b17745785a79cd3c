package cli

import (
	"io"
	"strings"
	"testing"
)

// A command that lacks a word, or has one too many, says how it is used, and
// ends as one that is used wrongly.
func TestWrongNumberOfArguments(t *testing.T) {
	for _, args := range [][]string{
		{"sandbox"}, {"sandbox", "--"}, {"memory", "add"}, {"swarm", "plan"}, {"swarm", "status", "a", "b"}, {"swarm", "report", "a", "b"},
		{"swarm", "attach", "a", "b"}, {"swarm", "cancel", "a", "b"}, {"lsp", "restart", "a", "b"}, {"attach", "a", "b"}, {"trust", "x"},
	} {
		a := &App{In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Dir: t.TempDir(), Env: func(string) string { return "" }}
		root := a.root()
		root.SetArgs(args)
		root.SetOut(io.Discard)
		root.SetErr(io.Discard)
		err := root.ExecuteContext(t.Context())
		if code, _ := exitCode(err); code != 2 || !strings.Contains(err.Error(), "usage: pawl "+args[0]) {
			t.Errorf("%q: %d %v", args, code, err)
		}
	}
}
