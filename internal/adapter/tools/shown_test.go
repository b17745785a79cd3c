package tools

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// onDisk is a workspace on the disk.
type onDisk struct{ rootOnly }

func (w onDisk) Read(_ context.Context, name string, _ int64) (tool.File, error) {
	b, err := os.ReadFile(w.root + "/" + name)
	return tool.File{Path: name, Data: b, Hash: tool.Hash(name)}, err
}

// SPEC 4.6: lines that a command prints with their numbers count as read, where the file has
// them so: an edit by their numbers needs no other look.
func TestNumberedLinesAreSeen(t *testing.T) {
	dir := must.Dir(t)
	text := "one\n\n\tthree: 3\n4-four\nfive\n"
	for _, name := range []string{"a.go", "d/b.go", ".env"} {
		must.Write(t, dir+"/"+name, text)
	}
	env := tool.Env{Files: onDisk{rootOnly{root: dir}}, Out: func(string) {}}
	for _, c := range []struct{ name, line, out, want string }{
		{"grep -n of one file", "grep -n e a.go", "1:one\n5:five\n", "a.go:1-1 a.go:5-5"},
		{"with what is around", "grep -n -A2 one a.go", "1:one\n2-\n3-\tthree: 3\n--\n4-4-four\n", "a.go:1-4"},
		{"of several", "grep -n e a.go d/b.go", "a.go:1:one\nd/b.go:3:\tthree: 3\nd/b.go-4-4-four\n", "a.go:1-1 d/b.go:3-4"},
		{"by another name", "grep -n e ./a.go $PWD/d/b.go", "./a.go:1:one\nDIR/d/b.go:3:\tthree: 3\n", "a.go:1-1 d/b.go:3-3"},
		{"from within a folder", "cd d && grep -n e b.go ../a.go", "b.go:1:one\n../a.go-4-4-four\n", "a.go:4-4 d/b.go:1-1"},
		{"nl and awk", "nl -ba a.go; awk '{print NR\":\"$0}' a.go", "     2\t\n5:five\n", "a.go:2-2 a.go:5-5"},
		{"cat -n", "cd d && cat -n b.go | head", "     1\tone\n     2\t\n     3\t\tthree: 3\n", "d/b.go:1-3"},
		{"not as the file has it", "grep -n e a.go", "1:ones\n2:one\n9:nine\n0:x\n-1:x\n99999999999999999999:x\n", ""},
		{"not of a named file", "grep -rn e .", "a.go:1:one\n1:one\n", ""},
		{"a secret", "cat -n .env", "     1\tone\n", ""},
		{"written, not read", "echo x >a.go", "1:one\n", ""},
	} {
		cmds := must.Get(parseLine(env, strings.ReplaceAll(c.line, "$PWD", dir)))(t)
		if got := spans(numberedLines(t.Context(), env, cmds, strings.ReplaceAll(c.out, "DIR", dir))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
