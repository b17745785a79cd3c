//go:build !linux

package shell

import "github.com/pawl-agent/pawl/internal/core/tool"

// stillRunning knows nothing of processes here.
func stillRunning(family) []tool.Running { return nil }

// workOf knows nothing of them either.
func workOf(family) work { return work{} }

// endWaiting ends none.
func (*job) endWaiting() bool { return false }
