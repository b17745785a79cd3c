package shell

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// ticks is how many units of CPU time /proc counts in a second: the same on all systems
// that Go runs on.
const ticks = 100

// observed is how long the work of processes is watched.
const observed = 200 * time.Millisecond

// stats returns what is known of processes that live, and which of them have children among
// them.
func stats(pids []int) (of map[int]entry, parents map[int]bool) {
	of, parents = map[int]entry{}, map[int]bool{}
	for _, pid := range pids {
		if p, ok := stat(pid); ok {
			of[pid], parents[p.parent] = p, true
		}
	}
	return of, parents
}

// stillRunning lists what a family still does: its processes that wait for no other of the
// family, or that work, with their share of a CPU.
func stillRunning(f family) []tool.Running {
	begin := time.Now()
	pids := members(f)
	before, _ := stats(pids)
	time.Sleep(observed)
	now, parents := stats(pids)
	took := time.Since(begin).Seconds()
	self, _ := os.Readlink("/proc/self/exe")
	var out []tool.Running
	for _, pid := range slices.Sorted(maps.Keys(now)) {
		p := now[pid]
		cpu := int(100 * float64(p.cpu-before[pid].cpu) / ticks / took)
		if p.runs { // it may have got no CPU meanwhile, on a busy machine
			cpu = max(cpu, 1)
		}
		exe, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		helps := exe == self && exe != "" // pawl's own, such as go's cache in the sandbox
		if !helps && (!parents[pid] || cpu > 0) {
			out = append(out, tool.Running{Name: p.name, CPU: cpu})
		}
	}
	return out
}

// workOf returns what the processes of a family have done.
func workOf(f family) work {
	w := work{known: true, pids: members(f)}
	of, _ := stats(w.pids)
	for _, p := range of {
		w.spent += time.Duration(p.cpu) * time.Second / ticks
		w.runs = w.runs || p.runs
	}
	return w
}

// waiting lists the processes of a family that wait for none of it: they have no children
// there, and no pipe is their input.
func waiting(f family) []int {
	pids := members(f)
	_, parents := stats(pids)
	return slices.DeleteFunc(pids, func(pid int) bool {
		input, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/0")
		return parents[pid] || err != nil || strings.HasPrefix(input, "pipe:")
	})
}

// endWaiting ends the processes that wait, and reports whether they did end: then the line
// goes on, so that the results of its other commands, and of a test runner's other tests,
// are not lost.
func (j *job) endWaiting() bool {
	pids := waiting(family{group: j.group, mark: j.mark})
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
	}
	for late := time.After(killGrace); slices.ContainsFunc(pids, alive); {
		select {
		case <-late:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return len(pids) > 0
}
