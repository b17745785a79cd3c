package permission

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// SPEC 16.4: what defines a check is not the person's any more after a command
// that changes it, also where git ignores the file and nobody watches it.
func TestRedefinedByCommands(t *testing.T) {
	for command, want := range map[string]bool{
		"echo 'test: ;true' > Makefile":            true,
		"cd sub && sed -i s/a/b/ Makefile && true": true,
		"printf x >> ./makefile":                   true,
		"cp /tmp/other Makefile":                   true,
		"mv evil.mk sub/Makefile":                  true,
		"rm -f Makefile":                           true,
		"tee Makefile < other":                     true,
		"cat Makefile":                             false,
		"make -f Makefile test":                    false,
		"git add Makefile":                         false,
		"grep test Makefile > out.txt":             false,
		"":                                         false,
	} {
		p := New(Config{})
		p.Apply(event.Event{Body: event.CallDone{Tool: "bash", Command: command}})
		if got := p.Redefined("Makefile"); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

// SPEC 4.15, 16.5: the ways in which unittest finds a project's tests are
// checks; what leads out of the workspace or is code is none.
func TestUnittestIsACheck(t *testing.T) {
	for command, want := range map[string]bool{
		"": true, "discover": true, "discover -s tests": true, "discover -s tests -p '*_test.py'": true, "discover -p '*_test.py'": true,
		"discover -s /tmp": false, "discover -s a/../..": false, "discover -t /": false, "discover -s": false, "evil.module": false,
		"discover -s \"$X\"": false, "discover -s -p x": false, "discover -p ../x": false,
	} {
		cmds, err := shellsyntax.Parse("python3 -m unittest "+command, "/w")
		if err != nil {
			t.Fatal(err)
		}
		if got := unittestCheck(cmds[0].Words[3:]); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}
