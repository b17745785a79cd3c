//go:build unix

package shell

import (
	"github.com/pawl-agent/pawl/internal/policy/command"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
		"# first\ngo test 3 1 | cat # last": {"# first\ngo test 3 1", 3, "line 0\n"},
		"echo a; go test 3 1 | cat":         {"echo a; go test 3 1", 3, "a\nline 0\n"},
		"echo a | cat; go test 3 1 | cat":   {"", 0, "a\nline 0\n"},
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

// A line whose exit code counts as a check's has run it, whatever stands before it. The
// check ends with 0 or 1 by turns, and notes that.
func TestExitCodeIsTheChecks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin, ran := filepath.Join(dir, "bin"), filepath.Join(dir, "ran")
	if err := os.MkdirAll(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/bash\ncode=$((RANDOM % 2))\necho $code >> " + ran + "\nexit $code\n"
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	s := newShell(t, Options{Root: dir, Starter: NewStarter(StarterOptions{Env: func() []string { return []string{"PATH=" + bin + ":" + os.Getenv("PATH")} }})})
	if s.POSIX() {
		t.Skip("this machine has no bash: what ends a line is read as bash does")
	}
	parts := []string{
		"go test ./...", "go test ./...", "go vet ./... | cat", "go test ./... | cat", "go test ./... 2>&1 | tail -1", "true", "false", "cd a", "cd nowhere", "X=1", "CI=1",
		"set -e", "set +e", "set -n", "set -o pipefail", "f() { exit 0; }", "f", "go() { true; }", "cat() { exit 0; }", "unset -f go", "trap 'exit 0' EXIT", "trap true ERR",
		"echo a | cat", "false | true", "true | false", "(exit 0)", "(exit 1)", "{ exit 0; }", "if true; then exit 0; fi", "[[ a = b ]] && exit 0", "((0)) || exit 0",
		"for i in 1; do exit 0; done", "while false; do :; done", "case x in x) exit 0 ;; esac", "exit 0", "exit 1", "exec true", "exec cat", "kill $$", "alias go=true",
		"shopt -s expand_aliases", "eval 'exit 0'", "eval true", "return 0", "break", ": <<E\nexit 0\nE", "command exit 0", "builtin exit 0", "\\exit 0", "ex''it 0", "e=exit; $e 0",
		"coproc true", "sleep 0 &", "wait", "! true", "! go test ./...", "time true", "hash -p /bin/true go", "PATH=/bin:/usr/bin", "export PATH=/bin", "enable -n cd",
		". /dev/null", "printf a", "exec > /dev/null", "exec 3>&-", "exec 2>/dev/null", "$(echo exit) 0", "${e:-exit} 0", "# exit", "declare -f f",
		"readonly PIPESTATUS", "PIPESTATUS=0", "unset PIPESTATUS", "mapfile x < /dev/null", "ulimit -t 100", "umask 022", "test -e a && go test ./...",
	}
	rng := rand.New(rand.NewPCG(27, 4))
	told, counted := 0, 0
	for range 4000 {
		var line strings.Builder
		for i := range 1 + rng.IntN(4) {
			if i > 0 {
				line.WriteString([]string{"; ", "\n", " && ", " || ", "; ", " | "}[rng.IntN(6)])
			}
			line.WriteString(parts[rng.IntN(len(parts))])
		}
		if rng.IntN(2) == 0 {
			line.WriteString([]string{"; ", "\n", " && "}[rng.IntN(3)] + parts[rng.IntN(5)])
		}
		text := line.String()
		_, piped := command.Piped(text)
		if !piped && !command.IsCheck(text) {
			continue
		}
		_ = os.Remove(ran)
		r := run(t, s, text)
		if r.Exit == nil || piped && r.Check == "" || !piped && *r.Exit != 0 {
			continue
		}
		counted++
		if piped {
			told++
		}
		notes, _ := os.ReadFile(ran)
		codes := strings.Fields(string(notes))
		if len(codes) == 0 || codes[len(codes)-1] != strconv.Itoa(*r.Exit) {
			t.Errorf("%q: exit code %d, the check noted %v", text, *r.Exit, codes)
		}
	}
	if told < 20 || counted < 100 {
		t.Errorf("only %d lines counted, %d with a pipe", counted, told)
	}
}
