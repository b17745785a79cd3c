//go:build unix

package shell

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// SPEC 13.3: of a check that is piped through filters, its own exit code is told.
func TestPipedCheck(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	must.Do(t, os.MkdirAll(bin, 0o755))
	// The check prints as many lines as its second word says, and ends with its first.
	script := "#!/bin/bash\nshift\nfor ((i = 0; i < $2; i++)); do echo line $i; done\nexit $1\n"
	must.WriteMode(t, filepath.Join(bin, "go"), script, 0o755)
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
		"echo a | cat; go test 3 1 | cat":   {"echo a | cat; go test 3 1", 3, "a\nline 0\n"},
		"go test 3 1; echo done":            {"go test 3 1", 0, "line 0\ndone\n"},
		"go test 3 1 | cat; echo done":      {"go test 3 1", 0, "line 0\ndone\n"},
		"go test 3 1 | cat # last":          {"go test 3 1", 3, "line 0\n"},
		// Nobody can tell: the check did not begin, was cut off, or the line ends otherwise.
		"cd nowhere 2>&1 && go test 1 1 | cat":   {"", 1, "bash: line 1: cd: nowhere: No such file or directory\n"},
		"go test 1 100000 | head -1":             {"", 0, "line 0\n"},
		"go test 1 1 | cat; exit 4":              {"go test 1 1", 4, "line 0\n"},
		"go test 1 1":                            {"", 1, "line 0\n"},
		"go test 1 1 | cat | grep nothing; true": {"go test 1 1", 0, ""},
	} {
		t.Run(line, func(t *testing.T) {
			r := run(t, s, line)
			if r.Exit == nil || *r.Exit != want.exit || lastCheck(r) != want.check || r.Output != want.out || r.Command != line {
				t.Errorf("exit %v, want %+v: %+v", r.Exit, want, r)
			}
		})
	}
}

// lastCheck returns the last check that is told of.
func lastCheck(r tool.Ran) string {
	if n := len(r.Checks); n > 0 {
		return r.Checks[n-1].Command
	}
	return ""
}

