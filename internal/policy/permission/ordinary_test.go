package permission

import (
	"os"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/command"
)

// suite reads a table of testdata: "key | command" in each line.
func suite(t *testing.T, file string) (keys, lines []string) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
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

// SPEC 4.15: everyday commands are free where a person would expect it, at most
// one in twenty is not, and then the rule that the answer names allows it.
func TestOrdinary(t *testing.T) {
	keys, lines := suite(t, "ordinary.txt")
	if len(lines) < 244 {
		t.Errorf("only %d commands", len(lines))
	}
	for _, set := range []struct {
		key  string
		mode Mode
		all  string // keys that must be free in this mode
	}{{"plan", Plan, "read"}, {"accept-edits", AcceptEdits, "read work"}, {"auto", Auto, "read work auto"}} {
		n, held := 0, []string(nil)
		for i, line := range lines {
			if !strings.Contains(set.all, keys[i]) {
				continue
			}
			n++
			d := policy(t, set.mode, User, nil, nil, nil).Decide(bash(line))
			if d.Verdict == Allow {
				continue
			}
			held = append(held, line+" ("+d.Reason+")")
			allowedAsNamed(t, line, set.mode, d)
		}
		t.Logf("%s: %d of %d held back, %.1f %%", set.key, len(held), n, 100*float64(len(held))/float64(n))
		if len(held)*20 > n {
			t.Errorf("%s: %d of %d everyday commands held back:\n%s", set.key, len(held), n, strings.Join(held, "\n"))
		} else {
			t.Log(strings.Join(held, "\n"))
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
		cmds, err := command.Parse("pawl "+d.Flag, "/")
		if err != nil {
			t.Fatal(err)
		}
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
