package permission

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// suite reads a table of testdata: "key | command" in each line.
func suite(t *testing.T, file string) (keys, lines []string) {
	t.Helper()
	raw := must.Get(os.ReadFile("testdata/" + file))(t)
	for row := range strings.SplitSeq(string(raw), "\n") {
		if row == "" || row[0] == '#' {
			continue
		}
		key, line, ok := strings.Cut(row, " | ")
		if !ok {
			t.Fatalf("%s: %q is no row", file, row)
		}
		keys = append(keys, strings.TrimSpace(key))
		lines = append(lines, strings.NewReplacer("⏎", "\n", "⇥", "\t").Replace(line))
	}
	return keys, lines
}

// SPEC 4.15, 16.14: in the sandbox everyday commands start unasked. Without it, the rule that
// the answer names allows them.
func TestOrdinary(t *testing.T) {
	_, lines := suite(t, "ordinary.txt")
	if len(lines) < 244 {
		t.Errorf("only %d commands", len(lines))
	}
	for _, mode := range []Mode{Plan, AcceptEdits, Auto} {
		asked := 0
		for _, line := range lines {
			p := New(Config{Mode: mode, Root: root, Home: home, Sandbox: Sandbox{ReadOnly: true, Workspace: true, Holds: true}})
			if d := p.Decide(bash(line)); d.Verdict != Allow {
				asked++
				t.Logf("%s in %s: %s", line, mode, d.Reason)
			}
			if d := policy(t, mode, User, nil, nil, nil).Decide(bash(line)); d.Verdict == Ask && d.Flag != "" {
				allowedAsNamed(t, line, mode, d)
			}
		}
		if asked*50 > len(lines) {
			t.Errorf("%s: %d of %d everyday commands do not start", mode, asked, len(lines))
		}
	}
}

// allowedAsNamed: what the answer names allows it.
func allowedAsNamed(t *testing.T, line string, mode Mode, d Decision) {
	t.Helper()
	if d.Flag == "" {
		t.Errorf("%s in %s: no flag is named (%s)", line, mode, d.Reason)
		return
	}
	var rules []string
	if m, ok := strings.CutPrefix(d.Flag, "--permission-mode "); ok {
		m, rest, _ := strings.Cut(m, " ")
		mode, d.Flag = Mode(m), rest
	}
	if d.Flag != "" {
		// The flag as a shell would read it.
		cmds := must.Get(command.Parse("pawl "+d.Flag, "/"))(t)
		for i, w := range cmds[0].Words {
			if w.Text == "--allow" {
				rules = append(rules, cmds[0].Words[i+1].Text)
			}
		}
	}
	if again := policy(t, mode, Flag, rules, nil, nil).Decide(bash(line)); again.Verdict != Allow {
		t.Errorf("%s in %s with %s: %s", line, mode, d.Flag, again.Reason)
	}
}
