//go:build amd64 || arm64

package sandbox

import (
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: a signal to pawl, such as those with which Go's runtime interrupts its
// threads, takes no descriptor from a command that opens a file.
func TestSignalledWhileItGives(t *testing.T) {
	over, spammers := make(chan struct{}), sync.WaitGroup{}
	defer spammers.Wait()
	defer close(over)
	spammers.Go(func() {
		for {
			tasks, _ := os.ReadDir("/proc/self/task")
			for _, e := range tasks {
				if tid, err := strconv.Atoi(e.Name()); err == nil {
					_ = unix.Tgkill(os.Getpid(), tid, unix.SIGURG)
				}
			}
			select {
			case <-over:
				return
			default:
			}
		}
	})
	for name, line := range map[string]string{
		"touch":     "seq 500 | xargs touch",
		"redirect":  `for i in $(seq 300); do echo $i > $i || exit 1; done; for i in $(seq 300); do read x < $i; [ "$x" = $i ] || exit 2; done`,
		"append":    `for i in $(seq 300); do echo $i >> f || exit 1; done; [ $(wc -l < f) = 300 ]`,
		"copy":      `seq 300 | xargs touch && mkdir d && cp [0-9]* d && [ $(ls d | wc -l) = 300 ]`,
		"directory": `for i in $(seq 30); do mkdir d$i && echo $i > d$i/f && rm -r d$i || exit 1; done`,
	} {
		t.Run(name, func(t *testing.T) {
			box := open(t, confine.Workspace, folder(t))
			cmd := exec.Command("bash", "-c", "set -o pipefail; "+line)
			cmd.Dir = box.policy.Root
			cmd.Stderr = os.Stderr
			child := must.Get(box.start(cmd, holding{}))(t)
			if err := child.Wait(); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		})
	}
}
