package shell

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Started reports whether a process descends from this pawl. A process that lost its
// parents is not recognised here. An error means that the answer is not known.
func Started(pid int) (bool, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return false, err
	}
	parents := map[int]int{}
	for i := range all {
		parents[int(all[i].Proc.P_pid)] = int(all[i].Eproc.Ppid)
	}
	self := os.Getpid()
	for p := pid; p > 1; {
		if p == self {
			return true, nil
		}
		parent, ok := parents[p]
		if !ok {
			return false, fmt.Errorf("process %d is gone", p)
		}
		p = parent
	}
	return false, nil
}
