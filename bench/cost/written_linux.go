package main

import (
	"os/exec"
	"syscall"
)

// written returns how many bytes a process and those it waited for wrote to disk, by
// the kernel's count of blocks of 512 bytes.
func written(c *exec.Cmd) (int64, bool) {
	u, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return u.Oublock * 512, true
}
