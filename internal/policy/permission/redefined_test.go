package permission

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
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
