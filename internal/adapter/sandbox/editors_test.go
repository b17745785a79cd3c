//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: beside a program that may do anything, cp, sed and redirections of the line
// change files as the edit tools do, without a question. The other program does not, nor what
// it starts, nor a program that only has the name, or other code in it.
func TestEditorsAreNotAsked(t *testing.T) {
	for _, c := range []struct {
		line    string
		changed []string
		asked   int
	}{
		{"python3 -c 'print(1)'; cp a b; sed -i s/x/y/ a; printf z > c; (cp a d)", []string{"b", "c", "d"}, 0},
		{"python3 -c 'print(1)' | tee b; { cp a c; } && cp a d", []string{"b", "c", "d"}, 0},
		{"cp a b; python3 -c 'open(\"c\", \"w\")'; cp a d", []string{"b", "d"}, 1},
		{"python3 -c 'import subprocess; subprocess.run([\"cp\", \"a\", \"b\"])'", nil, 1},
		{"python3 -c 'import os; os.execvp(\"cp\", [\"cp\", \"a\", \"b\"])'", []string{"b"}, 0}, // which is cp, as the line names it
		{"bash x.sh", nil, 1},
		{"cp a $TMPDIR/a; cp $(python3 -c 'import sys; print(sys.executable)') $TMPDIR/cp; $TMPDIR/cp -c 'open(\"b\", \"w\")'", nil, 1},
		{"LD_PRELOAD=libm.so.6 cp a b", nil, 1},
		{"python3 -c 'print(1)'; (cp a b; cp a c); echo x | (cat > d; true)", []string{"b", "c", "d"}, 0},
		{"[ -n \"$BASH_ENV\" ] || BASH_ENV=x.sh python3 -c 'import os, subprocess; subprocess.run(open(\"/proc/%d/cmdline\" % os.getppid()).read().split(\"\\0\")[:-1])'; true", nil, 1},
		{"python3 -c 'print(1)'; find . -name a -exec cp {} b ';'; true", nil, 1}, // find starts it
		{"echo a | xargs -I{} cp {} b; true", nil, 1},
		{"sh -c 'cp a b; true'; true", nil, 1},
		{"python3 -c 'print(1)'; nice cp a b; for x in c d; do cp a $x; done", []string{"b", "c", "d"}, 0},
		{"exec python3 -c 'open(\"b\", \"w\")'", nil, 1},
		{"touch c; mv a b", nil, 1}, // not of this line
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			root := folder(t)
			must.Do(t, os.WriteFile(filepath.Join(root, "a"), []byte("x"), 0o600))
			must.Do(t, os.WriteFile(filepath.Join(root, "x.sh"), []byte("cp a b\n"), 0o600))
			p := answering(no)
			p.asks, p.editors = true, []string{"", "cp", "sed", "tee"}
			out, _ := heldRun(t, open(t, confine.Workspace, root), root, c.line, p)
			for _, name := range []string{"b", "c", "d"} {
				_, err := os.Stat(filepath.Join(root, name))
				want := false
				for _, x := range c.changed {
					want = want || x == name
				}
				if (err == nil) != want {
					t.Errorf("%s is there: %v\n%s", name, err == nil, out)
				}
			}
			if got := p.list(); len(got) != c.asked {
				t.Errorf("asked: %q\n%s", got, out)
			}
		})
	}
}

// SPEC 16.14: the yes to a protected file is one to its change, too; other files here are
// another question.
func TestProtectedIsOneQuestion(t *testing.T) {
	for _, c := range []struct {
		line  string
		asked []string
	}{
		{"echo k > AGENTS.md", []string{"write AGENTS.md"}},
		{"echo k > AGENTS.md; chmod 600 AGENTS.md; echo l >> AGENTS.md", []string{"write AGENTS.md"}},
		{"mkdir -p .vscode && echo 1 > .vscode/s.json", []string{"write .vscode"}},
		{"echo k > AGENTS.md; echo k > b; echo k > c", []string{"write AGENTS.md", "change b"}},
		{"echo k > b; echo k > AGENTS.md", []string{"change b", "write AGENTS.md"}},
	} {
		t.Run(c.line, func(t *testing.T) {
			t.Parallel()
			root := folder(t)
			p := answering(yes)
			p.asks = true
			out, child := heldRun(t, open(t, confine.Workspace, root), root, c.line, p)
			var want []string
			for _, a := range c.asked {
				act, name, _ := strings.Cut(a, " ")
				want = append(want, act+" "+filepath.Join(root, name))
			}
			if got := p.list(); !slices.Equal(got, want) || len(child.Refused()) > 0 {
				t.Errorf("asked: %q, refused: %v\n%s", got, child.Refused(), out)
			}
		})
	}
}
