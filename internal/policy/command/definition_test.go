package command

import "testing"

// SPEC 13.3: the files that can define what a check runs.
func TestDefines(t *testing.T) {
	for name, want := range map[string]bool{"sub/Makefile": true, "package.json": true, "scripts/run": true, "t.sh": true, "rules.mk": true, "main.go": false, "README": false, "a/LICENSE": false, "data.json": false} {
		if Defines(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
}
