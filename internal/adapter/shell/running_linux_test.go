package shell

import (
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 20.2, 4.11: a command that is stopped at its time limit is told what still ran,
// and whether that worked or waited.
func TestTimeoutNamesWhatRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command, process string
		busy                   bool
	}{
		{"waits", "sleep 1000", "sleep", false},
		{"behind a pipe", "sleep 1000 | cat", "sleep", false},
		{"below a shell", "sh -c 'sleep 1000; :'", "sleep", false},
		{"works", "while :; do :; done", "bash", true},
	} {
		s := newShell(t, Options{})
		r, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: c.command, Timeout: 300 * time.Millisecond})
		i := slices.IndexFunc(r.Running, func(p tool.Running) bool { return p.Name == c.process })
		if err != nil || !r.TimedOut || i < 0 || (r.Running[i].CPU > 0) != c.busy {
			t.Errorf("%s: %+v, %v", c.name, r.Running, err)
		}
		if c.name == "below a shell" && len(r.Running) != 1 {
			t.Errorf("%s: what waits for another is named: %+v", c.name, r.Running)
		}
	}
}
