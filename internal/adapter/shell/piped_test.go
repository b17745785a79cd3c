//go:build unix

package shell

import (
	"os"
	"path/filepath"
	"testing"
)

// SPEC 13.3: of a check that is piped through filters, its own exit code is told.
func TestPipedCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	// The check prints as many lines as its second word says, and ends with its first.
	script := "#!/bin/bash\nshift\nfor ((i = 0; i < $2; i++)); do echo line $i; done\nexit $1\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newShell(t, Options{Root: dir, Starter: NewStarter(StarterOptions{Env: func() []string { return []string{"PATH=" + bin + ":" + os.Getenv("PATH")} }})})
	if s.POSIX() {
		t.Skip("this machine has no bash: sh does not know the exit codes of a pipe")
	}
	for line, want := range map[string]struct {
		check string
		exit  int
		out   string
	}{
		"go test 0 3 | tail -1":             {"go test 0 3", 0, "line 2\n"},
		"go test 1 3 | tail -1":             {"go test 1 3", 1, "line 2\n"},
		"go test 0 3 2>&1 | grep -v line":   {"go test 0 3", 0, ""},
		"go test 2 3 |& cat | head -2":      {"go test 2 3", 2, "line 0\nline 1\n"},
		"cd bin && ./../bin/go test 3 1":    {"", 3, "line 0\n"},
		"cd bin && go test 3 1 | cat":       {"cd bin && go test 3 1", 3, "line 0\n"},
		"# first\ngo test 3 1 | cat # last": {"", 0, "line 0\n"},
		"go test 3 1 | cat # last":          {"go test 3 1", 3, "line 0\n"},
		// Nobody can tell: the check did not begin, was cut off, or the line ends otherwise.
		"cd nowhere 2>&1 && go test 1 1 | cat":   {"", 1, "bash: line 1: cd: nowhere: No such file or directory\n"},
		"go test 1 100000 | head -1":             {"", 0, "line 0\n"},
		"go test 1 1 | cat; exit 4":              {"", 4, "line 0\n"},
		"go test 1 1":                            {"", 1, "line 0\n"},
		"go test 1 1 | cat | grep nothing; true": {"", 0, ""},
	} {
		t.Run(line, func(t *testing.T) {
			r := run(t, s, line)
			if r.Exit == nil || *r.Exit != want.exit || r.Check != want.check || r.Output != want.out || r.Command != line {
				t.Errorf("exit %v, want %+v: %+v", r.Exit, want, r)
			}
		})
	}
}
