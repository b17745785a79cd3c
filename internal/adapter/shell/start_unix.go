//go:build unix && !linux

package shell

import (
	"errors"
	"os/exec"
	"syscall"
)

// begin starts a command.
func begin(cmd *exec.Cmd, _ mark) error {
	detach(cmd)
	return cmd.Start()
}

// alive reports whether a process exists, or for a negative number a group.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// brand does nothing: only Linux has a limit that serves as a mark.
func brand(int, mark) {}
