package swarmrun

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// SPEC 14.2: the checks of a tree have one confinement and one supervisor, and end at the
// first that fails; what one leaves running is gone before the next begins.
func TestChecksOfATree(t *testing.T) {
	home := t.TempDir()
	e := &setup.Environment{Env: func(k string) string { return map[string]string{"HOME": home}[k] }, Dir: home, Now: time.Now, Err: io.Discard}
	e.Prepare()
	w := &worker{Environment: e, opt: setup.Options{Sandbox: "off"}, swarm: "s"}
	ks := w.check(t.Context(), t.TempDir(),
		"echo ${PAWL_JOB%%.*}; sleep 1000 & echo $! > pid",
		"echo ${PAWL_JOB%%.*}; ! kill -0 $(cat pid) 2>/dev/null || grep -q zombie /proc/$(cat pid)/status", "false", "echo never")
	if len(ks) != 3 || !ks[0].Passed() || !ks[1].Passed() || ks[2].Passed() {
		t.Fatalf("%+v", ks)
	}
	if first, _, _ := strings.Cut(ks[1].Output, "\n"); strings.TrimSpace(ks[0].Output) != first || first == "" {
		t.Errorf("%q and %q are of two supervisors", ks[0].Output, ks[1].Output)
	}
}
