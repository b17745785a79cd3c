//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// tryKernel confines a thread as a command's would be, but for the rules on
// files, and lets it end.
func tryKernel(listener bool) error {
	v := version()
	if v < minVersion {
		return tooOld(v)
	}
	p := confine.Policy{Level: confine.ReadOnly}
	if listener {
		p.Level = confine.Workspace
	}
	b := &Box{policy: p, filter: compiled(p, false), ruleset: -1}
	var err error
	if b.ruleset, err = ruleset(confine.Policy{}, v); err != nil {
		return fmt.Errorf("make the sandbox's rules: %w", err)
	}
	defer unix.Close(b.ruleset)
	done := make(chan error, 1)
	onThread(func() {
		sup, err := restrict(b, holding{})
		if sup != nil {
			sup.stop()
		}
		done <- err
	})
	return <-done
}

func tooOld(v int) error {
	if _, ok := confined(os.Getpid()); ok && v == 0 {
		return &Unsupported{"that files stay", "this pawl runs in a sandbox, inside which nothing can be confined further (or the kernel has no Landlock)"}
	}
	return &Unsupported{"that files outside cannot be read and written, and processes outside not signalled", fmt.Sprintf("this kernel has version %d of Landlock, %d is needed (0: none)", v, minVersion)}
}
