//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: what a command wrote it can run at once, also on a busy machine: pawl, which
// opened the file for it, has no descriptor of it any more, nor has a program that pawl starts
// meanwhile.
func TestWrittenRunsAtOnce(t *testing.T) {
	box := open(t, confine.Workspace, folder(t))
	ended, others := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(others)
		for {
			select {
			case <-ended:
				return
			default:
				_ = exec.Command("/bin/true").Run()
			}
		}
	}()
	var out bytes.Buffer
	cmd := exec.Command("bash", "-c", `
		for n in 1 2 3 4 5 6; do while :; do :; done & done
		for i in $(seq 40); do
			cp /bin/true made; ./made
			exec 3<> made; cat /bin/true > /dev/fd/3; exec 3>&-; ./made
			cat /bin/true > made; ./made
			rm made
		done
		kill $(jobs -p); wait 2> /dev/null`)
	cmd.Dir, cmd.Stdout, cmd.Stderr = box.policy.Root, &out, &out
	c := must.Get(box.start(cmd, holding{}))(t)
	_ = c.Wait()
	close(ended)
	<-others
	if out.Len() > 0 {
		t.Errorf("%.300s", out.String())
	}
}
