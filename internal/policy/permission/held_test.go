package permission

import "testing"

// SPEC 4.15, 16.5: without a sandbox, what runs a program, writes, sends, or reads what its
// words do not name is not taken for reading, in whatever form it is written.
func TestHeld(t *testing.T) {
	keys, lines := suite(t, "held.txt")
	if len(lines) < 600 {
		t.Errorf("only %d commands", len(lines))
	}
	for i, line := range lines {
		for _, mode := range []Mode{Plan, AskMode, AcceptEdits, Auto} {
			if d := policy(t, mode, User, nil, nil, nil).Decide(bash(line)); d.Verdict == Allow && d.By == "read-only" {
				t.Errorf("%s in %s (%s): %s", line, mode, keys[i], d.Reason)
			}
		}
	}
}
