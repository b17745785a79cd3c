package trust

import (
	"strings"
	"testing"
)

// SPEC 16.1: what a hook's command line runs is told from what it writes.
func TestNamed(t *testing.T) {
	for _, c := range []struct{ command, surely, maybe string }{
		{"./check.sh", "check.sh", ""},
		{`"$CLAUDE_PROJECT_DIR"/.claude/hooks/style.py --fast`, ".claude/hooks/style.py", "--fast"},
		{"${CLAUDE_PROJECT_DIR}/a b", "a", "b"},
		{"bash hooks/check >> log.txt", "bash hooks/check", "log.txt"},
		{"cat >> commands.log", "cat", "commands.log"},
		{"touch ran", "touch", "ran"},
		{"jq -r .x | tee out && python3 s.py <in", "jq tee python3 s.py <in", "-r .x out"},
		{"make lint", "make GNUmakefile makefile Makefile", "lint"},
		{"npm run fmt", "npm package.json", "run fmt"},
		{"A=b.sh ./run", "run", "b.sh"},
		{"sh -c './in.sh; exit'", "sh -c in.sh exit", ""},
		{"if ./a.sh; then ./b.sh; fi", "if a.sh then b.sh fi", ""},
		{"env X=1 tools/x", "env X=1 tools/x", ""},
		{"cd sub && ../../out/of.sh /abs/x.sh", "cd", "sub"},
		{"grep -f rules.sh x", "grep", "-f rules.sh x"},
	} {
		surely, maybe := Named(c.command)
		if strings.Join(surely, " ") != c.surely || strings.Join(maybe, " ") != c.maybe {
			t.Errorf("%s: %q, %q", c.command, surely, maybe)
		}
	}
}