// SPEC 13.3: behind a loop the check at a line's end still counts by its own exit code, and
// not where the line may have ended before.
func TestBehindALoop(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Root: t.TempDir()})
	if s.POSIX() {
		t.Skip("this machine has no bash: sh does not know the exit codes of a line")
	}
	for line, want := range map[string]string{
		"ls | head -1; for i in 1 2; do true | cat; done; go vet ./nowhere 2>&1 | tail -5": "exit 1: go vet ./nowhere 1",
		"for i in 1; do false | cat; exit 0; done; go vet ./nowhere | tail -5":             "exit 0:",
		"go vet ./nowhere 2>&1 | tail -5; for i in 1; do true; done":                       "exit 0: go vet ./nowhere 1",
		"go vet ./nowhere 2>&1 | tail -5 && echo a; if true; then echo x; fi":              "exit 0: go vet ./nowhere 1",
		"f() { true; }; go vet ./nowhere 2>&1 | tail -5; f":                                "exit 0: go vet ./nowhere 1",
		"(go vet ./nowhere 2>&1 | tail -5); echo a":                                        "exit 0:",
	} {
		r := run(t, s, line)
		got := "exit " + strconv.Itoa(*r.Exit) + ":"
		for _, c := range r.Checks {
			got += c.Command[strings.LastIndex(c.Command, ";")+1:] + " " + strconv.Itoa(c.Exit)
		}
		if strings.ReplaceAll(got, ":go", ": go") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// SPEC 20.2: what failed in a line whose exit code hides it is told, and nothing else is.
func TestFailedTold(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Root: t.TempDir()})
	if s.POSIX() {
		t.Skip("this machine has no bash: sh does not know the exit codes of a line")
	}
	for line, want := range map[string]string{
		"(exit 2); echo done":                                         "(exit 2) 2",
		"ls nowhere 2>&1; true":                                       "ls nowhere 2>&1 2",
		"true\nfalse\ntrue":                                           "false 1",
		"false && echo no; true":                                      "false 1",
		"true && false; nosuch 2>/dev/null; true":                     "false 1, nosuch 2>/dev/null 127",
		"false | cat; echo done":                                      "false 1",
		"cd nowhere 2>/dev/null; pwd | cat":                           "cd nowhere 2>/dev/null 1",
		"{ false; true; }; true":                                      "false 1",
		"false; exit 3; true":                                         "false 1",
		"set -e; false; true":                                         "",
		"time -p true; (true; exit 4) > f; true":                      "(true; exit 4) > f 4",
		"cat <<E; true\nfalse\nE":                                     "",
		"cat nowhere <<E 2>/dev/null; true\nfalse\nE":                 "cat nowhere <<E 2>/dev/null 1",
		"false || true; true":                                         "",
		"false; (exit 3); true":                                       "(exit 3) 3", // nobody knows how the first one ended
		"true && (exit 3); true":                                      "",
		"! true; ! false; true":                                       "",
		"[ -e nowhere ] && echo no; [[ a = b ]] && ls":                "",
		"if false; then :; fi; true":                                  "",
		"while false; do :; done; true":                               "",
		"f() { false; true; }; f; true":                               "",
		"echo a; (false; true); echo $(false) b":                      "",
		"sleep 0 & wait $!; true":                                     "",
		"yes | head -1; true":                                         "",
		"set -x; false; true":                                         "",
		"trap 'true' ERR; false; true":                                "",
		"false; kill -9 $$":                                           "false 1",
		"for f in a b; do ls no$f 2>&1; done; true":                   "ls no$f 2>&1 2",
		"for f in a; do ls $f 2>&1; done; for f in a; do true; done":  "", // which of them?
		"if true; then false; fi; echo | cat":                         "false 1",
		"f() { false; true; }; f; false; true":                        "false 1",
		"i=0; while [ $i -lt 400 ]; do i=$((i+1)); false; done; true": "", // too many are told of
		"for i in 1 2 3; do [ $i = 2 ] && break; false; done; true":   "false 1",
		"echo a | while read l; do false; done; true":                 "while read l; do false; done 1",
	} {
		r := run(t, s, line)
		var got []string
		for _, f := range r.Failed {
			got = append(got, f.Command+" "+strconv.Itoa(f.Exit))
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

// SPEC 20.2: a line does the same whether bash tells of it or not.
func TestTellingChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Root: t.TempDir()})
	if s.POSIX() {
		t.Skip("this machine has no bash")
	}
	parts := []string{
		"echo $?", "echo $_", "echo ${PIPESTATUS[@]}", "echo $LINENO", "echo $BASH_COMMAND", "true", "false", "mkdir -p a/b", "cd $_", "ls nowhere 2>&1", "(exit 3)", "false | true",
		"{ false; echo in; }", "! true", "x=$(false)", "y=$(echo a; exit 2)", "set -e", "set -u", "set -o pipefail", "set -- 1 2", "echo $# $*", "echo $- | tr -d s", "exit 4", "[[ a = b ]]",
		"((0))", "let z=0", "export Q=1", "declare -p Q 2>&1", "sleep 0 & wait", "eval 'false; true'", "if false; then :; else echo e; fi", "for i in 1 2; do false; done", "f() { return 5; }", "f 2>/dev/null",
		"trap 'echo bye' EXIT", "trap -p", "cat <<E\nx $? $_\nE", "printf a", "read v < /dev/null", "shift", "test -e a", "caller", "nosuch 2>/dev/null", "IFS=,", "echo $SHLVL $BASH_SUBSHELL",
		"for i in $(seq 3); do [ $i = 2 ] && continue; echo $_ $?; done", "while read l; do echo $l; done < /etc/hostname", "i=0; until ((i++ > 2)); do false; done", "jobs -p", "type -t printf", "command false", "builtin cd .", "{ time -p true; } 2>/dev/null", "{ echo a; false; } | cat", "echo a | while read l; do echo $l; done", "source /dev/null", "umask",
	}
	rng := rand.New(rand.NewPCG(27, 9))
	for range 400 {
		line := parts[rng.IntN(len(parts))]
		for range rng.IntN(5) {
			line += []string{"; ", "\n", " && ", " || "}[rng.IntN(4)] + parts[rng.IntN(len(parts))]
		}
		// With unset bash tells nothing.
		plain, told := run(t, s, "unset -f g; true; "+line), run(t, s, "true; true; "+line)
		if plain.Exit == nil || told.Exit == nil || *plain.Exit != *told.Exit || plain.Output != told.Output {
			t.Fatalf("%q: %v %q, told of %v %q", line, plain.Exit, plain.Output, told.Exit, told.Output)
		}
	}
}

