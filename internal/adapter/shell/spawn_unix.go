//go:build unix && !linux

package shell

import (
	"errors"
	"os/exec"
	"syscall"
)

// spawner starts commands.
type spawner struct{}

func (*spawner) start(cmd *exec.Cmd, _ mark) error {
	detach(cmd)
	return cmd.Start()
}

func (*spawner) stop() {}

// alive reports whether a process exists, or for a negative number a group.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// brand does nothing: only Linux has a limit that serves as a mark.
func brand(int, mark) {}
