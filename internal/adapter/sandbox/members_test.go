//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: nothing of a command runs on, whichever way it went: by the kernel's
// word for all of it, or one by one where that is not proven.
func TestNothingRunsOnEitherWay(t *testing.T) {
	// It ends when all four have said their number.
	const leaves = `{ (trap '' TERM HUP; exec sleep 100) & echo $!
setsid sh -c 'echo $$; trap "" TERM; while :; do sleep 100; done' &
sh -c 'sleep 100 & echo $!'
sh -c 'echo $$; kill -STOP $$' &
} | head -n 4`
	for _, level := range []confine.Level{confine.ReadOnly, confine.Workspace} {
		box := must.Get(Open(confine.New(level, confine.Facts{Root: real(t.TempDir())})))(t)
		t.Cleanup(func() { _ = box.Close() })
		for _, oneByOne := range []bool{false, true} {
			var out strings.Builder
			cmd := exec.Command("sh", "-c", leaves)
			cmd.Stdout = &out
			c := must.Get(box.start(cmd, holding{}))(t)
			if oneByOne {
				scope.proven.Store(false) // the next start proves it again
			}
			must.Do(t, c.Wait())
			pids := strings.Fields(out.String())
			if len(pids) != 4 {
				t.Errorf("%s: it left %v", level, pids)
			}
			for _, p := range pids {
				pid := must.Get(strconv.Atoi(p))(t)
				// The filter is gone as a process begins to end: it runs no
				// code any more, and is seen for a moment.
				for began := time.Now(); ; runtime.Gosched() {
					if _, ok := confined(pid); !ok {
						break
					}
					if time.Since(began) > time.Minute {
						t.Errorf("%s, one by one %v: %s runs on", level, oneByOne, p)
						break
					}
				}
			}
		}
	}
}