// SPEC 20.2: of every pipe the exit codes of all commands are told, with their names where it
// is certain which pipe it was; and no line means anything else by that.
func TestPipeTold(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{Root: t.TempDir()})
	if s.POSIX() {
		t.Skip("this machine has no bash: sh does not know the exit codes of a pipe")
	}
	for line, want := range map[string]struct {
		exit  int
		codes []int
		names []string
		out   string
	}{
		"(exit 2) | tail -20":                    {0, []int{2, 0}, nil, ""},
		"ls nowhere 2>&1 | grep -c zzz | cat":    {0, []int{2, 1, 0}, []string{"ls nowhere 2>&1", "grep -c zzz", "cat"}, "0\n"},
		"cd . && X=1 /bin/false 2>&1 | tail -20": {0, []int{1, 0}, []string{"X=1 /bin/false 2>&1", "tail -20"}, ""},
		"true | cat; false | tail":               {0, []int{1, 0}, []string{"false", "tail"}, ""},
		"false | tail || echo no":                {0, []int{1, 0}, []string{"false", "tail"}, ""},
		"for i in 1 2; do false | cat; done":     {0, []int{1, 0}, []string{"false", "cat"}, ""},
		"set -o pipefail; false | cat":           {1, []int{1, 0}, []string{"false", "cat"}, ""},
		"set -e; false | cat; exit 4":            {4, nil, nil, ""},
		"false | cat; echo done":                 {0, nil, nil, "done\n"},
		"echo $(false | cat) done":               {0, nil, nil, "done\n"},
		"f() { echo a | cat; }; f":               {0, nil, nil, "a\n"},
		"trap 'echo mine' EXIT; false | cat":     {0, nil, nil, "mine\n"},
		"exec 3>&1; false | cat >&3":             {0, nil, nil, ""},
		"{ echo a >&3 | cat; } 3>&1":             {0, nil, nil, "a\n"},
		"echo '|' three 3":                       {0, nil, nil, "| three 3\n"},
		"false | cat\necho $LINENO | tail -1":    {0, []int{0, 0}, []string{"echo $LINENO", "tail -1"}, "2\n"},
	} {
		r := run(t, s, line)
		if r.Exit == nil || *r.Exit != want.exit || !slices.Equal(r.Pipe.Codes, want.codes) || !slices.Equal(r.Pipe.Names, want.names) || r.Output != want.out || len(r.Checks) > 0 {
			t.Errorf("%q: %+v", line, r)
		}
	}
}

// A line whose exit code counts as a check's has run it, whatever stands before it. The
// check ends with 0 or 1 by turns, and notes that.
func TestExitCodeIsTheChecks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bin, ran := filepath.Join(dir, "bin"), filepath.Join(dir, "ran")
	must.Do(t, os.MkdirAll(filepath.Join(dir, "a"), 0o755))
	must.Do(t, os.Mkdir(bin, 0o755))
	script := "#!/bin/bash\ncode=$((RANDOM % 2))\necho $code >> " + ran + "\nexit $code\n"
	must.WriteMode(t, filepath.Join(bin, "go"), script, 0o755)
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
	for range 2000 {
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
		if !strings.Contains(text, "go ") {
			continue
		}
		_ = os.Remove(ran)
		r := run(t, s, text)
		notes, _ := os.ReadFile(ran)
		codes := strings.Fields(string(notes))
		if r.Checks == nil && command.IsCheck(text) && r.Exit != nil && *r.Exit == 0 {
			r.Checks = []tool.Ended{{Command: text}}
		}
		for _, c := range r.Checks {
			if strings.Contains(c.Command, "go test") && strings.HasSuffix(c.Command, "./...") {
				counted++
			}
		}
		if told += len(r.Failed); len(r.Checks) == 0 {
			continue
		}
		// Each check that is told of noted its code, in this order; others may have, too.
		for _, c := range r.Checks {
			i := slices.Index(codes, strconv.Itoa(c.Exit))
			if i < 0 {
				t.Errorf("%q: %+v, the checks noted %q", text, r.Checks, notes)
				break
			}
			codes = codes[i+1:]
		}
	}
	if told < 100 || counted < 100 {
		t.Errorf("only %d checks counted, %d failures told", counted, told)
	}
}
