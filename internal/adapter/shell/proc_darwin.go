package shell

import (
	"os"

	"golang.org/x/sys/unix"
)

const zombie = 5 // SZOMB of sys/proc.h

// members lists the living processes of a family: those in the group and all their
// descendants. The environments of other processes cannot be read here.
func members(f family) []int {
	if f.group <= 0 {
		return nil
	}
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		if groupAlive(f.group) {
			return []int{-f.group}
		}
		return nil
	}
	in := map[int32]bool{}
	for grown := true; grown; {
		grown = false
		for i := range all {
			p := &all[i]
			pid := p.Proc.P_pid
			if !in[pid] && int(pid) != os.Getpid() && (int(p.Eproc.Pgid) == f.group || in[p.Eproc.Ppid]) {
				in[pid], grown = true, true
			}
		}
	}
	var out []int
	for i := range all {
		if in[all[i].Proc.P_pid] && all[i].Proc.P_stat != zombie {
			out = append(out, int(all[i].Proc.P_pid))
		}
	}
	return out
}
