package permission

import "testing"

// SPEC 4.15, 16.5: what runs a program, writes, sends, or reads what its words
// do not name is not taken for reading, in whatever form it is written.
func TestHeld(t *testing.T) {
	keys, lines := suite(t, "held.txt")
	if len(lines) < 600 {
		t.Errorf("only %d commands", len(lines))
	}
	for i, line := range lines {
		if keys[i][0] == 'a' || keys[i][1] == 'a' {
			t.Errorf("%s: the table itself lets it run", line)
		}
		got := ""
		for _, mode := range []Mode{Plan, Ask4All, AcceptEdits, Auto} {
			d := policy(t, mode, User, nil, nil, nil).Decide(bash(line))
			if d.By == "refusal" {
				got += "R"
			} else {
				got += string("d?a"[d.Verdict])
			}
		}
		if got != keys[i] {
			t.Errorf("%s: got %s, want %s", line, got, keys[i])
		}
	}
}
